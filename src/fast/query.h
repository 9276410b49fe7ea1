/* query.h: softmax attention of a single query, as in a step of a cache. Internal;
 * chapter 10.
 *
 * Such a token reads every key and every value once, for two multiply-adds a number: memory
 * is what it takes its time from, so nothing is laid out anew. Keys are multiplied where they
 * lie, four rows at a time, 1.25 loads a multiply-add; their scores then stand side by side
 * for exp; values are summed in registers, 1 load a multiply-add.
 *
 * Exponents, the largest of the scores so far, and the levels of the sums are those of
 * averages.h, for one row. */
#ifndef TARN_FAST_QUERY_H
#define TARN_FAST_QUERY_H

#include "fast/averages.h"

enum { COLUMNS = 4 }; /* vectors of values at a time */

struct query {
    const struct tarn_attn *a;
    real *q;          /* [C], padded with zeros; divided as in scores.h */
    real *out, *part; /* [M], padded: the sums of the values */
    real den[LANES], den_part[LANES];
    real gain, sign, max;
    real s[KEYS]; /* scores of a block of keys, then their similarities */
};

static struct query query_in(real *work, const struct tarn_attn *a)
{
    const size_t C = whole_vectors(a->C), M = whole_vectors(a->M);
    const int e = excess(a->C, a->q);
    const real factor = a->scale == 0 ? 0 : ldexp((real)1, -e);
    struct query x = {.a = a, .q = work, .out = work + C, .part = work + C + M};
    memset(work, 0, (C + 2 * M) * sizeof(real));
    for (size_t c = 0; c < a->C; c++) x.q[c] = ((const real *)a->q)[c] * factor;
    x.gain = fmin(fabs(ldexp((real)a->scale, e)), -lowest);
    x.sign = a->scale < 0 ? -1 : 1;
    x.max = lowest;
    return x;
}

/* The last columns of a matrix of so many rows, from one column on: fewer than a vector. A
 * whole one is read where what comes after them is the next row. */
struct tail {
    size_t inside, columns; /* rows of which a whole vector can be read */
    ivec ours;
};

static struct tail tail_of(size_t rows, size_t width, size_t column)
{
    const size_t needed = (column + LANES + width - 1) / width;
    return (struct tail){.inside = rows < needed ? 0 : rows - needed + 1,
                         .columns = width - column,
                         .ours = first_lanes(width - column)};
}

INLINE vec load_tail(const struct tail *tail, size_t row, const real *p)
{
    return row < tail->inside ? (vec)((ivec)load(p) & tail->ours)
                              : load_some(p, tail->columns);
}

/* q . k of T keys from the given one on. */
INLINE void some_scores(const int T, const struct query *x, const struct tail *tail,
                        size_t key, real *s)
{
    const size_t C = x->a->C, full = C - C % LANES;
    const real *k = (const real *)x->a->k + key * C;
    vec sums[4];
    UNROLL
    for (int t = 0; t < T; t++) sums[t] = splat(0);
    for (size_t c = 0; c < full; c += LANES) UNROLL
    for (int t = 0; t < T; t++) sums[t] += load(x->q + c) * load(k + (size_t)t * C + c);
    for (size_t t = 0; t < (size_t)T && full < C; t++)
        sums[t] += load(x->q + full) * load_tail(tail, key + t, k + t * C + full);
    sums_of(T, sums, s);
}

static void query_scores(struct query *x, size_t key, size_t keys)
{
    const size_t C = x->a->C;
    const struct tail tail = tail_of(x->a->N, C, C - C % LANES);
    for (size_t t = 0; t < keys; t += t + 4 <= keys ? 4 : 1)
        if (t + 4 <= keys)
            some_scores(4, x, &tail, key + t, x->s + t);
        else
            some_scores(1, x, &tail, key + t, x->s + t);
}

/* The sums so far, now that the exponents have another largest one. */
static void query_rescale(struct query *x, real largest)
{
    const vec factor = exp_below(splat((x->max - largest) * x->gain));
    const size_t M = whole_vectors(x->a->M);
    x->max = largest;
    store(x->den, load(x->den) * factor);
    store(x->den_part, load(x->den_part) * factor);
    for (size_t m = 0; m < M; m += LANES) {
        store(x->out + m, load(x->out + m) * factor);
        store(x->part + m, load(x->part + m) * factor);
    }
}

/* From scores to similarities, and their sum. */
static void query_similarities(struct query *x, size_t keys)
{
    vec max = splat(x->max), sum = splat(0);
    for (size_t t = 0; t < keys; t += LANES) {
        const vec s = load(x->s + t) * splat(x->sign);
        store(x->s + t, s);
        max = choose((s > max) & first_lanes(keys - t), s, max);
    }
    const real largest = largest_of(max);
    if (largest > x->max) query_rescale(x, largest);
    for (size_t t = 0; t < keys; t += LANES) {
        const vec s = exp_below((load(x->s + t) - splat(x->max)) * splat(x->gain));
        const vec ours = choose(first_lanes(keys - t), s, splat(0));
        store(x->s + t, ours);
        sum += ours;
    }
    store(x->den_part, load(x->den_part) + sum);
}

/* part += sum_t s_t v_t, for V vectors of columns or, with a tail, the last of them. Keys
 * with even and with odd numbers have sums of their own: a sum has to wait for the one
 * before it. */
INLINE void weigh_columns(const int V, const struct tail *tail, const struct query *x,
                          size_t key, size_t keys, size_t m)
{
    const size_t M = x->a->M;
    const real *v = (const real *)x->a->v + key * M + m;
    vec sums[2][COLUMNS];
    UNROLL
    for (int c = 0; c < V; c++) sums[0][c] = sums[1][c] = splat(0);
    for (size_t t = 0; t < keys; t += 2) UNROLL
    for (size_t odd = 0; odd < 2; odd++) {
        if (t + odd == keys) break;
        const vec s = splat(x->s[t + odd]);
        const real *v_t = v + (t + odd) * M;
        UNROLL
        for (int c = 0; c < V; c++)
            sums[odd][c] += s * (tail ? load_tail(tail, key + t + odd, v_t)
                                      : load(v_t + c * LANES));
    }
    UNROLL
    for (int c = 0; c < V; c++) {
        real *part = x->part + m + c * LANES;
        store(part, load(part) + (sums[0][c] + sums[1][c]));
    }
}

static void query_values(const struct query *x, size_t key, size_t keys)
{
    const size_t M = x->a->M;
    size_t m = 0;
    for (; m + COLUMNS * LANES <= M; m += COLUMNS * LANES)
        weigh_columns(COLUMNS, NULL, x, key, keys, m);
    for (; m + 2 * LANES <= M; m += 2 * LANES) weigh_columns(2, NULL, x, key, keys, m);
    for (; m + LANES <= M; m += LANES) weigh_columns(1, NULL, x, key, keys, m);
    if (m == M) return;
    const struct tail tail = tail_of(x->a->N, M, m);
    weigh_columns(1, &tail, x, key, keys, m);
}

static void query_close(const struct query *x)
{
    const struct tarn_attn *a = x->a;
    const real eps = a->eps > 0 ? (real)(a->eps * exp(-(double)(x->max * x->gain))) : 0;
    const real den = divisor(sum_of(load(x->den) + load(x->den_part))) + eps;
    for (size_t m = 0; m < a->M; m += LANES) {
        const vec sum = load(x->out + m) + load(x->part + m);
        const vec out = den == 0 ? splat(0) : sum / splat(den);
        store_some((real *)a->out + m, out, a->M - m < LANES ? a->M - m : LANES);
    }
}

/* The only query of a head against all the keys that it sees. */
static tarn_status average_query(const struct tarn_attn *a)
{
    struct query x = query_in(a->work, a);
    const size_t seen = a->causal && a->past + 1 < a->N ? a->past + 1 : a->N;
    for (size_t j = 0; j < seen; j += KEYS) {
        const size_t keys = seen - j < KEYS ? seen - j : KEYS;
        if (tarn_interrupted(a->ctx)) return TARN_EINTR;
        query_scores(&x, j, keys);
        query_similarities(&x, keys);
        query_values(&x, j, keys);
        if (j % STRETCH != STRETCH - KEYS) continue;
        carry(LANES, x.den_part, x.den);
        carry(whole_vectors(a->M), x.part, x.out);
    }
    query_close(&x);
    return TARN_OK;
}

#endif
