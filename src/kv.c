/* kv.c: the counterpart of the cell for softmax, a cache that grows. Chapter 5.
 *
 * softmax has no finite feature map, so its past can't be summed up: every key and value
 * is kept, and every new token visits all of them. Rows are kept for each head with room
 * to spare, [B H, capacity, D] and [B H, capacity, M]; the room doubles when it is full. */
#include "cell.h"
#include "core/tensor.h"
#include <math.h>
#include <string.h>

struct tarn_kv {
    tarn_cell cell;
    int rank; /* of the sequences it reads: 2 to 4 */
    size_t B, H;
    size_t time, capacity;
    tarn_tensor *keys, *values;
};

tarn_status tarn_kv_new(tarn_context *ctx, const tarn_cell *cell, tarn_kv **out)
{
    if (cell->D == 0 || cell->M == 0)
        return tarn_fail(ctx, TARN_EINVAL,
                         "kv: D is %zu and M is %zu, expected 1 or more", cell->D,
                         cell->M);
    if (cell->B && !cell->H)
        return tarn_fail(ctx, TARN_EINVAL, "kv: B is %zu without H, expected H as well",
                         cell->B);
    tarn_kv *kv = tarn_alloc(ctx, 1, sizeof *kv);
    if (!kv) return TARN_ENOMEM;
    *kv = (tarn_kv){.cell = *cell,
                    .rank = 2 + (cell->H > 0) + (cell->B > 0),
                    .B = cell->B ? cell->B : 1,
                    .H = cell->H ? cell->H : 1};
    kv->cell.phi = NULL;
    kv->cell.eps = 0;
    *out = kv;
    return TARN_OK;
}

void tarn_kv_reset(tarn_kv *kv)
{
    tarn_tensor_free(kv->keys);
    tarn_tensor_free(kv->values);
    kv->keys = kv->values = NULL;
    kv->time = kv->capacity = 0;
}

void tarn_kv_free(tarn_kv *kv)
{
    if (!kv) return;
    tarn_kv_reset(kv);
    tarn_release(kv);
}

const tarn_cell *tarn_kv_cell(const tarn_kv *kv)
{
    return &kv->cell;
}
uint64_t tarn_kv_time(const tarn_kv *kv)
{
    return kv->time;
}

size_t tarn_kv_bytes(const tarn_kv *kv)
{
    return kv->B * kv->H * kv->time * (kv->cell.D + kv->cell.M) *
           tarn_dtype_size(kv->cell.dtype);
}

/* ---- Rows ------------------------------------------------------------------------------- */

/* Copies `rows` rows of each head from one array to another, whose heads stand from_rows
 * and to_rows rows apart. */
static void copy_rows(const tarn_kv *kv, size_t rows, size_t width, const void *from,
                      size_t from_rows, void *to, size_t to_rows)
{
    const size_t row = width * tarn_dtype_size(kv->cell.dtype);
    for (size_t h = 0; h < kv->B * kv->H && rows > 0; h++)
        memcpy((char *)to + h * to_rows * row, (const char *)from + h * from_rows * row,
               rows * row);
}

/* A fresh array of `capacity` rows a head that begins with the rows of `old`. */
static tarn_status grown(tarn_context *ctx, const tarn_kv *kv, const tarn_tensor *old,
                         size_t width, size_t capacity, tarn_tensor **out)
{
    const size_t shape[3] = {kv->B * kv->H, capacity, width};
    tarn_status status = tarn_tensor_new(ctx, kv->cell.dtype, 3, shape, out);
    if (!status && old)
        copy_rows(kv, kv->time, width, tarn_tensor_data(old), kv->capacity,
                  tarn_tensor_data(*out), capacity);
    return status;
}

/* Makes room for n more tokens; the cache is as before if there is none. */
static tarn_status reserve(tarn_context *ctx, tarn_kv *kv, size_t n)
{
    size_t capacity = kv->capacity ? kv->capacity : 16;
    if (n > SIZE_MAX / 4 - kv->time)
        return tarn_fail(ctx, TARN_ENOMEM, "kv: %zu tokens more do not fit in memory",
                         n);
    while (capacity < kv->time + n) capacity *= 2;
    if (capacity == kv->capacity) return TARN_OK;
    tarn_tensor *keys = NULL, *values = NULL;
    tarn_status status = grown(ctx, kv, kv->keys, kv->cell.D, capacity, &keys);
    if (!status) status = grown(ctx, kv, kv->values, kv->cell.M, capacity, &values);
    if (status) {
        tarn_tensor_free(keys);
        return status;
    }
    tarn_tensor_free(kv->keys);
    tarn_tensor_free(kv->values);
    kv->keys = keys;
    kv->values = values;
    kv->capacity = capacity;
    return TARN_OK;
}

/* Writes the call's keys and values behind those of the cache, whose time stays. */
static void append(const tarn_kv *kv, const struct tarn_call *call)
{
    const size_t size = tarn_dtype_size(kv->cell.dtype);
    char *keys = tarn_tensor_data(kv->keys), *values = tarn_tensor_data(kv->values);
    copy_rows(kv, call->N, call->D, call->first.k, call->N,
              keys + kv->time * call->D * size, kv->capacity);
    copy_rows(kv, call->N, call->M, call->first.v, call->N,
              values + kv->time * call->M * size, kv->capacity);
}

tarn_status tarn_kv_clone(tarn_context *ctx, const tarn_kv *kv, tarn_kv **out)
{
    tarn_kv *copy = NULL;
    tarn_status status = tarn_kv_new(ctx, &kv->cell, &copy);
    if (!status && kv->keys)
        status = tarn_clone(ctx, kv->keys, kv->cell.dtype, &copy->keys);
    if (!status && kv->values)
        status = tarn_clone(ctx, kv->values, kv->cell.dtype, &copy->values);
    if (status) {
        tarn_kv_free(copy);
        return status;
    }
    copy->time = kv->time;
    copy->capacity = kv->capacity;
    *out = copy;
    return TARN_OK;
}

/* ---- Attention over the cache -------------------------------------------------------------- */

/* Points the call's head 0 at the cache: N more keys than before, the new queries last. */
static void attend_cache(const tarn_kv *kv, struct tarn_call *call)
{
    struct tarn_attn *a = &call->first;
    a->by = TARN_SOFTMAX;
    a->causal = true;
    a->eps = 0;
    a->scale = isnan(kv->cell.scale) ? 1 / sqrt((double)call->D) : kv->cell.scale;
    a->past = kv->time;
    a->k = tarn_tensor_data(kv->keys);
    a->v = tarn_tensor_data(kv->values);
    a->N = kv->time + call->N;
    call->key_rows = kv->capacity;
}

static tarn_status advance(tarn_context *ctx, const char *function, tarn_kv *kv,
                           const tarn_tensor *q, const tarn_tensor *k,
                           const tarn_tensor *v, bool token, tarn_tensor **out)
{
    const struct tarn_sequence sequence = {&kv->cell, kv->rank, kv->B, kv->H,
                                           "cpu",     q,        k,     v};
    struct tarn_call call;
    tarn_tensor *result = NULL;
    tarn_status status = tarn_cell_open(ctx, function, &sequence, token, &call);
    if (!status) status = reserve(ctx, kv, call.N);
    if (!status) status = tarn_call_output(&call, *out, &result);
    if (!status) {
        append(kv, &call);
        attend_cache(kv, &call);
        call.first.out = tarn_tensor_data(result);
        status = tarn_call_run(&call, call.ops->sim, false);
    }
    if (!status) kv->time += call.N;
    tarn_call_close(&call);
    if (status && !*out) tarn_tensor_free(result);
    if (!status) *out = result;
    return status;
}

tarn_status tarn_kv_step(tarn_context *ctx, tarn_kv *kv, const tarn_tensor *q,
                         const tarn_tensor *k, const tarn_tensor *v, tarn_tensor **out)
{
    return advance(ctx, "kv:step", kv, q, k, v, true, out);
}

tarn_status tarn_kv_run(tarn_context *ctx, tarn_kv *kv, const tarn_tensor *q,
                        const tarn_tensor *k, const tarn_tensor *v, tarn_tensor **out)
{
    return advance(ctx, "kv:run", kv, q, k, v, false, out);
}
