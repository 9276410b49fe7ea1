/* averages.h: the averages of a block of queries over all keys. Internal; chapter 10.
 *
 * A block of queries meets the keys block by block. What an exp is divided by, the largest
 * of its row, is that of the blocks so far; when a block raises it, the sums of that row
 * are multiplied by exp(old - new) once (the "online" softmax). So memory does not grow
 * with N, and each block of scores is used while it is in the cache.
 *
 * Sums have three levels: a block of keys in registers, STRETCH of them in partial sums,
 * and totals into which those are carried exactly. */
#ifndef TARN_AVERAGES_H
#define TARN_AVERAGES_H

#include "fast/scores.h"

enum { STRETCH = 8 * KEYS };

/* The averages of a block of queries, as far as they have come. */
struct averages {
    struct scores b;
    size_t M;
    real *out, *out_part; /* [group][QUERIES][WIDTH] */
    real max[QUERIES], den[QUERIES], den_part[QUERIES];
};

static size_t averages_size(const struct tarn_attn *a)
{
    return scores_size(a) + 2 * QUERIES * whole_groups(a->M);
}

static struct averages averages_in(real *work, const struct tarn_attn *a)
{
    struct averages g = {.b = scores_in(work, a), .M = a->M};
    g.out = work + scores_size(a);
    g.out_part = g.out + QUERIES * whole_groups(a->M);
    return g;
}

static void open_block(struct averages *g, size_t first)
{
    const size_t left = g->b.a->N_q - first;
    take_queries(&g->b, first, left < QUERIES ? left : QUERIES);
    memset(g->out, 0, 2 * QUERIES * whole_groups(g->M) * sizeof(real));
    memset(g->den, 0, sizeof g->den);
    memset(g->den_part, 0, sizeof g->den_part);
    for (size_t i = 0; i < QUERIES; i++) g->max[i] = lowest;
}

/* Multiplies the sums of query i. */
static void rescale(struct averages *g, size_t i, real factor)
{
    g->den[i] *= factor;
    g->den_part[i] *= factor;
    for (size_t m = 0; m < g->M; m += WIDTH)
        for (size_t c = 0; c < WIDTH; c += LANES) {
            const size_t at = (m * QUERIES) + i * WIDTH + c;
            store(g->out + at, load(g->out + at) * splat(factor));
            store(g->out_part + at, load(g->out_part + at) * splat(factor));
        }
}

//> region fast_online
/* Raises the largest scores of LANES queries to those of this block. Four are
 * kept at a time, for a comparison has to wait for the one before it. */
INLINE void raise_max(struct averages *g, size_t i, bool all)
{
    const vec old = load(g->max + i);
    const ivec last = last_visible(&g->b, i);
    vec max[4] = {old, old, old, old};
    for (size_t t = 0; t < g->b.keys; t += 4) UNROLL
    for (size_t r = 0; r < 4; r++) {
        const vec s = load(g->b.s + (t + r) * QUERIES + i);
        const ivec more = all ? s > max[r] : (s > max[r]) & sees(last, t + r);
        max[r] = choose(more, s, max[r]);
    }
    max[0] = choose(max[1] > max[0], max[1], max[0]);
    max[2] = choose(max[3] > max[2], max[3], max[2]);
    max[0] = choose(max[2] > max[0], max[2], max[0]);
    store(g->max + i, max[0]);
    real factor[LANES];
    store(factor, exp_below((old - max[0]) * load(g->b.gain + i)));
    for (size_t lane = 0; lane < LANES; lane++)
        if (factor[lane] != 1) rescale(g, i + lane, factor[lane]);
}

/* From scores to similarities, and their sum. An exp is that of a score less
 * the largest, so none is above 1. */
INLINE void finish(struct averages *g, size_t i, bool all, bool exponent)
{
    const vec max = load(g->max + i), gain = load(g->b.gain + i);
    const ivec last = last_visible(&g->b, i);
    vec sum = splat(0);
    for (size_t t = 0; t < g->b.keys; t++) {
        real *to = g->b.s + t * QUERIES + i;
        vec s = load(to);
        if (exponent) s = exp_below((s - max) * gain);
        if (!all) s = choose(sees(last, t), s, splat(0));
        if (exponent || !all) store(to, s);
        sum += s;
    }
    store(g->den_part + i, load(g->den_part + i) + sum);
}
//< region fast_online

INLINE void similarities_of(struct averages *g, bool raise, bool all, bool exponent)
{
    for (size_t i = 0; i < g->b.n; i += LANES) {
        if (exponent && raise) raise_max(g, i, all);
        finish(g, i, all, exponent);
    }
}

/* The similarities of the block; without `raise` the largest scores are final. */
static __attribute__((noinline)) void similarities(struct averages *g, bool raise)
{
    const bool all = all_visible(&g->b);
    if (!has_exponent(g->b.a))
        similarities_of(g, raise, all, false);
    else if (all)
        similarities_of(g, raise, true, true);
    else
        similarities_of(g, raise, false, true);
}

static void weigh_values(struct averages *g)
{
    const real *v = (const real *)g->b.a->v + g->b.key * g->M;
    weigh_rows(&g->b, g->b.s, v, g->M, g->M, NULL, g->out_part);
}

static void carry_sums(struct averages *g)
{
    carry(QUERIES, g->den_part, g->den);
    carry(QUERIES * whole_groups(g->M), g->out_part, g->out);
}

/* Eps of query i under the scale of its similarities. */
static real eps_of_row(const struct averages *g, size_t i)
{
    const struct tarn_attn *a = g->b.a;
    if (!has_exponent(a)) return g->b.eps[i];
    return a->eps > 0 ? (real)(a->eps * exp(-(double)(g->max[i] * g->b.gain[i]))) : 0;
}

/* The denominator of query i, once all keys have been met. */
static real den_of_row(const struct averages *g, size_t i)
{
    return divisor(g->den[i] + g->den_part[i]) + eps_of_row(g, i);
}

/* The sums of the queries from `first` on over all the keys that they see. */
static tarn_status average_block(struct averages *g, size_t first)
{
    open_block(g, first);
    const size_t seen = keys_seen(&g->b);
    for (size_t j = 0; j < seen; j += KEYS) {
        if (tarn_interrupted(g->b.a->ctx)) return TARN_EINTR;
        score_keys(&g->b, j, seen - j < KEYS ? seen - j : KEYS);
        similarities(g, true);
        weigh_values(g);
        if (j % STRETCH == STRETCH - KEYS) carry_sums(g);
    }
    return TARN_OK;
}

#endif
