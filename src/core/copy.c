/* copy.c: filling, copying and converting.
 *
 * Source and target of a copy may share a storage. If their elements might lie in the
 * same bytes, the source is copied aside first. */
#include "core/kernels.h"
#include <string.h>

tarn_status tarn_fill(tarn_context *ctx, tarn_tensor *t, double value)
{
    /* An element that repeats along a dimension needs to be written only once. */
    tarn_tensor once = *t;
    for (int d = 0; d < once.rank; d++)
        if (once.stride[d] == 0 && once.shape[d] > 1) once.shape[d] = 1;
    struct tarn_walk walk = tarn_walk_over(once.rank, once.shape);
    tarn_walk_add(&walk, &once);
    tarn_walk_add_number(&walk, TARN_FLOAT64, &value);
    return tarn_walk_run(ctx, "fill", &walk, tarn_kernels_f64.to[t->dtype]);
}

/* The bytes between the lowest and the highest element of t. */
static void extent_in_memory(const tarn_tensor *t, uintptr_t *low, uintptr_t *high)
{
    ptrdiff_t below = 0, above = 0;
    for (int d = 0; d < t->rank; d++) {
        ptrdiff_t reach = (ptrdiff_t)(t->shape[d] - 1) * t->stride[d];
        below += reach < 0 ? reach : 0;
        above += reach > 0 ? reach : 0;
    }
    *low = (uintptr_t)tarn_at(t, below);
    *high = (uintptr_t)tarn_at(t, above) + tarn_dtype_size(t->dtype);
}

static bool may_overlap(const tarn_tensor *a, const tarn_tensor *b)
{
    if (a->storage != b->storage) return false;
    if (tarn_tensor_numel(a) == 0 || tarn_tensor_numel(b) == 0) return false;
    uintptr_t low_a = 0, high_a = 0, low_b = 0, high_b = 0;
    extent_in_memory(a, &low_a, &high_a);
    extent_in_memory(b, &low_b, &high_b);
    return low_a < high_b && low_b < high_a;
}

static bool repeats(const tarn_tensor *t)
{
    for (int d = 0; d < t->rank; d++)
        if (t->stride[d] == 0 && t->shape[d] > 1) return true;
    return false;
}

static tarn_status copy_apart(tarn_context *ctx, tarn_tensor *dst,
                              const tarn_tensor *src)
{
    struct tarn_walk walk = tarn_walk_over(dst->rank, dst->shape);
    tarn_walk_add(&walk, dst);
    tarn_walk_add(&walk, src);
    walk.serial = repeats(dst);
    return tarn_walk_run(ctx, "copy", &walk,
                         tarn_kernels_of(src->dtype)->to[dst->dtype]);
}

static tarn_status copy_through(tarn_context *ctx, tarn_tensor *dst,
                                const tarn_tensor *src)
{
    tarn_tensor *aside = NULL;
    tarn_status status = tarn_clone(ctx, src, src->dtype, &aside);
    if (status != TARN_OK) return status;
    status = copy_apart(ctx, dst, aside);
    tarn_tensor_free(aside);
    return status;
}

tarn_status tarn_copy(tarn_context *ctx, tarn_tensor *dst, const tarn_tensor *src)
{
    int rank = 0;
    size_t shape[TARN_MAX_RANK];
    tarn_status status = tarn_broadcast(ctx, "copy", dst->rank, dst->shape, src->rank,
                                        src->shape, &rank, shape);
    if (status != TARN_OK) return status;
    if (rank != dst->rank ||
        memcmp(shape, dst->shape, (size_t)rank * sizeof *shape) != 0)
        return tarn_fail(ctx, TARN_ESHAPE,
                         "copy: source is %s, expected %s or what "
                         "broadcasts to it",
                         tarn_shape_text(src).text, tarn_shape_text(dst).text);
    return may_overlap(dst, src) ? copy_through(ctx, dst, src)
                                 : copy_apart(ctx, dst, src);
}

tarn_status tarn_clone(tarn_context *ctx, const tarn_tensor *t, tarn_dtype dtype,
                       tarn_tensor **out)
{
    tarn_tensor *copy = NULL;
    tarn_status status =
        tarn_tensor_new_on(ctx, tarn_device_of(t), dtype, t->rank, t->shape, &copy);
    if (status == TARN_OK) status = copy_apart(ctx, copy, t);
    return tarn_deliver(status, copy, out);
}

tarn_status tarn_as(tarn_context *ctx, const tarn_tensor *t, tarn_dtype dtype,
                    tarn_tensor **out)
{
    if (t->dtype == dtype && tarn_tensor_is_contiguous(t))
        return tarn_view_new(ctx, t, out);
    return tarn_clone(ctx, t, dtype, out);
}

tarn_status tarn_contiguous(tarn_context *ctx, const tarn_tensor *t, tarn_tensor **out)
{
    return tarn_as(ctx, t, t->dtype, out);
}
