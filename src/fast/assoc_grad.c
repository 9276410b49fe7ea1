/* assoc_grad.c: the gradient of stage 2, tuned. Chapters 7 and 10; the equations are those at
 * the end of src/stages/assoc.c: 13-15 without a mask, and the denominator's path.
 *
 * Five products of the tile in products.h, 2 C M operations a token each:
 *
 *     S^T = sum_j v_j phi(k_j)^T                   u_i = S Gn_i        (keys; queries)
 *     R   = sum_i phi(q_i) Gn_i^T                                      (queries)
 *     dphi(k_j) = R v_j + r                        dv_j = R^T phi(k_j) (keys)
 *
 * and dphi(q_i) = u_i + gd_i z, r = sum_i gd_i phi(q_i). The tile multiplies rows by groups of
 * columns, so R is wanted both ways round: it is turned over once. Sums have the three
 * levels of assoc.c: registers, partial sums, totals. */
#include "fast/fast.h"
#include "fast/grads.h"
#include "fast/products.h"
#include "stages/flops.h"

enum { STRETCH = 8 * BLOCK };

/* A matrix in groups of WIDTH columns, [group][R][WIDTH], in two levels. */
struct sums {
    size_t R, columns, wide; /* wide: whole groups */
    real *total, *part;
};

/* A head at work. `across` is [M, C]: S^T while queries are read, then R^T. */
struct grad {
    struct tarn_attn *a;
    struct features f;     /* z is r where keys are written */
    size_t wide_C, wide_M; /* padded to whole groups */
    real *Gn, *rows;       /* [BLOCK, wide M], [BLOCK, wide C] */
    real *r, *r_part;      /* [C padded] */
    struct sums across, R;
};

static size_t assoc_grad_work(const struct tarn_attn *a)
{
    const size_t wide_C = whole_groups(a->C), wide_M = whole_groups(a->M);
    return features_size(a->C) + BLOCK * (wide_C + wide_M) + 2 * whole_vectors(a->C) +
           2 * (a->M * wide_C + a->C * wide_M);
}

static struct sums sums_in(real *work, size_t R, size_t columns)
{
    const size_t wide = whole_groups(columns);
    return (struct sums){R, columns, wide, work, work + R * wide};
}

static struct grad open_grad(struct tarn_attn *a)
{
    struct grad g = {.a = a, .f = features_in(a->work, a)};
    g.wide_C = whole_groups(a->C);
    g.wide_M = whole_groups(a->M);
    g.Gn = (real *)a->work + features_size(a->C);
    g.rows = g.Gn + BLOCK * g.wide_M;
    g.r = g.rows + BLOCK * g.wide_C;
    g.r_part = g.r + g.f.padded;
    real *rest = g.r_part + g.f.padded;
    g.across = sums_in(rest, a->M, a->C);
    g.R = sums_in(rest + 2 * a->M * g.wide_C, a->C, a->M);
    const size_t all = assoc_grad_work(a) - features_size(a->C);
    memset(g.Gn, 0, all * sizeof(real));
    return g;
}

/* ---- Products ------------------------------------------------------------------------------ */

/* s += x^T y over n tokens; y [n, columns], of which the last group may lack some. */
static __attribute__((noinline)) void add_products(const struct sums *s, size_t n,
                                                   const real *x, size_t x_stride,
                                                   const real *y, size_t y_stride)
{
    real copy[BLOCK * WIDTH];
    for (size_t c = 0; c < s->columns; c += WIDTH) {
        ptrdiff_t stride = (ptrdiff_t)y_stride;
        const real *y_c = group_of(y + c, &stride, n, y_stride - c, copy);
        product(ADD, s->R, s->columns - c, n,
                (struct product){.a = x,
                                 .a_row = 1,
                                 .a_step = (ptrdiff_t)x_stride,
                                 .b = y_c,
                                 .b_step = stride,
                                 .out = s->part + c * s->R,
                                 .out_row = WIDTH},
                NULL);
    }
}

/* out [n, columns] = x [n, R] times the totals, for columns c to c + WIDTH - 1. */
static __attribute__((noinline)) void read_group(const struct sums *s, size_t n,
                                                 size_t c, const real *x,
                                                 size_t x_stride, real *out,
                                                 size_t out_stride)
{
    product(SET, n, s->columns - c, s->R,
            (struct product){.a = x,
                             .a_row = (ptrdiff_t)x_stride,
                             .a_step = 1,
                             .b = s->total + c * s->R,
                             .b_step = WIDTH,
                             .out = out,
                             .out_row = (ptrdiff_t)out_stride},
            ones);
}

/* Into rows that are as wide as whole groups. */
static void read_rows(const struct sums *s, size_t n, const real *x, size_t x_stride,
                      real *rows)
{
    for (size_t c = 0; c < s->columns; c += WIDTH)
        read_group(s, n, c, x, x_stride, rows + c, s->wide);
}

/* Into rows of the caller's. */
static void read_out(const struct sums *s, size_t n, const real *x, size_t x_stride,
                     real *out)
{
    real copy[BLOCK * WIDTH];
    for (size_t c = 0; c < s->columns; c += WIDTH) {
        const size_t left = s->columns - c;
        if (fits(left)) {
            read_group(s, n, c, x, x_stride, out + c, s->columns);
            continue;
        }
        read_group(s, n, c, x, x_stride, copy, WIDTH);
        for (size_t t = 0; t < n; t++)
            memcpy(out + t * s->columns + c, copy + t * WIDTH, left * sizeof(real));
    }
}

static void carry_sums(const struct sums *s)
{
    carry(s->R * s->wide, s->part, s->total);
}

/* True where a stretch of blocks ends with the block at i of N tokens. */
static bool ends_stretch(size_t i, size_t N)
{
    return i % STRETCH == STRETCH - BLOCK || i + BLOCK >= N;
}

static size_t block_at(size_t i, size_t N)
{
    return N - i < BLOCK ? N - i : BLOCK;
}

/* ---- Sums over keys ------------------------------------------------------------------------- */

static tarn_status sum_keys(struct grad *g)
{
    const struct tarn_attn *a = g->a;
    struct features *f = &g->f;
    for (size_t j = 0; j < a->N; j += BLOCK) {
        const size_t n = block_at(j, a->N);
        if (tarn_interrupted(a->ctx)) return TARN_EINTR;
        features_of_keys(f, a, j, n, AHEAD);
        for (size_t t = 0; t < n; t++)
            for (size_t c = 0; c < f->padded; c += LANES)
                store(f->z_part + c,
                      load(f->z_part + c) + load(f->k + t * f->padded + c));
        add_products(&g->across, n, (const real *)a->v + j * a->M, a->M, f->k,
                     f->padded);
        if (!ends_stretch(j, a->N)) continue;
        carry(f->padded, f->z_part, f->z);
        carry_sums(&g->across);
    }
    return TARN_OK;
}

/* ---- Queries ------------------------------------------------------------------------------- */

/* rows += gd_t z, and r += gd_t phi(q_t). */
static void add_den_path(struct grad *g, size_t n, const real *gd)
{
    for (size_t c = 0; c < g->f.padded; c += LANES) {
        const vec z = load(g->f.z + c);
        vec r = splat(0);
        for (size_t t = 0; t < n; t++) {
            real *row = g->rows + t * g->wide_C + c;
            r += splat(gd[t]) * load(g->f.q + t * g->f.padded + c);
            store(row, load(row) + splat(gd[t]) * z);
        }
        store(g->r_part + c, load(g->r_part + c) + r);
    }
}

static void query_block(struct grad *g, size_t i, size_t n)
{
    const struct tarn_attn *a = g->a;
    real gd[BLOCK];
    features_make(&g->f, a, i, n, false);
    make_Gn(&g->f, a, i, n, AHEAD, g->Gn, g->wide_M);
    read_rows(&g->across, n, g->Gn, g->wide_M, g->rows);
    make_gd(&g->f, n, g->rows, g->wide_C, gd);
    add_den_path(g, n, gd);
    add_products(&g->R, n, g->f.q, g->f.padded, g->Gn, g->wide_M);
    if (!query_rows(&g->f, a, i, n, g->rows, g->wide_C)) g->a->suspect = true;
}

static tarn_status query_grads(struct grad *g)
{
    const struct tarn_attn *a = g->a;
    for (size_t i = 0; i < a->N_q; i += BLOCK) {
        if (tarn_interrupted(a->ctx)) return TARN_EINTR;
        query_block(g, i, block_at(i, a->N_q));
        if (!ends_stretch(i, a->N_q)) continue;
        carry(g->f.padded, g->r_part, g->r);
        carry_sums(&g->R);
    }
    return TARN_OK;
}

/* ---- Keys ---------------------------------------------------------------------------------- */

/* Turns the totals of R over into those of `across`, whose own are not needed any more. */
static void turn_over(struct grad *g)
{
    const size_t C = g->a->C, M = g->a->M;
    for (size_t m = 0; m < M; m++) {
        const real *from = g->R.total + m / WIDTH * WIDTH * C + m % WIDTH;
        for (size_t c = 0; c < C; c++)
            g->across.total[c / WIDTH * WIDTH * M + m * WIDTH + c % WIDTH] =
                from[c * WIDTH];
    }
}

static void key_block(struct grad *g, size_t j, size_t n)
{
    const struct tarn_attn *a = g->a;
    features_of_keys(&g->f, a, j, n, AHEAD);
    read_rows(&g->across, n, (const real *)a->v + j * a->M, a->M, g->rows);
    read_out(&g->R, n, g->f.k, g->f.padded, (real *)a->dv + j * a->M);
    for (size_t t = 0; t < n; t++)
        for (size_t c = 0; c < g->f.padded; c += LANES) {
            real *row = g->rows + t * g->wide_C + c;
            store(row, load(row) + load(g->r + c));
        }
    if (!key_rows(&g->f, a, j, n, g->rows, g->wide_C, AHEAD) ||
        !finite_rows(n, a->M, (const real *)a->dv + j * a->M, (ptrdiff_t)a->M))
        g->a->suspect = true;
}

static tarn_status key_grads(struct grad *g)
{
    const struct tarn_attn *a = g->a;
    turn_over(g);
    for (size_t j = 0; j < a->N; j += BLOCK) {
        if (tarn_interrupted(a->ctx)) return TARN_EINTR;
        key_block(g, j, block_at(j, a->N));
    }
    return TARN_OK;
}

static tarn_status assoc_grad(struct tarn_attn *a)
{
    struct grad g = open_grad(a);
    tarn_status status = sum_keys(&g);
    if (!status) status = query_grads(&g);
    return status ? status : key_grads(&g);
}

const struct tarn_form FAST(tarn_fast_assoc_grad) = {.naive = assoc_grad,
                                                     .accurate = assoc_grad,
                                                     .work = assoc_grad_work,
                                                     .flops = tarn_assoc_grad_flops,
                                                     .fused = true,
                                                     .looks = true};
