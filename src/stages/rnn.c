/* rnn.c: stage 4, the same sums read as a recurrent cell. Chapter 5.
 *
 *     s_i = s_{i-1} + phi(k_i) v_i^T     z_i = z_{i-1} + phi(k_i)       (eqs 18, 19)
 *     out_i = phi(q_i)^T s_i / (phi(q_i)^T z_i + eps)                   (eq 20)
 *
 * Nothing new is computed: what was a sum over the past is now a state that is written
 * and then read. The state has a fixed size, so a token costs the same at any i. q and k
 * are features; N = 1 is a step. (W_Q, W_K, W_V, the residual and f of eq 20 belong to
 * the layer around the cell.) */
#include "stages/flops.h"
#include "stages/stages.h"
#include "stages/sums.h"

//> region rnn_step_naive
/* One token: write, then read, so that token i sees itself. */
static void step_naive(const struct tarn_attn *a, size_t i)
{
    const size_t C = a->C, M = a->M;
    const real *q_i = (const real *)a->q + i * C;
    const real *k_i = (const real *)a->k + i * C;
    const real *v_i = (const real *)a->v + i * M;
    real *out_i = (real *)a->out + i * M, *s = a->state->S, *z = a->state->z;

    for (size_t c = 0; c < C; c++) add_scaled(M, k_i[c], v_i, s + c * M);
    add_scaled(C, 1, k_i, z);

    real den = (real)a->eps;
    zeros(M, out_i);
    level_read(C, M, s, z, q_i, out_i, &den);
    divide(M, out_i, den, out_i);
}
//< region rnn_step_naive

//> region rnn_step
static void step(const struct tarn_attn *a, size_t i)
{
    const size_t C = a->C, M = a->M;
    const real *q_i = (const real *)a->q + i * C;
    const real *k_i = (const real *)a->k + i * C;
    const real *v_i = (const real *)a->v + i * M;
    real *out_i = (real *)a->out + i * M;

    sums_add(a->state, C, M, k_i, v_i, 1);
    real den = eps_of(a, i);
    zeros(M, out_i);
    sums_read(a->state, C, M, q_i, out_i, &den);
    divide(M, out_i, den, out_i);
}
//< region rnn_step

/* Polls between blocks of tokens, so that a single step is never left half-done. */
static tarn_status run(struct tarn_attn *a,
                       void (*step_i)(const struct tarn_attn *, size_t))
{
    for (size_t i = 0; i < a->N; i++) {
        if (i && i % TARN_BLOCK == 0 && tarn_interrupted(a->ctx)) return TARN_EINTR;
        step_i(a, i);
    }
    return TARN_OK;
}

static tarn_status rnn_naive(struct tarn_attn *a)
{
    sums_flush(a->state, a->C, a->M);
    return run(a, step_naive);
}
static tarn_status rnn_accurate(struct tarn_attn *a)
{
    return run(a, step);
}

static size_t no_work(const struct tarn_attn *a)
{
    (void)a;
    return 0;
}

const struct tarn_form TYPED(tarn_rnn) = {.naive = rnn_naive,
                                          .accurate = rnn_accurate,
                                          .work = no_work,
                                          .flops = tarn_causal_flops};
