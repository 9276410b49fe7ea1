/* reduce.c: sums, means, extremes and norms, along one dimension or over all elements.
 *
 * The dimension is cut into blocks of TARN_ROWS rows, always the same ones. A first
 * pass folds every block of every output on its own, a second one joins the blocks of
 * each output in order. Both run on all threads, and since each number has its one
 * place in this scheme, the result does not depend on how many there are. */
#include "core/kernels.h"
#include <math.h>

static const char *const names[] = {
    [TARN_SUM] = "sum",  [TARN_MEAN] = "mean",     [TARN_MAX] = "max",
    [TARN_MIN] = "min",  [TARN_ARGMAX] = "argmax", [TARN_ARGMIN] = "argmin",
    [TARN_NORM] = "norm"};

struct reduction {
    tarn_reduce_op op;
    tarn_tensor columns; /* the input's row 0: the input without the dimension */
    size_t n;            /* rows to fold */
    ptrdiff_t step;      /* from row to row */
    size_t outputs;
    size_t blocks; /* of rows; the last may be shorter */
    double *value; /* [blocks, outputs] */
    size_t *place; /* [blocks, outputs] row of argmax or argmin, else NULL */
};

static bool gives_places(tarn_reduce_op op)
{
    return op == TARN_ARGMAX || op == TARN_ARGMIN;
}

/* ---- First pass: folding blocks -------------------------------------------------- */

/* Blocks of the same number of rows. */
struct pass {
    const struct reduction *r;
    size_t first_block, rows;
};

/* Folds a stretch of (block, output) pairs, TARN_COLUMNS at a time. */
static tarn_status fold_stretch(void *data, size_t unused, const struct tarn_stretch *s)
{
    (void)unused;
    const struct pass *pass = data;
    const struct reduction *r = pass->r;
    ptrdiff_t size = (ptrdiff_t)tarn_dtype_size(r->columns.dtype);
    for (size_t c = 0; c < s->n; c += TARN_COLUMNS) {
        size_t left = s->n - c;
        struct tarn_slab slab = {.at = (unsigned char *)s->at[0] +
                                       (ptrdiff_t)c * s->step[0] * size,
                                 .n = pass->rows,
                                 .columns = left < TARN_COLUMNS ? left : TARN_COLUMNS,
                                 .step = r->step,
                                 .across = s->step[0]};
        size_t first = pass->first_block * r->outputs + s->first + c;
        size_t *place = r->place != NULL ? r->place + first : NULL;
        tarn_folds_of(r->columns.dtype)->fold[r->op](&slab, r->value + first, place);
        for (size_t i = 0; place != NULL && i < slab.columns; i++)
            place[i] += (first + i) / r->outputs * TARN_ROWS;
    }
    return TARN_OK;
}

/* Folds `count` blocks of `rows` rows each. */
static tarn_status fold_blocks(tarn_context *ctx, const struct reduction *r,
                               size_t first_block, size_t count, size_t rows)
{
    if (count == 0 || rows == 0) return TARN_OK;

    /* Put the blocks in front of the outputs, as one more dimension. */
    tarn_tensor t = r->columns;
    t.rank++;
    t.shape[0] = count;
    t.stride[0] = count > 1 ? r->step * TARN_ROWS : 0;
    for (int d = 1; d < t.rank; d++) {
        t.shape[d] = r->columns.shape[d - 1];
        t.stride[d] = r->columns.stride[d - 1];
    }
    t.data = tarn_at(&t, (ptrdiff_t)(first_block * TARN_ROWS) * r->step);

    /* Give a thread as many outputs at a time as make the usual amount of work. */
    struct pass pass = {r, first_block, rows};
    struct tarn_walk walk = tarn_walk_over(t.rank, t.shape);
    tarn_walk_add(&walk, &t);
    walk.block = TARN_WALK_BLOCK / rows;
    if (walk.block < TARN_COLUMNS) walk.block = TARN_COLUMNS;
    return tarn_walk_visit(ctx, names[r->op], &walk, fold_stretch, &pass);
}

static tarn_status fold_all(tarn_context *ctx, const struct reduction *r)
{
    if (r->n == 0)
        for (size_t i = 0; i < r->outputs; i++) r->value[i] = 0;
    tarn_status status = fold_blocks(ctx, r, 0, r->n / TARN_ROWS, TARN_ROWS);
    if (status != TARN_OK) return status;
    return fold_blocks(ctx, r, r->n / TARN_ROWS, 1, r->n % TARN_ROWS);
}

/* ---- Second pass: joining blocks ------------------------------------------------- */

/* sqrt(a^2 + b^2) without overflow; unlike hypot, NaN beats Inf, as in the sum. */
static double join_norms(double a, double b)
{
    double large = a > b ? a : b, small = a > b ? b : a;
    if (isnan(a) || isnan(b)) return a + b;
    if (large == 0 || isinf(large)) return large;
    return large * sqrt(1 + (small / large) * (small / large));
}

static double join(tarn_reduce_op op, double a, double b)
{
    switch (op) {
    case TARN_MAX:
    case TARN_ARGMAX: return b > a || isnan(b) ? b : a;
    case TARN_MIN:
    case TARN_ARGMIN: return b < a || isnan(b) ? b : a;
    case TARN_NORM: return join_norms(a, b);
    case TARN_SUM:
    case TARN_MEAN: break;
    }
    return a + b;
}

/* Whether a block's extreme replaces the one before; the first of equals, or NaN,
 * stays. */
static bool moves_on(tarn_reduce_op op, double best, double candidate)
{
    if (isnan(best)) return false;
    return isnan(candidate) ||
           (op == TARN_ARGMAX ? candidate > best : candidate < best);
}

static double join_output(const struct reduction *r, size_t i)
{
    double value = r->value[i];
    size_t best = i;
    for (size_t b = 1; b < r->blocks; b++) {
        size_t candidate = b * r->outputs + i;
        if (r->place != NULL && moves_on(r->op, r->value[best], r->value[candidate]))
            best = candidate;
        value = join(r->op, value, r->value[candidate]);
    }
    if (r->place != NULL) return (double)r->place[best];
    return r->op == TARN_MEAN ? value / (double)r->n : value;
}

/* Writes a stretch of outputs, whose type the pair of visitors knows. */
static tarn_status join_float32(void *data, size_t unused, const struct tarn_stretch *s)
{
    (void)unused;
    float *out = s->at[0];
    for (size_t i = 0; i < s->n; i++) out[i] = (float)join_output(data, s->first + i);
    return TARN_OK;
}

static tarn_status join_float64(void *data, size_t unused, const struct tarn_stretch *s)
{
    (void)unused;
    double *out = s->at[0];
    for (size_t i = 0; i < s->n; i++) out[i] = join_output(data, s->first + i);
    return TARN_OK;
}

static tarn_status join_all(tarn_context *ctx, struct reduction *r, tarn_tensor *out)
{
    struct tarn_walk walk = tarn_walk_over(out->rank, out->shape);
    tarn_walk_add(&walk, out);
    return tarn_walk_visit(ctx, names[r->op], &walk,
                           out->dtype == TARN_FLOAT32 ? join_float32 : join_float64, r);
}

/* ---- Reducing -------------------------------------------------------------------- */

/* Describes the reduction of dimension dim of t. */
static struct reduction plan(tarn_reduce_op op, const tarn_tensor *t, int dim)
{
    struct reduction r = {.op = op, .columns = *t, .n = t->shape[dim], .outputs = 1};
    r.step = r.n > 1 ? t->stride[dim] : 0;
    r.blocks = r.n / TARN_ROWS + (r.n % TARN_ROWS != 0 || r.n == 0);
    r.columns.rank--;
    for (int d = dim; d < r.columns.rank; d++) {
        r.columns.shape[d] = t->shape[d + 1];
        r.columns.stride[d] = t->stride[d + 1];
    }
    for (int d = 0; d < r.columns.rank; d++) r.outputs *= r.columns.shape[d];
    return r;
}

static tarn_status run(tarn_context *ctx, struct reduction *r, tarn_tensor *out)
{
    tarn_status status = TARN_ENOMEM;
    size_t count = r->blocks * r->outputs;
    r->value = tarn_alloc(ctx, count, sizeof *r->value);
    if (r->value != NULL && gives_places(r->op))
        r->place = tarn_alloc(ctx, count, sizeof *r->place);
    if (r->value != NULL && (r->place != NULL || !gives_places(r->op))) {
        status = fold_all(ctx, r);
        if (status == TARN_OK) status = join_all(ctx, r, out);
    }
    tarn_release(r->value);
    tarn_release(r->place);
    return status;
}

static tarn_status reduce_dimension(tarn_context *ctx, tarn_reduce_op op,
                                    const tarn_tensor *t, int dim, int rank,
                                    const size_t *shape, tarn_tensor **out)
{
    struct reduction r = plan(op, t, dim);
    bool needs_one = op == TARN_MAX || op == TARN_MIN || gives_places(op);
    if (r.n == 0 && needs_one)
        return tarn_fail(ctx, TARN_EINVAL,
                         "%s: there are no elements, expected at least one to choose",
                         names[op]);
    tarn_tensor *fresh = NULL;
    tarn_status status = tarn_tensor_new(
        ctx, gives_places(op) ? TARN_FLOAT64 : t->dtype, rank, shape, &fresh);
    const double count = (double)r.n * (double)r.outputs;
    tarn_count(ctx, count,
               count * (double)tarn_dtype_size(t->dtype) +
                   (double)(r.outputs * sizeof(double)));
    if (status == TARN_OK) status = run(ctx, &r, fresh);
    return tarn_deliver(status, fresh, out);
}

/* Everything is one dimension of a tensor that has been laid out as a vector. */
static tarn_status reduce_everything(tarn_context *ctx, tarn_reduce_op op,
                                     const tarn_tensor *t, bool keep, tarn_tensor **out)
{
    const size_t ones[TARN_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
    size_t count = tarn_tensor_numel(t);
    tarn_tensor *vector = NULL;
    tarn_status status = tarn_reshape(ctx, t, 1, &count, &vector);
    if (status != TARN_OK) return status;
    status = reduce_dimension(ctx, op, vector, 0, keep ? t->rank : 0, ones, out);
    tarn_tensor_free(vector);
    return status;
}

tarn_status tarn_reduce(tarn_context *ctx, tarn_reduce_op op, const tarn_tensor *t,
                        int dim, bool keep, tarn_tensor **out)
{
    if ((int)op < 0 || op > TARN_NORM)
        return tarn_fail(ctx, TARN_EINVAL, "reduce: operation is %d, expected 0 to %d",
                         (int)op, TARN_NORM);
    tarn_status status = tarn_on_host(ctx, names[op], t);
    if (status != TARN_OK) return status;
    if (dim == TARN_ALL) return reduce_everything(ctx, op, t, keep, out);
    status = tarn_check_dim(ctx, names[op], t, dim);
    if (status != TARN_OK) return status;
    size_t shape[TARN_MAX_RANK];
    int rank = 0;
    for (int d = 0; d < t->rank; d++)
        if (d != dim)
            shape[rank++] = t->shape[d];
        else if (keep)
            shape[rank++] = 1;
    return reduce_dimension(ctx, op, t, dim, rank, shape, out);
}
