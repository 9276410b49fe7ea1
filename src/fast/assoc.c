/* assoc.c: stage 2 tuned: the product re-associated, over all keys. Chapter 10; the equations
 * are those of src/stages/assoc.c, 4-6.
 *
 *     S = sum_j phi(k_j) v_j^T,  z = sum_j phi(k_j)      then      out_i = phi(q_i)^T S / den_i
 *
 * Both are products of the tile in products.h: S takes its rows from the features of a
 * block of keys, out from those of a block of queries. A block's part of S is summed in
 * registers, then added to the partial sums, which are carried into the totals every
 * STRETCH keys: three levels, the last of them exact.
 *
 * S lies in groups of WIDTH columns, [group][C][WIDTH]. Columns are independent of one
 * another: they are what one head is split over threads by. */
#include "fast/fast.h"
#include "fast/features.h"
#include "fast/products.h"
#include "stages/flops.h"

enum { STRETCH = 8 * BLOCK };

/* A head, or some of its value columns, at work. */
struct full {
    struct tarn_attn *a;
    struct features f;
    size_t first, columns; /* of the values */
    real *S, *S_part;
};

static size_t groups(const struct tarn_attn *a)
{
    return whole_groups(a->M) / WIDTH;
}

static size_t full_work(const struct tarn_attn *a)
{
    return features_size(a->C) + 2 * a->C * whole_groups(a->M);
}

static struct full open_full(struct tarn_attn *a)
{
    const size_t each = (groups(a) + a->parts - 1) / a->parts * WIDTH;
    struct full g = {.a = a, .f = features_in(a->work, a)};
    g.first = each * a->part < a->M ? each * a->part : a->M;
    g.columns = a->M - g.first < each ? a->M - g.first : each;
    const size_t size = a->C * whole_groups(g.columns);
    g.S = (real *)a->work + features_size(a->C);
    g.S_part = g.S + size;
    memset(g.S, 0, 2 * size * sizeof(real));
    return g;
}

/* S_part += sum over n keys, for one group of columns. */
static __attribute__((noinline)) void add_group(const struct features *f, size_t n,
                                                size_t columns, const real *v,
                                                ptrdiff_t v_stride, real *S_part)
{
    const ptrdiff_t padded = (ptrdiff_t)f->padded;
    product(ADD, f->C, columns, n,
            (struct product){.a = f->k,
                             .a_row = 1,
                             .a_step = padded,
                             .b = v,
                             .b_step = v_stride,
                             .b_ahead = BLOCK * v_stride,
                             .out = S_part,
                             .out_row = WIDTH},
            NULL);
}

/* out_t = scale_t phi(q_t)^T S for n queries and one group of columns. */
static __attribute__((noinline)) void read_group(const struct features *f, size_t n,
                                                 size_t columns, const real *S,
                                                 real *out, ptrdiff_t out_stride)
{
    const ptrdiff_t padded = (ptrdiff_t)f->padded;
    product(SET, n, columns, f->C,
            (struct product){.a = f->q,
                             .a_row = padded,
                             .a_step = 1,
                             .b = S,
                             .b_step = WIDTH,
                             .out = out,
                             .out_row = out_stride},
            f->scale);
}

static void add_to_z(struct features *f, size_t n)
{
    for (size_t c = 0; c < f->padded; c += LANES) {
        vec sum = splat(0);
        for (size_t t = 0; t < n; t++) sum += load(f->k + t * f->padded + c);
        store(f->z_part + c, load(f->z_part + c) + sum);
    }
}

/* Keys j to j + n - 1. */
static void add_keys(struct full *g, size_t j, size_t n)
{
    const struct tarn_attn *a = g->a;
    const size_t C = a->C;
    const real *v = (const real *)a->v + j * a->M + g->first;
    real copy[BLOCK * WIDTH];
    features_of_keys(&g->f, a, j, n, AHEAD);
    add_to_z(&g->f, n);
    for (size_t m = 0; m < g->columns; m += WIDTH) {
        const size_t left = g->columns - m;
        ptrdiff_t stride = (ptrdiff_t)a->M;
        const real *v_m = group_of(v + m, &stride, n, left, copy);
        add_group(&g->f, n, left, v_m, stride, g->S_part + C * m);
    }
}

static tarn_status sum_keys(struct full *g)
{
    const struct tarn_attn *a = g->a;
    for (size_t j = 0; j < a->N; j += BLOCK) {
        if (tarn_interrupted(a->ctx)) return TARN_EINTR;
        add_keys(g, j, a->N - j < BLOCK ? a->N - j : BLOCK);
        if (j % STRETCH != STRETCH - BLOCK && j + BLOCK < a->N) continue;
        carry(g->f.padded, g->f.z_part, g->f.z);
        carry(a->C * whole_groups(g->columns), g->S_part, g->S);
    }
    return TARN_OK;
}

/* Queries i to i + n - 1. */
static void read_queries(struct full *g, size_t i, size_t n)
{
    const struct tarn_attn *a = g->a;
    const size_t C = a->C;
    real *out = (real *)a->out + i * a->M + g->first, copy[BLOCK * WIDTH];
    features_make(&g->f, a, i, n, false);
    for (size_t m = 0; m < g->columns; m += WIDTH) {
        const size_t left = g->columns - m;
        if (fits(left)) {
            read_group(&g->f, n, left, g->S + C * m, out + m, (ptrdiff_t)a->M);
            continue;
        }
        read_group(&g->f, n, left, g->S + C * m, copy, WIDTH);
        for (size_t t = 0; t < n; t++)
            memcpy(out + t * a->M + m, copy + t * WIDTH, left * sizeof(real));
    }
    features_divide(&g->f, n, g->columns, out, a->M);
    if (!finite_rows(n, g->columns, out, (ptrdiff_t)a->M)) g->a->suspect = true;
}

static tarn_status full(struct tarn_attn *a)
{
    struct full g = open_full(a);
    tarn_status status = sum_keys(&g);
    for (size_t i = 0; i < a->N_q && !status; i += BLOCK) {
        if (tarn_interrupted(a->ctx)) return TARN_EINTR;
        read_queries(&g, i, a->N_q - i < BLOCK ? a->N_q - i : BLOCK);
    }
    return status;
}

const struct tarn_form FAST(tarn_fast_assoc) = {.naive = full,
                                                .accurate = full,
                                                .work = full_work,
                                                .flops = tarn_assoc_flops,
                                                .parts = groups,
                                                .fused = true,
                                                .looks = true};
