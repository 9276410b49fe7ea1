/* sim.c: stage 1, attention as a weighted average of values. Chapter 1.
 *
 *     out_i = sum_j sim(q_i, k_j) v_j / sum_j sim(q_i, k_j)            (eq 3)
 *
 * Any similarity will do; softmax is the choice sim = exp(q.k / sqrt(D)) (eq 2). Every
 * pair is visited, O(N^2). This is the only stage in which a weight of one key for one
 * query exists as a number that can be looked at. */
#include "stages/flops.h"
#include "stages/stages.h"
#include "stages/sums.h"
#include <float.h>

/* How many keys query i sees: itself and those before it, or all. */
static size_t keys_seen(const struct tarn_attn *a, size_t i)
{
    size_t n = a->past + i + 1;
    return a->causal && n < a->N ? n : a->N;
}

static real squared_distance(size_t D, const real *x, const real *y)
{
    real sum = 0;
    for (size_t c = 0; c < D; c++) sum += (x[c] - y[c]) * (x[c] - y[c]);
    return sum;
}

static bool has_exponent(const struct tarn_attn *a)
{
    return a->by == TARN_SOFTMAX || a->by == TARN_RBF;
}

/* The exponent of softmax and rbf, the similarity itself of the others. */
static tarn_status score(const struct tarn_attn *a, size_t i, size_t j, real *s)
{
    const size_t C = a->C;
    const real *q_i = (const real *)a->q + i * C, *k_j = (const real *)a->k + j * C;
    const real scale = (real)a->scale;
    double pair = 0;
    tarn_status status = TARN_OK;
    *s = 0; /* also if the user's function fails */
    switch (a->by) {
    case TARN_SOFTMAX:
    case TARN_PHI: *s = scale * dot(C, q_i, k_j); break;
    case TARN_RBF: *s = -scale * squared_distance(C, q_i, k_j) / 2; break;
    case TARN_PAIR:
        status = a->pair(a->pair_data, i, j, &pair);
        *s = scale * (real)pair;
        break;
    }
    return status;
}

/* Asks now and then whether to stop; between, asking would cost more than a pair. */
static bool stopped(const struct tarn_attn *a, size_t j)
{
    return j % TARN_BLOCK == 0 && tarn_interrupted(a->ctx);
}

//> region sim_naive
/* Eq 3 as it stands: for each query, one pass over the keys. */
static tarn_status sim_naive(struct tarn_attn *a)
{
    const size_t M = a->M;
    const real(*v)[M] = a->v;
    real(*out)[M] = a->out;
    for (size_t i = 0; i < a->N_q; i++) {
        real den = (real)a->eps;
        zeros(M, out[i]);
        for (size_t j = 0; j < keys_seen(a, i); j++) {
            if (stopped(a, j)) return TARN_EINTR;
            real s;
            tarn_status status = score(a, i, j, &s);
            if (status) return status;
            if (has_exponent(a)) s = exp(s);
            add_scaled(M, s, v[j], out[i]);
            den += s;
        }
        divide(M, out[i], den, out[i]);
    }
    return TARN_OK;
}
//< region sim_naive

/* ---- The accurate form --------------------------------------------------------------- */

/* The largest number there is. */
static real largest(void)
{
    return sizeof(real) == sizeof(float) ? (real)FLT_MAX : (real)DBL_MAX;
}

/* The largest of n scores, kept finite so that s - max is never Inf - Inf. */
static real largest_score(size_t n, const real *s)
{
    real max = -largest();
    for (size_t j = 0; j < n; j++)
        if (s[j] > max) max = s[j];
    return max;
}

//> region sim_row
/* Writes the similarities of query i to the keys it sees, and its eps. Those
 * that are an exp are divided by the largest, and so is eps: the quotient stays
 * what it was, and no exp overflows. */
static tarn_status similarities_of(const struct tarn_attn *a, size_t i, real *s,
                                   real *eps)
{
    const size_t n = keys_seen(a, i);
    for (size_t j = 0; j < n; j++) {
        if (stopped(a, j)) return TARN_EINTR;
        tarn_status status = score(a, i, j, &s[j]);
        if (status) return status;
    }
    *eps = eps_of(a, i);
    if (!has_exponent(a)) return TARN_OK;
    real max = largest_score(n, s);
    for (size_t j = 0; j < n; j++) s[j] = exp(s[j] - max);
    const double scaled = a->eps * exp(-(double)max);
    if (a->eps > 0) *eps = (real)fmin(scaled, (double)largest());
    return TARN_OK;
}
//< region sim_row

//> region weighted_sum
/* num = sum_j s_j v_j and den = sum_j s_j, in two levels: blocks of keys, then
 * their sums. */
static void totals_by_weight(size_t n, size_t M, const real *s, const real *v,
                             real *num, real *den, real *part)
{
    for (size_t start = 0; start < n; start += TARN_BLOCK) {
        size_t end = n - start < TARN_BLOCK ? n : start + TARN_BLOCK;
        real den_part = 0;
        zeros(M, part);
        for (size_t j = start; j < end; j++) {
            add_scaled(M, s[j], v + j * M, part);
            den_part += s[j];
        }
        add_scaled(M, 1, part, num);
        *den += den_part;
    }
}
//< region weighted_sum

/* One row of the average; leaves its similarities in s and its denominator in den. */
static tarn_status average(const struct tarn_attn *a, size_t i, real *s, real *part,
                           real *out_i, real *den)
{
    tarn_status status = similarities_of(a, i, s, den);
    if (status) return status;
    zeros(a->M, out_i);
    totals_by_weight(keys_seen(a, i), a->M, s, a->v, out_i, den, part);
    divide(a->M, out_i, *den, out_i);
    return TARN_OK;
}

/* What query i gives each key: 0 for those it does not see. */
static void write_weights(const struct tarn_attn *a, size_t i, const real *s, real den)
{
    real *w_i = (real *)a->weights + i * a->weights_stride;
    size_t n = keys_seen(a, i);
    zeros(a->weights_stride, w_i);
    divide(n, s, den, w_i);
}

static tarn_status sim_accurate(struct tarn_attn *a)
{
    const size_t M = a->M;
    real(*out)[M] = a->out;
    real *s = a->work, *part = s + a->N;
    for (size_t i = 0; i < a->N_q; i++) {
        real den;
        tarn_status status = average(a, i, s, part, out[i], &den);
        if (status) return status;
        if (a->weights) write_weights(a, i, s, den);
    }
    return TARN_OK;
}

static size_t sim_work(const struct tarn_attn *a)
{
    return a->N + a->M;
}

const struct tarn_form TYPED(tarn_sim) = {.naive = sim_naive,
                                          .accurate = sim_accurate,
                                          .work = sim_work,
                                          .flops = tarn_sim_flops};

/* ---- Gradient ------------------------------------------------------------------------- */

/* With Gn_i = dout_i / den_i and gd_i = -(Gn_i . out_i), similarity s_ij has
 * the gradient Gn_i . v_j + gd_i; from there it goes on to q_i and k_j. */
static void pair_grad(const struct tarn_attn *a, size_t i, size_t j, real s_ij,
                      real ds_ij, real *dq_i, real *dk_j)
{
    const size_t C = a->C;
    const real *q_i = (const real *)a->q + i * C;
    const real *k_j = (const real *)a->k + j * C;
    const real g = (real)a->scale * ds_ij * (has_exponent(a) ? s_ij : 1);
    if (a->by == TARN_RBF) {
        for (size_t c = 0; c < C; c++) {
            dq_i[c] += g * (k_j[c] - q_i[c]);
            dk_j[c] += g * (q_i[c] - k_j[c]);
        }
        return;
    }
    add_scaled(C, g, k_j, dq_i);
    add_scaled(C, g, q_i, dk_j);
}

/* Where the pieces of the gradient lie in scratch memory. */
struct sim_grad_work {
    real *s, *part, *out_i, *Gn_i;
    real *dk_part, *dv_part; /* [N, C], [N, M]: rows since the last flush */
};

static struct sim_grad_work sim_grad_layout(const struct tarn_attn *a)
{
    real *w = a->work;
    return (struct sim_grad_work){
        .s = w,
        .part = w + a->N,
        .out_i = w + a->N + a->M,
        .Gn_i = w + a->N + 2 * a->M,
        .dk_part = w + a->N + 3 * a->M,
        .dv_part = w + a->N + 3 * a->M + a->N * a->C,
    };
}

static size_t sim_grad_work(const struct tarn_attn *a)
{
    return a->N + 3 * a->M + a->N * (a->C + a->M);
}

static void sim_grad_flush(const struct tarn_attn *a, struct sim_grad_work w)
{
    add_scaled(a->N * a->C, 1, w.dk_part, a->dk);
    add_scaled(a->N * a->M, 1, w.dv_part, a->dv);
    zeros(a->N * (a->C + a->M), w.dk_part);
}

//> region sim_grad
/* One query: its row is made again, then each key gets its share. */
static tarn_status sim_grad_row(const struct tarn_attn *a, size_t i,
                                struct sim_grad_work w)
{
    const size_t M = a->M, C = a->C;
    const real *v = a->v;
    real den, *dq_i = (real *)a->dq + i * C;
    tarn_status status = average(a, i, w.s, w.part, w.out_i, &den);
    if (status || den == 0) return status;

    divide(M, (const real *)a->dout + i * M, den, w.Gn_i);
    const real gd_i = -dot(M, w.Gn_i, w.out_i);
    for (size_t j = 0; j < keys_seen(a, i); j++) {
        const real ds_ij = dot(M, w.Gn_i, v + j * M) + gd_i;
        pair_grad(a, i, j, w.s[j], ds_ij, dq_i, w.dk_part + j * C);
        add_scaled(M, w.s[j], w.Gn_i, w.dv_part + j * M);
    }
    return TARN_OK;
}
//< region sim_grad

static tarn_status sim_grad(struct tarn_attn *a)
{
    struct sim_grad_work w = sim_grad_layout(a);
    zeros(a->N_q * a->C, a->dq);
    zeros(a->N * a->C, a->dk);
    zeros(a->N * a->M, a->dv);
    zeros(a->N * (a->C + a->M), w.dk_part);
    for (size_t i = 0; i < a->N_q; i++) {
        tarn_status status = sim_grad_row(a, i, w);
        if (status) return status;
        if (i % TARN_BLOCK == TARN_BLOCK - 1) sim_grad_flush(a, w);
    }
    sim_grad_flush(a, w);
    return TARN_OK;
}

const struct tarn_form TYPED(tarn_sim_grad) = {.naive = sim_grad,
                                               .accurate = sim_grad,
                                               .work = sim_grad_work,
                                               .flops = tarn_sim_grad_flops};
