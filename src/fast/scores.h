/* scores.h: the similarities of a block of queries and a block of keys. Internal; chapter 10.
 *
 * A block of QUERIES queries is laid out once, transposed, [group][C][WIDTH]. The tile of
 * products.h then reads keys as they lie and writes scores with the queries side by side,
 * [KEYS][QUERIES]: largest scores, exps and denominators of 2 LANES queries are plain
 * vector operations, nothing is summed across a vector, and no key is ever packed.
 *
 * The exponent of a pair is gain_i s_ij. Queries are divided by a power of two that keeps
 * every s_ij in range, and the gain has it back once the largest s of the row is taken
 * off: q and k of any size have a softmax.
 *
 * Features are made here, block by block, those of queries divided by the scale of their row
 * (src/stages/phi.c): keys are led through their map once for each block of queries, and
 * nothing grows with N. */
#ifndef TARN_SCORES_H
#define TARN_SCORES_H

#include "fast/phi.h"
#include "fast/products.h"
#include "stages/attn.h"
#include <float.h>

enum {
    QUERIES = 32 > WIDTH ? 32 : WIDTH,
    KEYS = TARN_BLOCK /* of one block */
};

/* Queries first to first + n - 1, and their scores for `keys` keys from `key` on. */
struct scores {
    const struct tarn_attn *a;
    size_t first, n, key, keys;
    real *q;        /* [group][C][WIDTH] */
    real *s;        /* [KEYS][QUERIES] */
    real *features; /* [KEYS, C padded], if they are made here */
    const real *k;  /* the keys of the block, or their features, rows of k_stride */
    size_t k_stride;
    real gain[QUERIES]; /* of each query */
    real pivot[QUERIES], eps[QUERIES];
    real sign[KEYS]; /* what the scores of a block are multiplied by */
};

static const real lowest = IS_FLOAT ? -(real)FLT_MAX : -(real)DBL_MAX;

INLINE bool makes_features(const struct tarn_attn *a)
{
    return a->phi != TARN_PHI_NONE;
}

static size_t scores_size(const struct tarn_attn *a)
{
    return (a->C + KEYS) * QUERIES +
           (makes_features(a) ? KEYS * whole_vectors(a->C) : 0);
}

INLINE bool has_exponent(const struct tarn_attn *a)
{
    return a->by == TARN_SOFTMAX || a->by == TARN_RBF;
}

static struct scores scores_in(real *work, const struct tarn_attn *a)
{
    struct scores b = {.a = a, .q = work, .s = work + a->C * QUERIES};
    b.features = b.s + KEYS * QUERIES;
    const real scale = (real)a->scale;
    for (size_t t = 0; t < KEYS; t++)
        b.sign[t] = a->by == TARN_PHI                    ? scale
                    : (scale < 0) != (a->by == TARN_RBF) ? -1
                                                         : 1;
    return b;
}

/* The exponent of the power of two that query q_i is divided by: then no product with a
 * finite key leaves the range. Ordinary queries stay as they are. */
static int excess(size_t C, const real *q_i)
{
    const int spare = IS_FLOAT ? 30 : 250;
    real largest = 0;
    int size, width;
    for (size_t c = 0; c < C; c++) {
        const real x = fabs(q_i[c]);
        if (x > largest) largest = x;
    }
    if (largest < ldexp((real)1, spare) || !isfinite(largest)) return 0;
    frexp(largest, &size);
    frexp((real)C, &width);
    return size + width;
}

/* Query i of the block, or its features under their scale, which lie where those of keys
 * will. */
static const real *take_query(struct scores *b, size_t i)
{
    const struct tarn_attn *a = b->a;
    const real *q_i = (const real *)a->q + (b->first + i) * a->C;
    b->eps[i] = a->eps_row ? ((const real *)a->eps_row)[b->first + i] : (real)a->eps;
    if (!makes_features(a)) return q_i;
    TYPED(tarn_phi_rows)
        .apply_scaled(a->phi, 1, a->C, q_i, a->eps, b->features, &b->pivot[i],
                      &b->eps[i]);
    return b->features;
}

/* Lays queries out, and zeros beside them. */
static void take_queries(struct scores *b, size_t first, size_t n)
{
    const struct tarn_attn *a = b->a;
    const size_t C = a->C;
    b->first = first;
    b->n = n;
    memset(b->q, 0, C * QUERIES * sizeof(real));
    for (size_t i = 0; i < n; i++) {
        const real *q_i = take_query(b, i);
        real *to = b->q + i / WIDTH * WIDTH * C + i % WIDTH;
        const int e = a->by == TARN_SOFTMAX ? excess(C, q_i) : 0;
        const real factor = a->scale == 0 ? 0 : ldexp((real)1, -e);
        for (size_t c = 0; c < C; c++) to[c * WIDTH] = q_i[c] * factor;
        const real gain = a->by == TARN_RBF ? (real)a->scale / 2 : (real)a->scale;
        b->gain[i] = fmin(fabs(ldexp(gain, e)), -lowest);
    }
}

/* Scores of one group of queries: q.k, or the squared distance, with its sign. */
static __attribute__((noinline)) void score_group(const struct scores *b, size_t i)
{
    const size_t C = b->a->C;
    const struct product x = {.a = b->k,
                              .a_row = (ptrdiff_t)b->k_stride,
                              .a_step = 1,
                              .b = b->q + i * C,
                              .b_step = WIDTH,
                              .out = b->s + i,
                              .out_row = QUERIES};
    if (b->a->by == TARN_RBF)
        product(SQUARES, b->keys, b->n - i, C, x, b->sign);
    else
        product(SET, b->keys, b->n - i, C, x, b->sign);
}

static void score_keys(struct scores *b, size_t key, size_t keys)
{
    const struct tarn_attn *a = b->a;
    b->key = key;
    b->keys = keys;
    b->k = (const real *)a->k + key * a->C;
    b->k_stride = a->C;
    if (makes_features(a)) {
        feature_rows(a->phi, keys, a->C, b->k, 0, b->features);
        b->k = b->features;
        b->k_stride = whole_vectors(a->C);
    }
    for (size_t i = 0; i < b->n; i += WIDTH) score_group(b, i);
}

/* How many keys the last of these queries sees. */
static size_t keys_seen(const struct scores *b)
{
    const struct tarn_attn *a = b->a;
    const size_t seen = a->past + b->first + b->n;
    return a->causal && seen < a->N ? seen : a->N;
}

/* Whether every query sees every key of the block, and the keys come in fours. */
static bool all_visible(const struct scores *b)
{
    if (b->keys % 4 != 0) return false;
    return !b->a->causal || b->key + b->keys <= b->a->past + b->first + 1;
}

/* How many keys of the block query i of the block sees. */
static size_t keys_in_block(const struct scores *b, size_t i)
{
    const size_t seen = b->a->past + b->first + i + 1;
    if (!b->a->causal || seen >= b->key + b->keys) return b->keys;
    return seen > b->key ? seen - b->key : 0;
}

/* For each of LANES queries from the i-th on, the last key of the block that it sees, by
 * its place in the block; below 0 where it sees none. */
INLINE ivec last_visible(const struct scores *b, size_t i)
{
    const ptrdiff_t end = (ptrdiff_t)b->keys - 1;
    const ptrdiff_t self = (ptrdiff_t)(b->a->past + b->first + i) - (ptrdiff_t)b->key;
    ivec last;
    for (ptrdiff_t lane = 0; lane < LANES; lane++)
        last[lane] = (whole)(b->a->causal && self + lane < end ? self + lane : end);
    return last;
}

INLINE ivec sees(ivec last, size_t t)
{
    return last >= ((ivec){0} + (whole)t);
}

/* ---- Products with the scores of a block ---------------------------------------------- */

/* One group of columns: what `s` is multiplied by, and what the product is added to. Where
 * there is a `from`, x pulls at it: s (x - from). */
struct group {
    size_t columns;
    const real *s, *x, *from;
    ptrdiff_t x_stride, from_stride;
    real *out;
    ptrdiff_t out_stride;
};

/* out_i += sum_j s_ij x_j for `rows` i, `steps` j; s_ij lies where a says. */
static __attribute__((noinline)) void sum_group(struct group g, struct product a,
                                                size_t i, size_t rows, size_t j,
                                                size_t steps)
{
    a.b = g.x + (ptrdiff_t)j * g.x_stride;
    a.b_step = g.x_stride;
    a.b_ahead = 0; /* a block is read again and again: it is near */
    a.out = g.out + (ptrdiff_t)i * g.out_stride;
    a.out_row = g.out_stride;
    if (!g.from) {
        product(ADD, rows, g.columns, steps, a, NULL);
        return;
    }
    a.from = g.from + (ptrdiff_t)i * g.from_stride;
    a.from_row = g.from_stride;
    product(PULL, rows, g.columns, steps, a, NULL);
}

/* For some queries from the i-th and some keys from the j-th on. */
static void weigh(struct group g, size_t i, size_t queries, size_t j, size_t keys)
{
    const struct product a = {
        .a = g.s + j * QUERIES + i, .a_row = 1, .a_step = QUERIES};
    sum_group(g, a, i, queries, j, keys);
}

/* The same for ROWS queries which do not all see every key. A key that is not seen is left
 * out, not multiplied by 0: its value may be NaN. */
static void weigh_visible(const struct scores *b, struct group g, size_t i)
{
    const size_t all = keys_in_block(b, i);
    weigh(g, i, ROWS, 0, all);
    for (size_t t = i + 1; t < i + ROWS && t < b->n; t++)
        weigh(g, t, 1, all, keys_in_block(b, t) - all);
}

/* out_i += sum_j s_ij x_j over the block; x are rows of M, `stride` apart; out, and `from` if
 * it is there, [group][QUERIES][WIDTH]. */
static void weigh_rows(const struct scores *b, const real *s, const real *x,
                       size_t stride, size_t M, const real *from, real *out)
{
    const size_t queries = (b->n + ROWS - 1) / ROWS * ROWS;
    real copy[KEYS * WIDTH];
    for (size_t m = 0; m < M; m += WIDTH) {
        struct group g = {.columns = M - m,
                          .s = s,
                          .x_stride = (ptrdiff_t)stride,
                          .from = from ? from + m * QUERIES : NULL,
                          .from_stride = WIDTH,
                          .out = out + m * QUERIES,
                          .out_stride = WIDTH};
        g.x = group_of(x + m, &g.x_stride, b->keys, M - m, copy);
        if (all_visible(b))
            weigh(g, 0, queries, 0, b->keys);
        else
            for (size_t i = 0; i < queries; i += ROWS) weigh_visible(b, g, i);
    }
}

#endif
