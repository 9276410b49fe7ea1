/* prefix_grad.c: the gradient of stage 3 in linear time and constant state. Chapter 7.
 *
 * Autograd would keep every S_i, N C M numbers. The paper's eqs 13-15 need two sweeps with
 * one running state each: forwards S_i for the queries, backwards
 *
 *     R_i = sum_{j>=i} phi(q_j) Gn_j^T      r_i = sum_{j>=i} gd_j phi(q_j)
 *
 * for keys and values. The paper leaves the denominator den_i to autograd; here it is
 * part of the formulas: Gn_i = dout_i / den_i, gd_i = -(Gn_i . out_i). A gradient that
 * arrives at the final state is where R starts; where it ends is the gradient of the
 * initial state. */
#include "stages/flops.h"
#include "stages/stages.h"
#include "stages/sums.h"

/* Where the pieces lie in scratch memory. */
struct work {
    struct tarn_sums S, R;
    real *Gn, *gd, *out_i; /* [N, M], [N], [M] */
};

static size_t prefix_grad_work(const struct tarn_attn *a)
{
    return 2 * sums_size(a->C, a->M) + a->N * a->M + a->N + a->M;
}

/* Lays scratch memory out; S begins as a copy of the initial state, R as dstate. */
static struct work lay_out(const struct tarn_attn *a)
{
    const size_t C = a->C, M = a->M;
    real *w = a->work;
    struct work work = {.S = sums_in(w, C, M),
                        .R = sums_in(w + sums_size(C, M), C, M),
                        .Gn = w + 2 * sums_size(C, M)};
    work.gd = work.Gn + a->N * M;
    work.out_i = work.gd + a->N;
    add_scaled(C * M, 1, a->state->S, work.S.S);
    add_scaled(C, 1, a->state->z, work.S.z);
    add_scaled(C * M, 1, a->state->S_part, work.S.S_part);
    add_scaled(C, 1, a->state->z_part, work.S.z_part);
    work.S.count = a->state->count;
    if (a->dS) add_scaled(C * M, 1, a->dS, work.R.S);
    if (a->dz) add_scaled(C, 1, a->dz, work.R.z);
    return work;
}

/* With `plain` the partial sums are emptied at every token: one running sum, which is
 * what precision "fast" means. */
static void add_token(struct tarn_sums *s, size_t C, size_t M, const real *f,
                      const real *v, real w, bool plain)
{
    sums_add(s, C, M, f, v, w);
    if (!plain || s->count == 0) return;
    sums_flush(s, C, M);
    zeros(C * M, s->S_part);
    zeros(C, s->z_part);
}

//> region prefix_grad_forward
/* Forwards: dphi(q_i) = S_i Gn_i + gd_i z_i (eq 13 and the denominator). */
static tarn_status forwards(struct tarn_attn *a, struct work *w, bool plain)
{
    const size_t C = a->C, M = a->M;
    const real(*q)[C] = a->q, (*k)[C] = a->k;
    const real(*v)[M] = a->v, (*dout)[M] = a->dout;
    real(*dq)[C] = a->dq, (*Gn)[M] = (void *)w->Gn;
    for (size_t i = 0; i < a->N; i++) {
        if (i % TARN_BLOCK == 0 && tarn_interrupted(a->ctx)) return TARN_EINTR;
        add_token(&w->S, C, M, k[i], v[i], 1, plain);
        real den = eps_of(a, i);
        zeros(M, w->out_i);
        sums_read(&w->S, C, M, q[i], w->out_i, &den);
        divide(M, w->out_i, den, w->out_i);

        divide(M, dout[i], den, Gn[i]);
        w->gd[i] = -dot(M, Gn[i], w->out_i);
        query_grad(&w->S, C, M, den, Gn[i], w->gd[i], dq[i]);
    }
    return TARN_OK;
}
//< region prefix_grad_forward

//> region prefix_grad_backward
/* Backwards: dphi(k_i) = R_i v_i + r_i, dv_i = R_i^T phi(k_i) (eqs 14, 15). */
static tarn_status backwards(struct tarn_attn *a, struct work *w, bool plain)
{
    const size_t C = a->C, M = a->M;
    const real(*q)[C] = a->q, (*k)[C] = a->k, (*v)[M] = a->v;
    const real(*Gn)[M] = (const void *)w->Gn;
    real(*dk)[C] = a->dk, (*dv)[M] = a->dv;
    for (size_t i = a->N; i-- > 0;) {
        if (i % TARN_BLOCK == 0 && tarn_interrupted(a->ctx)) return TARN_EINTR;
        add_token(&w->R, C, M, q[i], Gn[i], w->gd[i], plain);
        real unused = 0;
        sums_apply(&w->R, C, M, v[i], 1, dk[i]);
        zeros(M, dv[i]);
        sums_read(&w->R, C, M, k[i], dv[i], &unused);
    }
    return TARN_OK;
}
//< region prefix_grad_backward

/* dstate0 is R after its last step: every query reads the initial state. */
static void write_state_grad(struct tarn_attn *a, struct work *w)
{
    const size_t C = a->C, M = a->M;
    if (!a->dS0) return;
    sums_flush(&w->R, C, M);
    zeros(C * M, a->dS0);
    zeros(C, a->dz0);
    add_scaled(C * M, 1, w->R.S, a->dS0);
    add_scaled(C, 1, w->R.z, a->dz0);
}

static tarn_status prefix_grad(struct tarn_attn *a, bool plain)
{
    struct work w = lay_out(a);
    tarn_status status = forwards(a, &w, plain);
    if (!status) status = backwards(a, &w, plain);
    if (!status) write_state_grad(a, &w);
    return status;
}

static tarn_status prefix_grad_naive(struct tarn_attn *a)
{
    return prefix_grad(a, true);
}
static tarn_status prefix_grad_accurate(struct tarn_attn *a)
{
    return prefix_grad(a, false);
}

const struct tarn_form TYPED(tarn_prefix_grad) = {.naive = prefix_grad_naive,
                                                  .accurate = prefix_grad_accurate,
                                                  .work = prefix_grad_work,
                                                  .flops = tarn_causal_grad_flops};
