/* view.c: other headers over the same storage: narrow, select, permute, reshape,
 * expand.
 *
 * A view is made by changing extents, strides and the first element of a copied
 * header; no element moves. Offsets are only taken where there is an element to point
 * at, so that a view without elements never points outside its storage. */
#include "core/tensor.h"
#include <string.h>

/* Moves the first element of a view by `position` steps of `stride`. */
static void shift(tarn_tensor *view, size_t position, ptrdiff_t stride)
{
    if (tarn_tensor_numel(view) > 0)
        view->data = tarn_at(view, (ptrdiff_t)position * stride);
}

/* ---- One dimension --------------------------------------------------------------- */

/* Whether start, start + step, ... has `length` positions below `extent`. */
static bool is_inside(size_t extent, size_t start, size_t length, ptrdiff_t step)
{
    if (length == 0) return start <= extent;
    if (start >= extent) return false;
    if (length == 1) return true;
    if (step == 0) return false;
    size_t room = step > 0 ? extent - 1 - start : start;
    size_t stride = step > 0 ? (size_t)step : (size_t)0 - (size_t)step;
    return length - 1 <= room / stride;
}

tarn_status tarn_narrow(tarn_context *ctx, const tarn_tensor *t, int dim, size_t start,
                        size_t length, ptrdiff_t step, tarn_tensor **out)
{
    tarn_status status = tarn_check_dim(ctx, "narrow", t, dim);
    if (status != TARN_OK) return status;
    if (!is_inside(t->shape[dim], start, length, step))
        return tarn_fail(
            ctx, TARN_EINVAL,
            "narrow: %zu positions from %zu (counted from 0) by steps of %td "
            "do not lie in dimension %d of %s",
            length, start, step, dim, tarn_shape_text(t).text);
    tarn_tensor *view = NULL;
    status = tarn_view_new(ctx, t, &view);
    if (status != TARN_OK) return status;
    view->shape[dim] = length;
    shift(view, start, t->stride[dim]);
    if (length > 1) view->stride[dim] *= step;
    *out = view;
    return TARN_OK;
}

tarn_status tarn_select(tarn_context *ctx, const tarn_tensor *t, int dim,
                        size_t position, tarn_tensor **out)
{
    tarn_status status = tarn_check_dim(ctx, "select", t, dim);
    if (status != TARN_OK) return status;
    if (position >= t->shape[dim])
        return tarn_fail(
            ctx, TARN_EINVAL,
            "select: position is %zu (counted from 0), outside dimension %d "
            "of %s",
            position, dim, tarn_shape_text(t).text);
    tarn_tensor *view = NULL;
    status = tarn_view_new(ctx, t, &view);
    if (status != TARN_OK) return status;
    view->rank--;
    for (int d = dim; d < view->rank; d++) {
        view->shape[d] = t->shape[d + 1];
        view->stride[d] = t->stride[d + 1];
    }
    shift(view, position, t->stride[dim]);
    *out = view;
    return TARN_OK;
}

/* ---- The order of dimensions ----------------------------------------------------- */

static bool is_permutation(const int *order, int rank)
{
    bool seen[TARN_MAX_RANK] = {false};
    for (int d = 0; d < rank; d++) {
        if (order[d] < 0 || order[d] >= rank || seen[order[d]]) return false;
        seen[order[d]] = true;
    }
    return true;
}

tarn_status tarn_permute(tarn_context *ctx, const tarn_tensor *t, const int *order,
                         tarn_tensor **out)
{
    if (!is_permutation(order, t->rank))
        return tarn_fail(
            ctx, TARN_EINVAL,
            "permute: expected each of the %d dimensions of %s exactly once", t->rank,
            tarn_shape_text(t).text);
    tarn_tensor *view = NULL;
    tarn_status status = tarn_view_new(ctx, t, &view);
    if (status != TARN_OK) return status;
    for (int d = 0; d < t->rank; d++) {
        view->shape[d] = t->shape[order[d]];
        view->stride[d] = t->stride[order[d]];
    }
    *out = view;
    return TARN_OK;
}

/* ---- Reshaping ------------------------------------------------------------------- */

/* A run is a stretch of dimensions that lie one behind the other in memory, so that it
 * may be cut into extents at will. Runs are listed from the innermost outwards. */
struct runs {
    int count;
    size_t extent[TARN_MAX_RANK];
    ptrdiff_t step[TARN_MAX_RANK];
};

static struct runs find_runs(const tarn_tensor *t)
{
    struct runs runs = {0};
    for (int d = t->rank - 1; d >= 0; d--) {
        if (t->shape[d] == 1) continue;
        int last = runs.count - 1;
        if (last >= 0 &&
            t->stride[d] == runs.step[last] * (ptrdiff_t)runs.extent[last]) {
            runs.extent[last] *= t->shape[d];
            continue;
        }
        runs.extent[runs.count] = t->shape[d];
        runs.step[runs.count++] = t->stride[d];
    }
    return runs;
}

/* Cuts the runs of t into the new extents, from the innermost outwards. False if an
 * extent would reach from one run into the next: then no strides can describe the
 * shape. */
static bool find_strides(const tarn_tensor *t, int rank, const size_t *shape,
                         ptrdiff_t *stride)
{
    struct runs runs = find_runs(t);
    int r = 0;
    for (int d = rank - 1; d >= 0; d--) {
        stride[d] = 1;
        if (shape[d] == 1) continue;
        if (runs.extent[r] % shape[d] != 0) return false;
        stride[d] = runs.step[r];
        runs.step[r] *= (ptrdiff_t)shape[d];
        runs.extent[r] /= shape[d];
        if (runs.extent[r] == 1) r++;
    }
    return true;
}

/* Another header with a shape whose elements are those of the contiguous or suitably
 * strided t. */
static tarn_status view_as(tarn_context *ctx, const tarn_tensor *t, int rank,
                           const size_t *shape, const ptrdiff_t *stride,
                           tarn_tensor **out)
{
    tarn_tensor *view = NULL;
    tarn_status status = tarn_view_new(ctx, t, &view);
    if (status != TARN_OK) return status;
    view->rank = rank;
    for (int d = 0; d < rank; d++) {
        view->shape[d] = shape[d];
        view->stride[d] = stride[d];
    }
    *out = view;
    return TARN_OK;
}

static tarn_status copy_as(tarn_context *ctx, const tarn_tensor *t, int rank,
                           const size_t *shape, tarn_tensor **out)
{
    tarn_tensor *copy = NULL;
    tarn_status status = tarn_clone(ctx, t, t->dtype, &copy);
    if (status != TARN_OK) return status;
    ptrdiff_t stride[TARN_MAX_RANK];
    tarn_row_major(rank, shape, stride);
    status = view_as(ctx, copy, rank, shape, stride, out);
    tarn_tensor_free(copy);
    return status;
}

tarn_status tarn_reshape(tarn_context *ctx, const tarn_tensor *t, int rank,
                         const size_t *shape, tarn_tensor **out)
{
    size_t count = 0;
    tarn_status status = tarn_shape_count(ctx, "reshape", rank, shape, &count);
    if (status != TARN_OK) return status;
    if (count != tarn_tensor_numel(t))
        return tarn_fail(ctx, TARN_ESHAPE,
                         "reshape: shape is %s with %zu elements, but the tensor is %s "
                         "with %zu",
                         tarn_extents_text(rank, shape).text, count,
                         tarn_shape_text(t).text, tarn_tensor_numel(t));
    ptrdiff_t stride[TARN_MAX_RANK];
    if (count == 0)
        tarn_row_major(rank, shape, stride);
    else if (!find_strides(t, rank, shape, stride))
        return copy_as(ctx, t, rank, shape, out);
    return view_as(ctx, t, rank, shape, stride, out);
}

/* ---- Repeating ------------------------------------------------------------------- */

tarn_status tarn_expand(tarn_context *ctx, const tarn_tensor *t, int rank,
                        const size_t *shape, tarn_tensor **out)
{
    size_t count = 0;
    tarn_status status = tarn_shape_count(ctx, "expand", rank, shape, &count);
    if (status != TARN_OK) return status;
    int missing = rank - t->rank;
    bool fits = missing >= 0;
    for (int d = 0; fits && d < t->rank; d++)
        fits = t->shape[d] == 1 || t->shape[d] == shape[d + missing];
    if (!fits)
        return tarn_fail(ctx, TARN_ESHAPE,
                         "expand: tensor is %s, which does not repeat to %s",
                         tarn_shape_text(t).text, tarn_extents_text(rank, shape).text);
    ptrdiff_t stride[TARN_MAX_RANK];
    tarn_broadcast_strides(t, rank, shape, stride);
    return view_as(ctx, t, rank, shape, stride, out);
}
