/* along.c: softmax and cumsum, which keep the shape but work along one dimension.
 *
 * A slab is TARN_COLUMNS slices at most, worked on by one thread from end to end,
 * because each number needs what came before it (cumsum) or all of its slice
 * (softmax). Every TARN_ROWS rows the interrupt flag is looked at. */
#include "core/kernels.h"
#include <math.h>

struct along {
    tarn_context *ctx;
    const struct tarn_folds *folds;
    size_t size; /* bytes of an element */
    size_t n;    /* length of a slice */
    ptrdiff_t in_step, out_step;
    tarn_status (*work)(const struct along *a, const struct tarn_slab *in,
                        const struct tarn_slab *out);
};

/* The rows of a slab from `first` on, TARN_ROWS of them or what is left. */
static struct tarn_slab rows_from(const struct along *a, const struct tarn_slab *slab,
                                  size_t first)
{
    struct tarn_slab part = *slab;
    part.n = slab->n - first < TARN_ROWS ? slab->n - first : TARN_ROWS;
    part.at =
        (unsigned char *)slab->at + (ptrdiff_t)first * slab->step * (ptrdiff_t)a->size;
    return part;
}

static tarn_status cumsum_slab(const struct along *a, const struct tarn_slab *in,
                               const struct tarn_slab *out)
{
    double sum[TARN_COLUMNS] = {0};
    for (size_t j = 0; j < a->n; j += TARN_ROWS) {
        if (tarn_interrupted(a->ctx)) return TARN_EINTR;
        struct tarn_slab from = rows_from(a, in, j), to = rows_from(a, out, j);
        a->folds->cumsum(&from, &to, sum);
    }
    return TARN_OK;
}

static void find_max(const struct along *a, const struct tarn_slab *in, double *max)
{
    double value[TARN_COLUMNS];
    for (size_t c = 0; c < in->columns; c++) max[c] = -HUGE_VAL;
    for (size_t j = 0; j < a->n && !tarn_interrupted(a->ctx); j += TARN_ROWS) {
        struct tarn_slab part = rows_from(a, in, j);
        a->folds->fold[TARN_MAX](&part, value, NULL);
        for (size_t c = 0; c < in->columns; c++)
            if (value[c] > max[c] || isnan(value[c])) max[c] = value[c];
    }
}

/* exp(x_i - max) / sum_j exp(x_j - max): the largest exponent is 0, so nothing
 * overflows and the sum is at least 1. */
static tarn_status softmax_slab(const struct along *a, const struct tarn_slab *in,
                                const struct tarn_slab *out)
{
    double max[TARN_COLUMNS], sum[TARN_COLUMNS] = {0};
    find_max(a, in, max);
    for (size_t j = 0; j < a->n; j += TARN_ROWS) {
        if (tarn_interrupted(a->ctx)) return TARN_EINTR;
        struct tarn_slab from = rows_from(a, in, j), to = rows_from(a, out, j);
        a->folds->exponentials(&from, &to, max, sum);
    }
    for (size_t j = 0; j < a->n; j += TARN_ROWS) {
        if (tarn_interrupted(a->ctx)) return TARN_EINTR;
        struct tarn_slab to = rows_from(a, out, j);
        a->folds->divide(&to, sum);
    }
    return TARN_OK;
}

static tarn_status visit_slabs(void *data, size_t block, const struct tarn_stretch *s)
{
    (void)block;
    const struct along *a = data;
    ptrdiff_t size = (ptrdiff_t)a->size;
    for (size_t c = 0; c < s->n; c += TARN_COLUMNS) {
        size_t left = s->n - c;
        struct tarn_slab out = {.at = (unsigned char *)s->at[0] +
                                      (ptrdiff_t)c * s->step[0] * size,
                                .n = a->n,
                                .columns = left < TARN_COLUMNS ? left : TARN_COLUMNS,
                                .step = a->out_step,
                                .across = s->step[0]};
        struct tarn_slab in = out;
        in.at = (unsigned char *)s->at[1] + (ptrdiff_t)c * s->step[1] * size;
        in.step = a->in_step;
        in.across = s->step[1];
        tarn_status status = a->work(a, &in, &out);
        if (status != TARN_OK) return status;
    }
    return TARN_OK;
}

/* Runs a->work over all slices of t and of the fresh tensor. */
static tarn_status run(tarn_context *ctx, const char *function, struct along *a,
                       const tarn_tensor *t, int dim, tarn_tensor *fresh)
{
    /* Walk over the first elements of the slices: the dimension shrinks to 1. */
    tarn_tensor from = *t, to = *fresh;
    from.shape[dim] = to.shape[dim] = 1;
    struct tarn_walk walk = tarn_walk_over(to.rank, to.shape);
    tarn_walk_add(&walk, &to);
    tarn_walk_add(&walk, &from);
    walk.block = TARN_WALK_BLOCK / (a->n < TARN_WALK_BLOCK ? a->n : TARN_WALK_BLOCK);
    if (walk.block < TARN_COLUMNS) walk.block = TARN_COLUMNS;
    return tarn_walk_visit(ctx, function, &walk, visit_slabs, a);
}

static tarn_status along(tarn_context *ctx, const char *function, const tarn_tensor *t,
                         int dim, struct along a, tarn_tensor **out)
{
    tarn_status status = tarn_check_dim(ctx, function, t, dim);
    if (status == TARN_OK) status = tarn_on_host(ctx, function, t);
    if (status != TARN_OK) return status;
    tarn_tensor *fresh = NULL;
    status = tarn_tensor_new(ctx, t->dtype, t->rank, t->shape, &fresh);
    if (status != TARN_OK) return status;
    a.ctx = ctx;
    a.folds = tarn_folds_of(t->dtype);
    a.size = tarn_dtype_size(t->dtype);
    a.n = t->shape[dim];
    a.in_step = t->stride[dim];
    a.out_step = fresh->stride[dim];
    const double count = (double)tarn_tensor_numel(t);
    tarn_count(ctx, count, 2 * count * (double)a.size);
    if (a.n > 0) status = run(ctx, function, &a, t, dim, fresh);
    return tarn_deliver(status, fresh, out);
}

tarn_status tarn_softmax(tarn_context *ctx, const tarn_tensor *t, int dim,
                         tarn_tensor **out)
{
    return along(ctx, "softmax", t, dim, (struct along){.work = softmax_slab}, out);
}

tarn_status tarn_cumsum(tarn_context *ctx, const tarn_tensor *t, int dim,
                        tarn_tensor **out)
{
    return along(ctx, "cumsum", t, dim, (struct along){.work = cumsum_slab}, out);
}
