/* sim.c: stage 1 tuned: softmax and other similarities by tiles, without a matrix of weights.
 * Chapter 10; the equations are those of src/stages/sim.c, 2 and 3.
 *
 * A block of queries meets the keys block by block. What an exp is divided by, the largest
 * of its row, is that of the blocks so far; when a block raises it, the sums of that row
 * are multiplied by exp(old - new) once (the "online" softmax). So memory does not grow
 * with N, and each block of scores is used while it is in the cache.
 *
 * Sums have three levels: a block of keys in registers, STRETCH of them in partial sums,
 * and totals into which those are carried exactly.
 *
 * Blocks of queries are independent of one another: they are what one head is split over
 * threads by, every `parts`-th to each, since later ones see more keys. */
#include "fast/fast.h"
#include "fast/scores.h"
#include "stages/flops.h"

enum { STRETCH = 8 * KEYS };

/* The averages of a block of queries, as far as they have come. */
struct averages {
    struct scores b;
    size_t M;
    real *out, *out_part; /* [group][QUERIES][WIDTH] */
    real max[QUERIES], den[QUERIES], den_part[QUERIES];
};

static bool by_hand(const struct tarn_attn *a)
{
    return a->weights || a->by == TARN_PAIR; /* every pair is to be looked at */
}

static size_t sim_work(const struct tarn_attn *a)
{
    if (by_hand(a)) return TYPED(tarn_sim).work(a);
    return scores_size(a->C) + 2 * QUERIES * whole_groups(a->M);
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
/* Raises the largest scores of LANES queries to those of this block. Four are kept at a
 * time, for a comparison has to wait for the one before it. */
INLINE void raise_max(struct averages *g, size_t i, bool all)
{
    const vec old = load(g->max + i);
    const ivec last = last_visible(&g->b, i);
    vec max[4] = {old, old, old, old};
    for (size_t t = 0; t < g->b.keys; t += 4) UNROLL
    for (size_t r = 0; r < 4; r++) {
        const vec s = load(g->b.s + (t + r) * QUERIES + i);
        max[r] = choose(all ? s > max[r] : (s > max[r]) & sees(last, t + r), s, max[r]);
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

/* From scores to similarities, and their sum. An exp is that of a score less the largest,
 * so none is above 1. */
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

INLINE void similarities_of(struct averages *g, bool all, bool exponent)
{
    for (size_t i = 0; i < g->b.n; i += LANES) {
        if (exponent) raise_max(g, i, all);
        finish(g, i, all, exponent);
    }
}

static __attribute__((noinline)) void similarities(struct averages *g)
{
    const bool all = all_visible(&g->b);
    if (!has_exponent(g->b.a))
        similarities_of(g, all, false);
    else if (all)
        similarities_of(g, true, true);
    else
        similarities_of(g, false, true);
}

/* The values of a block of keys in one group of columns, and where they are added to. */
struct group {
    size_t columns;
    const real *v;
    ptrdiff_t v_stride;
    real *out_part;
};

/* out_part += s^T v from query i of the block and key j of it on, for as many of both. */
static __attribute__((noinline)) void weigh(const struct averages *g, struct group x,
                                            size_t i, size_t queries, size_t j,
                                            size_t keys)
{
    product(ADD, queries, x.columns, keys,
            (struct product){g->b.s + j * QUERIES + i, 1, QUERIES,
                             x.v + (ptrdiff_t)j * x.v_stride, x.v_stride,
                             x.out_part + i * WIDTH, WIDTH},
            NULL);
}

/* The same for ROWS queries which do not all see every key. A key that is not seen is left
 * out, not multiplied by 0: its value may be NaN. */
static void weigh_visible(const struct averages *g, struct group x, size_t i)
{
    const size_t all = keys_in_block(&g->b, i);
    weigh(g, x, i, ROWS, 0, all);
    for (size_t t = i + 1; t < i + ROWS && t < g->b.n; t++)
        weigh(g, x, t, 1, all, keys_in_block(&g->b, t) - all);
}

static void weigh_values(struct averages *g)
{
    const size_t M = g->M, queries = (g->b.n + ROWS - 1) / ROWS * ROWS;
    const real *v = (const real *)g->b.a->v + g->b.key * M;
    real copy[KEYS * WIDTH];
    for (size_t m = 0; m < M; m += WIDTH) {
        struct group x = {M - m, NULL, (ptrdiff_t)M, g->out_part + m * QUERIES};
        x.v = group_of(v + m, &x.v_stride, g->b.keys, x.columns, copy);
        if (all_visible(&g->b))
            weigh(g, x, 0, queries, 0, g->b.keys);
        else
            for (size_t i = 0; i < queries; i += ROWS) weigh_visible(g, x, i);
    }
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
    if (has_exponent(a))
        return a->eps > 0 ? (real)(a->eps * exp(-(double)(g->max[i] * g->b.gain[i])))
                          : 0;
    return a->eps_row ? ((const real *)a->eps_row)[g->b.first + i] : (real)a->eps;
}

static void close_block(const struct averages *g)
{
    const size_t M = g->M;
    for (size_t i = 0; i < g->b.n; i++) {
        real *out_i = (real *)g->b.a->out + (g->b.first + i) * M;
        const real den = g->den[i] + g->den_part[i] + eps_of_row(g, i);
        for (size_t m = 0; m < M; m += LANES) {
            const size_t at = m / WIDTH * WIDTH * QUERIES + i * WIDTH + m % WIDTH;
            const vec num = load(g->out + at) + load(g->out_part + at);
            const vec out = den == 0 ? splat(0) : num / splat(den);
            if (m + LANES <= M)
                store(out_i + m, out);
            else
                store_some(out_i + m, out, M - m);
        }
    }
}

static tarn_status average_block(struct averages *g, size_t first)
{
    open_block(g, first);
    const size_t seen = keys_seen(&g->b);
    for (size_t j = 0; j < seen; j += KEYS) {
        if (tarn_interrupted(g->b.a->ctx)) return TARN_EINTR;
        score_keys(&g->b, j, seen - j < KEYS ? seen - j : KEYS);
        similarities(g);
        weigh_values(g);
        if (j % STRETCH == STRETCH - KEYS) carry_sums(g);
    }
    close_block(g);
    return TARN_OK;
}

static tarn_status sim(struct tarn_attn *a)
{
    if (by_hand(a)) return TYPED(tarn_sim).accurate(a);
    struct averages g = {.b = scores_in(a->work, a), .M = a->M};
    g.out = (real *)a->work + scores_size(a->C);
    g.out_part = g.out + QUERIES * whole_groups(a->M);
    tarn_status status = TARN_OK;
    for (size_t i = a->part * QUERIES; i < a->N_q && !status; i += a->parts * QUERIES)
        status = average_block(&g, i);
    return status;
}

static tarn_status sim_naive(struct tarn_attn *a)
{
    return by_hand(a) ? TYPED(tarn_sim).naive(a) : sim(a);
}

static size_t sim_parts(const struct tarn_attn *a)
{
    return by_hand(a) ? 1 : (a->N_q + QUERIES - 1) / QUERIES;
}

const struct tarn_form FAST(tarn_fast_sim) = {.naive = sim_naive,
                                              .accurate = sim,
                                              .work = sim_work,
                                              .flops = tarn_sim_flops,
                                              .parts = sim_parts};
