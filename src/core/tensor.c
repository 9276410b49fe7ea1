/* tensor.c: tensors over shared storage: making, looking, broadcasting.
 *
 * - A storage is one block of memory with its count of references in front. It goes
 *   with the last tensor that looks at it.
 * - Sizes are checked where a shape comes in (tarn_shape_count); after that no product
 *   of extents, strides and indices can overflow, and the code below does not ask
 *   again. */
#include "core/tensor.h"
#include <stdio.h>
#include <string.h>

/* ---- Types and shapes ------------------------------------------------------------ */

size_t tarn_dtype_size(tarn_dtype dtype)
{
    return dtype == TARN_FLOAT32 ? sizeof(float) : sizeof(double);
}

const char *tarn_dtype_name(tarn_dtype dtype)
{
    return dtype == TARN_FLOAT32 ? "float32" : "float64";
}

tarn_dtype tarn_promote(tarn_dtype a, tarn_dtype b)
{
    return a == TARN_FLOAT32 && b == TARN_FLOAT32 ? TARN_FLOAT32 : TARN_FLOAT64;
}

struct tarn_text tarn_extents_text(int rank, const size_t *shape)
{
    struct tarn_text text = {"["};
    size_t used = 1;
    for (int d = 0; d < rank && d < TARN_MAX_RANK; d++)
        used += (size_t)snprintf(text.text + used, sizeof text.text - used, "%s%zu",
                                 d > 0 ? ", " : "", shape[d]);
    snprintf(text.text + used, sizeof text.text - used, "]");
    return text;
}

struct tarn_text tarn_shape_text(const tarn_tensor *t)
{
    return tarn_extents_text(t->rank, t->shape);
}

tarn_status tarn_shape_count(tarn_context *ctx, const char *function, int rank,
                             const size_t *shape, size_t *count)
{
    if (rank < 0 || rank > TARN_MAX_RANK)
        return tarn_fail(ctx, TARN_EINVAL, "%s: rank is %d, expected 0 to %d", function,
                         rank, TARN_MAX_RANK);
    size_t span = 1;
    bool empty = false;
    for (int d = 0; d < rank; d++) {
        empty = empty || shape[d] == 0;
        if (!tarn_product(span, shape[d] > 0 ? shape[d] : 1, &span) ||
            span > PTRDIFF_MAX)
            return tarn_fail(ctx, TARN_ENOMEM,
                             "%s: shape is %s, too many elements to count", function,
                             tarn_extents_text(rank, shape).text);
    }
    *count = empty ? 0 : span;
    return TARN_OK;
}

tarn_status tarn_check_dim(tarn_context *ctx, const char *function,
                           const tarn_tensor *t, int dim)
{
    if (dim >= 0 && dim < t->rank) return TARN_OK;
    return tarn_fail(ctx, TARN_EINVAL,
                     "%s: dimension is %d (counted from 0), but the tensor %s has %d",
                     function, dim, tarn_shape_text(t).text, t->rank);
}

void tarn_row_major(int rank, const size_t *shape, ptrdiff_t *stride)
{
    ptrdiff_t span = 1;
    for (int d = rank - 1; d >= 0; d--) {
        stride[d] = span;
        span *= (ptrdiff_t)(shape[d] > 0 ? shape[d] : 1);
    }
}

/* ---- Making and ending ----------------------------------------------------------- */

/* A header, and the elements behind it or in the device's memory. */
static struct tarn_storage *storage_of(tarn_context *ctx,
                                       const struct tarn_device *device, size_t bytes)
{
    struct tarn_storage *storage =
        tarn_alloc(ctx, 1, sizeof *storage + (device ? 0 : bytes));
    if (storage == NULL) return NULL;
    atomic_init(&storage->references, 1);
    storage->device = device;
    storage->remote = NULL;
    storage->bytes = bytes;
    storage->ctx = ctx;
    if (device) storage->remote = tarn_device_alloc(ctx, device, bytes);
    if (!device || storage->remote) return storage;
    tarn_release(storage);
    return NULL;
}

static struct tarn_storage *storage_new(tarn_context *ctx,
                                        const struct tarn_device *device, size_t count,
                                        tarn_dtype dtype)
{
    size_t bytes = 0;
    if (!tarn_product(count, tarn_dtype_size(dtype), &bytes) ||
        bytes > (size_t)PTRDIFF_MAX) {
        tarn_fail(ctx, TARN_ENOMEM,
                  "out of memory: %zu elements of %s are more than any memory", count,
                  tarn_dtype_name(dtype));
        return NULL;
    }
    return storage_of(ctx, device, bytes);
}

static void storage_leave(struct tarn_storage *storage)
{
    if (atomic_fetch_sub(&storage->references, 1) != 1) return;
    if (storage->device)
        tarn_device_release(storage->ctx, storage->device, storage->remote,
                            storage->bytes);
    tarn_release(storage);
}

tarn_status tarn_tensor_new_on(tarn_context *ctx, const struct tarn_device *device,
                               tarn_dtype dtype, int rank, const size_t *shape,
                               tarn_tensor **out)
{
    size_t count = 0;
    tarn_status status = tarn_shape_count(ctx, "tensor", rank, shape, &count);
    if (status != TARN_OK) return status;

    tarn_tensor *t = tarn_alloc(ctx, 1, sizeof *t);
    if (t == NULL) return TARN_ENOMEM;
    *t = (tarn_tensor){.dtype = dtype, .rank = rank};
    for (int d = 0; d < rank; d++) t->shape[d] = shape[d];
    tarn_row_major(rank, shape, t->stride);
    t->storage = storage_new(ctx, device, count, dtype);
    if (t->storage == NULL) {
        tarn_release(t);
        return TARN_ENOMEM;
    }
    t->data = device ? t->storage->remote : t->storage->memory;
    *out = t;
    return TARN_OK;
}

tarn_status tarn_tensor_new(tarn_context *ctx, tarn_dtype dtype, int rank,
                            const size_t *shape, tarn_tensor **out)
{
    return tarn_tensor_new_on(ctx, NULL, dtype, rank, shape, out);
}

tarn_status tarn_view_new(tarn_context *ctx, const tarn_tensor *t, tarn_tensor **out)
{
    tarn_tensor *view = tarn_alloc(ctx, 1, sizeof *view);
    if (view == NULL) return TARN_ENOMEM;
    *view = *t;
    atomic_fetch_add(&view->storage->references, 1);
    *out = view;
    return TARN_OK;
}

tarn_tensor tarn_hold(const tarn_tensor *t)
{
    atomic_fetch_add(&t->storage->references, 1);
    return *t;
}

void tarn_let_go(const tarn_tensor *held)
{
    storage_leave(held->storage);
}

void tarn_tensor_free(tarn_tensor *t)
{
    if (t == NULL) return;
    storage_leave(t->storage);
    tarn_release(t);
}

tarn_status tarn_deliver(tarn_status status, tarn_tensor *fresh, tarn_tensor **out)
{
    if (status == TARN_OK)
        *out = fresh;
    else
        tarn_tensor_free(fresh);
    return status;
}

/* ---- Looking --------------------------------------------------------------------- */

tarn_dtype tarn_tensor_dtype(const tarn_tensor *t)
{
    return t->dtype;
}

int tarn_tensor_rank(const tarn_tensor *t)
{
    return t->rank;
}

const size_t *tarn_tensor_shape(const tarn_tensor *t)
{
    return t->shape;
}

const ptrdiff_t *tarn_tensor_strides(const tarn_tensor *t)
{
    return t->stride;
}

size_t tarn_tensor_numel(const tarn_tensor *t)
{
    size_t count = 1;
    for (int d = 0; d < t->rank; d++) count *= t->shape[d];
    return count;
}

const struct tarn_device *tarn_device_of(const tarn_tensor *t)
{
    return t->storage->device;
}

const char *tarn_tensor_device(const tarn_tensor *t)
{
    return tarn_device_name(t->storage->device);
}

void *tarn_tensor_data(const tarn_tensor *t)
{
    return t->data;
}

bool tarn_tensor_is_contiguous(const tarn_tensor *t)
{
    /* The strides of an extent of 1 are never used; without elements none is. */
    ptrdiff_t stride[TARN_MAX_RANK];
    tarn_row_major(t->rank, t->shape, stride);
    if (tarn_tensor_numel(t) == 0) return true;
    for (int d = 0; d < t->rank; d++)
        if (t->shape[d] != 1 && t->stride[d] != stride[d]) return false;
    return true;
}

void *tarn_at(const tarn_tensor *t, ptrdiff_t offset)
{
    return (unsigned char *)t->data + offset * (ptrdiff_t)tarn_dtype_size(t->dtype);
}

/* The address of an element, or TARN_EINVAL. */
static tarn_status find_element(tarn_context *ctx, const char *function,
                                const tarn_tensor *t, const size_t *index,
                                void **address)
{
    ptrdiff_t offset = 0;
    for (int d = 0; d < t->rank; d++) {
        if (index[d] >= t->shape[d])
            return tarn_fail(ctx, TARN_EINVAL,
                             "%s: index is %s (counted from 0), outside the shape %s",
                             function, tarn_extents_text(t->rank, index).text,
                             tarn_shape_text(t).text);
        offset += (ptrdiff_t)index[d] * t->stride[d];
    }
    *address = tarn_at(t, offset);
    return TARN_OK;
}

/* One element on its way. */
union number {
    float f;
    double d;
};

tarn_status tarn_tensor_get(tarn_context *ctx, const tarn_tensor *t,
                            const size_t *index, double *value)
{
    void *address = NULL;
    tarn_status status = find_element(ctx, "get", t, index, &address);
    if (status != TARN_OK) return status;
    union number x;
    if (t->storage->device)
        status = t->storage->device->copy(ctx, &x, address, tarn_dtype_size(t->dtype),
                                          TARN_FROM_DEVICE);
    else
        memcpy(&x, address, tarn_dtype_size(t->dtype));
    if (status == TARN_OK) *value = t->dtype == TARN_FLOAT32 ? (double)x.f : x.d;
    return status;
}

tarn_status tarn_tensor_set(tarn_context *ctx, tarn_tensor *t, const size_t *index,
                            double value)
{
    void *address = NULL;
    tarn_status status = find_element(ctx, "set", t, index, &address);
    if (status != TARN_OK) return status;
    union number x;
    if (t->dtype == TARN_FLOAT32)
        x.f = (float)value;
    else
        x.d = value;
    if (t->storage->device)
        return t->storage->device->copy(ctx, address, &x, tarn_dtype_size(t->dtype),
                                        TARN_TO_DEVICE);
    memcpy(address, &x, tarn_dtype_size(t->dtype));
    return TARN_OK;
}

/* ---- Broadcasting ---------------------------------------------------------------- */

tarn_status tarn_broadcast(tarn_context *ctx, const char *function, int rank_a,
                           const size_t *shape_a, int rank_b, const size_t *shape_b,
                           int *rank, size_t *shape)
{
    int r = rank_a > rank_b ? rank_a : rank_b;
    size_t joint[TARN_MAX_RANK] = {0};
    for (int d = 0; d < r; d++) {
        size_t a = d < r - rank_a ? 1 : shape_a[d - (r - rank_a)];
        size_t b = d < r - rank_b ? 1 : shape_b[d - (r - rank_b)];
        if (a != b && a != 1 && b != 1)
            return tarn_fail(ctx, TARN_ESHAPE,
                             "%s: shapes %s and %s do not broadcast together", function,
                             tarn_extents_text(rank_a, shape_a).text,
                             tarn_extents_text(rank_b, shape_b).text);
        joint[d] = a == 1 ? b : a;
    }
    size_t count = 0;
    tarn_status status = tarn_shape_count(ctx, function, r, joint, &count);
    if (status != TARN_OK) return status;
    memcpy(shape, joint, (size_t)r * sizeof *shape);
    *rank = r;
    return TARN_OK;
}

void tarn_broadcast_strides(const tarn_tensor *t, int rank, const size_t *shape,
                            ptrdiff_t *stride)
{
    int missing = rank - t->rank;
    for (int d = 0; d < rank; d++) {
        bool repeats = d < missing || (t->shape[d - missing] == 1 && shape[d] != 1);
        stride[d] = repeats ? 0 : t->stride[d - missing];
    }
}
