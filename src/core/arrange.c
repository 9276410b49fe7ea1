/* arrange.c: joining tensors, and picking positions. Both copy views onto views.
 *
 * The views are headers on the stack that borrow a storage for the time of one call:
 * unlike those of tarn_narrow they cost no allocation and can't fail. */
#include "core/tensor.h"

/* Positions start, .., start + length - 1 of a dimension. */
static tarn_tensor borrow(const tarn_tensor *t, int dim, size_t start, size_t length)
{
    tarn_tensor view = *t;
    view.shape[dim] = length;
    if (tarn_tensor_numel(&view) > 0)
        view.data = tarn_at(t, (ptrdiff_t)start * t->stride[dim]);
    return view;
}

/* ---- cat ------------------------------------------------------------------------- */

static bool fits(const tarn_tensor *a, const tarn_tensor *b, int dim)
{
    if (a->rank != b->rank) return false;
    for (int d = 0; d < a->rank; d++)
        if (d != dim && a->shape[d] != b->shape[d]) return false;
    return true;
}

/* The shape and type of the joined tensor. */
static tarn_status plan_cat(tarn_context *ctx, const tarn_tensor *const *parts,
                            size_t count, int dim, size_t *shape, tarn_dtype *dtype)
{
    size_t length = 0;
    *dtype = parts[0]->dtype;
    for (size_t i = 0; i < count; i++) {
        if (!fits(parts[0], parts[i], dim))
            return tarn_fail(ctx, TARN_ESHAPE,
                             "cat: a tensor is %s, expected %s like the first; only "
                             "the extent of the joined dimension may differ",
                             tarn_shape_text(parts[i]).text,
                             tarn_shape_text(parts[0]).text);
        if (__builtin_add_overflow(length, parts[i]->shape[dim], &length))
            return tarn_fail(ctx, TARN_ENOMEM, "cat: the lengths add up to too many");
        *dtype = tarn_promote(*dtype, parts[i]->dtype);
    }
    for (int d = 0; d < parts[0]->rank; d++) shape[d] = parts[0]->shape[d];
    shape[dim] = length;
    return TARN_OK;
}

tarn_status tarn_cat(tarn_context *ctx, const tarn_tensor *const *parts, size_t count,
                     int dim, tarn_tensor **out)
{
    if (count == 0)
        return tarn_fail(ctx, TARN_EINVAL, "cat: there are no tensors to join");
    tarn_status status = tarn_check_dim(ctx, "cat", parts[0], dim);
    if (status != TARN_OK) return status;
    size_t shape[TARN_MAX_RANK];
    tarn_dtype dtype = TARN_FLOAT32;
    status = plan_cat(ctx, parts, count, dim, shape, &dtype);
    if (status != TARN_OK) return status;

    tarn_tensor *fresh = NULL;
    status = tarn_tensor_new_on(ctx, tarn_device_of(parts[0]), dtype, parts[0]->rank,
                                shape, &fresh);
    for (size_t i = 0, start = 0; i < count && status == TARN_OK; i++) {
        tarn_tensor place = borrow(fresh, dim, start, parts[i]->shape[dim]);
        status = tarn_copy(ctx, &place, parts[i]);
        start += parts[i]->shape[dim];
    }
    return tarn_deliver(status, fresh, out);
}

/* ---- index ----------------------------------------------------------------------- */

static tarn_status check_positions(tarn_context *ctx, const tarn_tensor *t, int dim,
                                   const size_t *positions, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (positions[i] >= t->shape[dim])
            return tarn_fail(
                ctx, TARN_EINVAL,
                "index: position is %zu (counted from 0), outside dimension "
                "%d of %s",
                positions[i], dim, tarn_shape_text(t).text);
    return TARN_OK;
}

tarn_status tarn_index(tarn_context *ctx, const tarn_tensor *t, int dim,
                       const size_t *positions, size_t count, tarn_tensor **out)
{
    tarn_status status = tarn_check_dim(ctx, "index", t, dim);
    if (status == TARN_OK) status = check_positions(ctx, t, dim, positions, count);
    if (status != TARN_OK) return status;
    size_t shape[TARN_MAX_RANK];
    for (int d = 0; d < t->rank; d++) shape[d] = d == dim ? count : t->shape[d];

    tarn_tensor *fresh = NULL;
    status =
        tarn_tensor_new_on(ctx, tarn_device_of(t), t->dtype, t->rank, shape, &fresh);
    for (size_t i = 0; i < count && status == TARN_OK; i++) {
        tarn_tensor place = borrow(fresh, dim, i, 1);
        tarn_tensor picked = borrow(t, dim, positions[i], 1);
        status = tarn_copy(ctx, &place, &picked);
    }
    return tarn_deliver(status, fresh, out);
}
