/* sim.c: stage 1 tuned: softmax and other similarities by tiles, without a matrix of weights.
 * Chapter 10; the equations are those of src/stages/sim.c, 2 and 3.
 *
 * Blocks of queries are independent of one another: they are what one head is split over
 * threads by, every `parts`-th to each, since later ones see more keys. A single query has a
 * way of its own (query.h). */
#include "fast/averages.h"
#include "fast/fast.h"
#include "fast/query.h"
#include "stages/flops.h"

static bool by_hand(const struct tarn_attn *a)
{
    return a->weights || a->by == TARN_PAIR; /* every pair is to be looked at */
}

/* Features of all rows, for the plain form: q, k, and what belongs to rows of q. */
static size_t features_size(const struct tarn_attn *a)
{
    return makes_features(a) ? (a->N_q + a->N) * a->C + 2 * a->N_q : 0;
}

static size_t sim_work(const struct tarn_attn *a)
{
    if (by_hand(a)) return features_size(a) + TYPED(tarn_sim).work(a);
    return averages_size(a);
}

/* A head whose features are made, as the plain form wants it. */
static struct tarn_attn with_features(const struct tarn_attn *a)
{
    struct tarn_attn b = *a;
    if (!makes_features(a)) return b;
    real *q = a->work, *k = q + a->N_q * a->C, *pivot = k + a->N * a->C,
         *eps = pivot + a->N_q;
    const struct tarn_phi_rows *rows = &TYPED(tarn_phi_rows);
    rows->apply_scaled(a->phi, a->N_q, a->C, a->q, a->eps, q, pivot, eps);
    rows->apply(a->phi, a->N, a->C, a->k, k);
    b.q = q;
    b.k = k;
    b.eps_row = eps;
    b.work = eps + a->N_q;
    return b;
}

/* out_i = num_i / den_i; 0 where no key reaches. */
static void close_block(const struct averages *g)
{
    const size_t M = g->M;
    for (size_t i = 0; i < g->b.n; i++) {
        real *out_i = (real *)g->b.a->out + (g->b.first + i) * M;
        const real den = den_of_row(g, i);
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

static tarn_status sim(struct tarn_attn *a)
{
    if (by_hand(a)) {
        struct tarn_attn b = with_features(a);
        return TYPED(tarn_sim).accurate(&b);
    }
    if (a->N_q == 1 && a->by == TARN_SOFTMAX) return average_query(a);
    struct averages g = averages_in(a->work, a);
    for (size_t i = a->part * QUERIES; i < a->N_q; i += a->parts * QUERIES) {
        if (average_block(&g, i)) return TARN_EINTR;
        close_block(&g);
    }
    return TARN_OK;
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
                                              .parts = sim_parts,
                                              .fused = true};
