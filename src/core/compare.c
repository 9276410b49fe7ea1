/* compare.c: how far two tensors are apart, and whether that is near enough.
 *
 * Both are compared as double, whatever their types: a stretch at a time is converted
 * into a small buffer, so nothing of the size of the tensors is allocated. Each block
 * of the walk keeps its own result; the results are joined in order. */
#include "core/kernels.h"
#include <math.h>

enum { BUFFER = 512 };

/* The largest difference of one block. */
struct worst {
    double diff;
    size_t where;
};

struct comparison {
    tarn_dtype dtype_a, dtype_b;
    double rtol, atol;
    struct worst *worst; /* by block */
    atomic_bool apart;   /* allclose: some element was too far off */
};

/* Hands a stretch to `look`, converted to double, piece by piece. */
static void in_pieces(struct comparison *c, size_t block, const struct tarn_stretch *s,
                      void (*look)(struct comparison *c, size_t block, size_t first,
                                   size_t n, const double *a, const double *b))
{
    double a[BUFFER], b[BUFFER];
    for (size_t i = 0; i < s->n; i += BUFFER) {
        size_t n = s->n - i < BUFFER ? s->n - i : BUFFER;
        ptrdiff_t bytes_a =
            (ptrdiff_t)i * s->step[0] * (ptrdiff_t)tarn_dtype_size(c->dtype_a);
        ptrdiff_t bytes_b =
            (ptrdiff_t)i * s->step[1] * (ptrdiff_t)tarn_dtype_size(c->dtype_b);
        struct tarn_stretch from_a = {.n = n,
                                      .at = {a, (unsigned char *)s->at[0] + bytes_a},
                                      .step = {1, s->step[0]}};
        struct tarn_stretch from_b = {.n = n,
                                      .at = {b, (unsigned char *)s->at[1] + bytes_b},
                                      .step = {1, s->step[1]}};
        tarn_kernels_of(c->dtype_a)->to[TARN_FLOAT64](&from_a);
        tarn_kernels_of(c->dtype_b)->to[TARN_FLOAT64](&from_b);
        look(c, block, s->first + i, n, a, b);
    }
}

/* Walks over two tensors as they broadcast. */
static tarn_status begin(tarn_context *ctx, const char *function, const tarn_tensor *a,
                         const tarn_tensor *b, struct comparison *c,
                         struct tarn_walk *walk)
{
    int rank = 0;
    size_t shape[TARN_MAX_RANK];
    tarn_status status = tarn_broadcast(ctx, function, a->rank, a->shape, b->rank,
                                        b->shape, &rank, shape);
    if (status != TARN_OK) return status;
    c->dtype_a = a->dtype;
    c->dtype_b = b->dtype;
    *walk = tarn_walk_over(rank, shape);
    tarn_walk_add(walk, a);
    tarn_walk_add(walk, b);
    return TARN_OK;
}

/* ---- maxdiff --------------------------------------------------------------------- */

static double difference(double a, double b)
{
    if (a == b || (isnan(a) && isnan(b))) return 0; /* a == b: also equal infinities */
    double diff = fabs(a - b);
    return isnan(diff) ? HUGE_VAL : diff;
}

static void look_for_worst(struct comparison *c, size_t block, size_t first, size_t n,
                           const double *a, const double *b)
{
    struct worst *worst = &c->worst[block];
    for (size_t i = 0; i < n; i++) {
        double diff = difference(a[i], b[i]);
        if (diff > worst->diff) *worst = (struct worst){diff, first + i};
    }
}

static tarn_status visit_worst(void *data, size_t block, const struct tarn_stretch *s)
{
    in_pieces(data, block, s, look_for_worst);
    return TARN_OK;
}

tarn_status tarn_maxdiff(tarn_context *ctx, const tarn_tensor *a, const tarn_tensor *b,
                         double *diff, size_t *where)
{
    struct comparison c = {0};
    struct tarn_walk walk;
    tarn_status status = begin(ctx, "maxdiff", a, b, &c, &walk);
    if (status != TARN_OK) return status;
    size_t blocks = tarn_walk_blocks(&walk);
    c.worst = tarn_alloc(ctx, blocks, sizeof *c.worst);
    if (c.worst == NULL) return TARN_ENOMEM;
    for (size_t i = 0; i < blocks; i++) c.worst[i] = (struct worst){0, 0};
    status = tarn_walk_visit(ctx, "maxdiff", &walk, visit_worst, &c);

    /* The first of equals wins, as inside a block. */
    struct worst worst = {0, 0};
    for (size_t i = 0; i < blocks; i++)
        if (c.worst[i].diff > worst.diff) worst = c.worst[i];
    tarn_release(c.worst);
    if (status != TARN_OK) return status;
    *diff = worst.diff;
    if (where != NULL) *where = worst.where;
    return TARN_OK;
}

/* ---- allclose -------------------------------------------------------------------- */

/* Infinities are compared for equality: rtol times one would allow anything. */
static bool is_close(double a, double b, double rtol, double atol)
{
    if (isinf(a) || isinf(b)) return a == b;
    return fabs(a - b) <= atol + rtol * fabs(b);
}

static void look_for_gap(struct comparison *c, size_t block, size_t first, size_t n,
                         const double *a, const double *b)
{
    (void)block;
    (void)first;
    for (size_t i = 0; i < n; i++)
        if (!is_close(a[i], b[i], c->rtol, c->atol)) atomic_store(&c->apart, true);
}

static tarn_status visit_gap(void *data, size_t block, const struct tarn_stretch *s)
{
    struct comparison *c = data;
    if (!atomic_load_explicit(&c->apart, memory_order_relaxed))
        in_pieces(c, block, s, look_for_gap);
    return TARN_OK;
}

tarn_status tarn_allclose(tarn_context *ctx, const tarn_tensor *a, const tarn_tensor *b,
                          double rtol, double atol, bool *close)
{
    if (!(rtol >= 0) || !(atol >= 0))
        return tarn_fail(ctx, TARN_EINVAL,
                         "allclose: rtol is %g and atol is %g, expected 0 or more",
                         rtol, atol);
    struct comparison c = {.rtol = rtol, .atol = atol};
    struct tarn_walk walk;
    tarn_status status = begin(ctx, "allclose", a, b, &c, &walk);
    if (status == TARN_OK)
        status = tarn_walk_visit(ctx, "allclose", &walk, visit_gap, &c);
    if (status != TARN_OK) return status;
    *close = !atomic_load(&c.apart);
    return TARN_OK;
}
