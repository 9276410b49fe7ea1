/* device.c: tensors between the host and a device. The contract is in device.h. */
#include "core/device.h"
#include "core/kernels.h"
#include <string.h>

const char *tarn_device_name(const struct tarn_device *device)
{
    return device ? device->name : "cpu";
}

tarn_status tarn_on_host(tarn_context *ctx, const char *function, const tarn_tensor *t)
{
    const struct tarn_device *device = t->storage->device;
    if (!device) return TARN_OK;
    return tarn_fail(ctx, TARN_EDEVICE,
                     "%s: the tensor is on %s, which can't do this; use t:to(\"cpu\")",
                     function, device->name);
}

/* ---- Memory ---------------------------------------------------------------------- */

static void *obtain(const tarn_context *ctx, const struct tarn_device *device,
                    size_t bytes)
{
    const size_t held = tarn_bytes(ctx) + ctx->outside;
    if (ctx->limit && (held > ctx->limit || bytes > ctx->limit - held)) return NULL;
    return device->alloc(bytes);
}

void *tarn_device_alloc(tarn_context *ctx, const struct tarn_device *device,
                        size_t bytes)
{
    void *memory = obtain(ctx, device, bytes);
    if (memory == NULL && ctx->collect != NULL) {
        ctx->collect(ctx->collect_data);
        memory = obtain(ctx, device, bytes);
    }
    if (memory == NULL) {
        tarn_fail(ctx, TARN_ENOMEM,
                  "out of memory on %s: %zu bytes asked for, %zu held", device->name,
                  bytes, tarn_bytes(ctx));
        return NULL;
    }
    const size_t held = atomic_fetch_add(&ctx->bytes, bytes) + bytes;
    if (held > ctx->most) ctx->most = held;
    return memory;
}

void tarn_device_release(tarn_context *ctx, const struct tarn_device *device,
                         void *memory, size_t bytes)
{
    if (memory == NULL) return;
    device->free(memory);
    atomic_fetch_sub(&ctx->bytes, bytes);
}

/* ---- Moving ---------------------------------------------------------------------- */

/* The bytes of contiguous `from` into contiguous `to`; at least one is on a device. */
static tarn_status move_bytes(tarn_context *ctx, tarn_tensor *to,
                              const tarn_tensor *from)
{
    const struct tarn_device *target = to->storage->device,
                             *source = from->storage->device;
    const size_t bytes = tarn_tensor_numel(from) * tarn_dtype_size(from->dtype);
    if (bytes == 0) return TARN_OK;
    if (!target)
        return source->copy(ctx, to->data, from->data, bytes, TARN_FROM_DEVICE);
    return target->copy(ctx, to->data, from->data, bytes, TARN_TO_DEVICE);
}

/* From one device to another the way goes through the host. */
tarn_status tarn_move(tarn_context *ctx, const tarn_tensor *t,
                      const struct tarn_device *device, tarn_tensor **out)
{
    const struct tarn_device *source = t->storage->device;
    if (source == device) return tarn_clone(ctx, t, t->dtype, out);
    tarn_tensor *rows = NULL, *fresh = NULL;
    tarn_status status = source && device ? tarn_move(ctx, t, NULL, &rows)
                                          : tarn_contiguous(ctx, t, &rows);
    if (!status)
        status = tarn_tensor_new_on(ctx, device, t->dtype, t->rank, t->shape, &fresh);
    if (!status) status = move_bytes(ctx, fresh, rows);
    tarn_tensor_free(rows);
    return tarn_deliver(status, fresh, out);
}

tarn_status tarn_host_rows(tarn_context *ctx, const tarn_tensor *t, tarn_tensor **out)
{
    return t->storage->device ? tarn_move(ctx, t, NULL, out)
                              : tarn_contiguous(ctx, t, out);
}

/* ---- A pass over elements ----------------------------------------------------------- */

/* Looks for a kernel among those of one type. */
static bool find_kernel(tarn_dtype dtype, tarn_kernel *kernel, struct tarn_pass *pass)
{
    const struct tarn_kernels *table = tarn_kernels_of(dtype);
    const struct {
        enum tarn_pass_kind kind;
        tarn_kernel *const *entry;
        int count;
    } rows[] = {{TARN_PASS_CONVERT, table->to, TARN_FLOAT64 + 1},
                {TARN_PASS_UNARY, table->unary, TARN_ELU + 1},
                {TARN_PASS_BINARY, table->binary, TARN_GE + 1},
                {TARN_PASS_WHERE, &table->where, 1}};
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++)
        for (int i = 0; i < rows[r].count; i++) {
            if (rows[r].entry[i] != kernel) continue;
            pass->kind = rows[r].kind, pass->op = i;
            pass->from = dtype;
            pass->to = pass->kind == TARN_PASS_CONVERT ? (tarn_dtype)i : dtype;
            return true;
        }
    return false;
}

static double number_at(const struct tarn_walk *walk, int operand)
{
    const void *number = walk->base[operand];
    return walk->size[operand] == sizeof(float) ? (double)*(const float *)number
                                                : *(const double *)number;
}

tarn_status tarn_device_pass(tarn_context *ctx, const char *function,
                             const struct tarn_walk *walk, tarn_kernel *kernel)
{
    struct tarn_pass pass = {.function = function,
                             .rank = walk->rank,
                             .operands = walk->operands,
                             .count = walk->count};
    if (!find_kernel(TARN_FLOAT32, kernel, &pass))
        find_kernel(TARN_FLOAT64, kernel, &pass);
    memcpy(pass.shape, walk->shape, sizeof pass.shape);
    memcpy(pass.stride, walk->stride, sizeof pass.stride);
    for (int i = 0; i < walk->operands; i++)
        if (walk->is_number[i])
            pass.number[i] = number_at(walk, i);
        else
            pass.base[i] = walk->base[i];
    return walk->device->pass(ctx, &pass);
}
