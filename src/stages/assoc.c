/* assoc.c: stage 2, the product re-associated. Chapter 3.
 *
 *     (phi(Q) phi(K)^T) V = phi(Q) (phi(K)^T V)                        (eqs 4-6)
 *
 * With S = sum_j phi(k_j) v_j^T and z = sum_j phi(k_j), each query costs one product with
 * S, whatever N is: O(N C M) instead of O(N^2 M). The sums run over all keys, so this
 * form is not causal. q and k are features here: phi has been applied (stage 0). */
#include "stages/flops.h"
#include "stages/stages.h"
#include "stages/sums.h"

//> region assoc_naive
static tarn_status assoc_naive(struct tarn_attn *a)
{
    const size_t C = a->C, M = a->M;
    const real(*q)[C] = a->q, (*k)[C] = a->k, (*v)[M] = a->v;
    real(*out)[M] = a->out, *S = a->work, *z = S + C * M;

    /* Sum over the keys, once for all queries. */
    zeros(C * M + C, S);
    for (size_t j = 0; j < a->N; j++) {
        if (j % TARN_BLOCK == 0 && tarn_interrupted(a->ctx)) return TARN_EINTR;
        for (size_t c = 0; c < C; c++) add_scaled(M, k[j][c], v[j], S + c * M);
        add_scaled(C, 1, k[j], z);
    }
    /* Read for each query. */
    for (size_t i = 0; i < a->N_q; i++) {
        if (i % TARN_BLOCK == 0 && tarn_interrupted(a->ctx)) return TARN_EINTR;
        real den = (real)a->eps;
        zeros(M, out[i]);
        level_read(C, M, S, z, q[i], out[i], &den);
        divide(M, out[i], den, out[i]);
    }
    return TARN_OK;
}
//< region assoc_naive

//> region assoc_accurate
/* Sums over all keys in two levels; left in the totals. */
static tarn_status sum_keys(const struct tarn_attn *a, struct tarn_sums *s)
{
    const size_t C = a->C, M = a->M;
    const real(*k)[C] = a->k, (*v)[M] = a->v;
    for (size_t j = 0; j < a->N; j++) {
        if (s->count == 0 && tarn_interrupted(a->ctx)) return TARN_EINTR;
        sums_add(s, C, M, k[j], v[j], 1);
    }
    sums_flush(s, C, M);
    s->S_part = s->z_part = NULL;
    return TARN_OK;
}

static tarn_status assoc_accurate(struct tarn_attn *a)
{
    const size_t C = a->C, M = a->M;
    const real(*q)[C] = a->q;
    real(*out)[M] = a->out;
    struct tarn_sums s = sums_in(a->work, C, M);
    tarn_status status = sum_keys(a, &s);
    for (size_t i = 0; i < a->N_q && !status; i++) {
        if (i % TARN_BLOCK == 0 && tarn_interrupted(a->ctx)) return TARN_EINTR;
        real den = eps_of(a, i);
        zeros(M, out[i]);
        sums_read(&s, C, M, q[i], out[i], &den);
        divide(M, out[i], den, out[i]);
    }
    return status;
}
//< region assoc_accurate

static size_t assoc_work(const struct tarn_attn *a)
{
    return sums_size(a->C, a->M);
}

const struct tarn_form TYPED(tarn_assoc) = {.naive = assoc_naive,
                                            .accurate = assoc_accurate,
                                            .work = assoc_work,
                                            .flops = tarn_assoc_flops};

//> region assoc_grad
/* Eqs 13-15 without a mask, the denominator's path included: with
 * Gn_i = dout_i / den_i and gd_i = -(Gn_i . out_i), every key gets the same
 * R = sum_i phi(q_i) Gn_i^T and r = sum_i gd_i phi(q_i). */
static tarn_status grad_of_queries(const struct tarn_attn *a,
                                   const struct tarn_sums *all_keys,
                                   struct tarn_sums *R, real *out_i, real *Gn_i)
{
    const size_t C = a->C, M = a->M;
    const real(*q)[C] = a->q, (*dout)[M] = a->dout;
    real(*dq)[C] = a->dq;
    for (size_t i = 0; i < a->N_q; i++) {
        if (i % TARN_BLOCK == 0 && tarn_interrupted(a->ctx)) return TARN_EINTR;
        real den = eps_of(a, i);
        zeros(M, out_i);
        sums_read(all_keys, C, M, q[i], out_i, &den);
        divide(M, out_i, den, out_i);

        divide(M, dout[i], den, Gn_i);
        const real gd_i = -dot(M, Gn_i, out_i);
        query_grad(all_keys, C, M, den, Gn_i, gd_i, dq[i]);
        sums_add(R, C, M, q[i], Gn_i, gd_i);
    }
    sums_flush(R, C, M);
    R->S_part = R->z_part = NULL;
    return TARN_OK;
}

static tarn_status grad_of_all_keys(const struct tarn_attn *a,
                                    const struct tarn_sums *R)
{
    const size_t C = a->C, M = a->M;
    const real(*k)[C] = a->k, (*v)[M] = a->v;
    real(*dk)[C] = a->dk, (*dv)[M] = a->dv;
    for (size_t j = 0; j < a->N; j++) {
        if (j % TARN_BLOCK == 0 && tarn_interrupted(a->ctx)) return TARN_EINTR;
        real unused = 0;
        sums_apply(R, C, M, v[j], 1, dk[j]);
        zeros(M, dv[j]);
        sums_read(R, C, M, k[j], dv[j], &unused);
    }
    return TARN_OK;
}

static tarn_status assoc_grad(struct tarn_attn *a)
{
    const size_t C = a->C, M = a->M;
    real *work = a->work;
    struct tarn_sums s = sums_in(work, C, M);
    struct tarn_sums R = sums_in(work + sums_size(C, M), C, M);
    real *out_i = work + 2 * sums_size(C, M), *Gn_i = out_i + M;
    tarn_status status = sum_keys(a, &s);
    if (!status) status = grad_of_queries(a, &s, &R, out_i, Gn_i);
    if (!status) status = grad_of_all_keys(a, &R);
    return status;
}
//< region assoc_grad

static size_t assoc_grad_work(const struct tarn_attn *a)
{
    return 2 * sums_size(a->C, a->M) + 2 * a->M;
}

const struct tarn_form TYPED(tarn_assoc_grad) = {.naive = assoc_grad,
                                                 .accurate = assoc_grad,
                                                 .work = assoc_grad_work,
                                                 .flops = tarn_assoc_grad_flops};
