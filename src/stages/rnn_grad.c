/* rnn_grad.c: backpropagation through time for the cell of rnn.c. Chapter 7.
 *
 * The cell is treated as any recurrent network would be: to go back through token i one
 * needs the state s_i that it read. Keeping all of them takes N C M numbers; here one in
 * T = sqrt(N) is kept, and the others are computed again, T at a time, on the way back:
 * 2 sqrt(N) states of memory for one more forward pass. (prefix_grad.c needs one state;
 * it can, because this recurrence only ever adds.) */
#include "stages/flops.h"
#include "stages/stages.h"
#include "stages/sums.h"

/* Tokens in a segment: the least T with T * T >= N. */
static size_t segment_length(size_t N)
{
    size_t T = 1;
    while (T * T < N) T++;
    return T;
}

/* Where the pieces lie in scratch memory. A slot is a state of two levels. */
struct work {
    size_t T, segments;
    real *checkpoints,
        *states;         /* slots: one a segment, then one a token of a segment */
    struct tarn_sums ds; /* gradient of the state, going back */
    real *out_i, *Gn_i;
};

static size_t rnn_grad_work(const struct tarn_attn *a)
{
    const size_t T = segment_length(a->N);
    return (2 * T + 1) * sums_size(a->C, a->M) + 2 * a->M;
}

static struct work lay_out(const struct tarn_attn *a)
{
    const size_t C = a->C, M = a->M, slot = sums_size(C, M);
    struct work w = {.T = segment_length(a->N), .checkpoints = a->work};
    w.segments = (a->N + w.T - 1) / w.T;
    w.states = w.checkpoints + w.T * slot;
    w.ds = sums_in(w.states + w.T * slot, C, M);
    w.out_i = w.states + (w.T + 1) * slot;
    w.Gn_i = w.out_i + M;
    if (a->dS) add_scaled(C * M, 1, a->dS, w.ds.S);
    if (a->dz) add_scaled(C, 1, a->dz, w.ds.z);
    return w;
}

/* Copies both levels of a state into a slot and gives a handle on the copy. */
static struct tarn_sums keep(const struct tarn_sums *s, real *slot, size_t C, size_t M)
{
    struct tarn_sums copy = sums_in(slot, C, M);
    add_scaled(C * M, 1, s->S, copy.S);
    add_scaled(C, 1, s->z, copy.z);
    add_scaled(C * M, 1, s->S_part, copy.S_part);
    add_scaled(C, 1, s->z_part, copy.z_part);
    copy.count = s->count;
    return copy;
}

static void write_token(const struct tarn_attn *a, struct tarn_sums *s, size_t i)
{
    sums_add(s, a->C, a->M, (const real *)a->k + i * a->C,
             (const real *)a->v + i * a->M, 1);
}

//> region rnn_grad_checkpoints
/* Forwards once, keeping the state at the start of each segment. The count of a
 * kept state is not stored: it is that of the initial state, i tokens later. */
static tarn_status keep_checkpoints(const struct tarn_attn *a, struct work *w)
{
    const size_t C = a->C, M = a->M, slot = sums_size(C, M);
    struct tarn_sums s = keep(a->state, w->states, C, M);
    for (size_t i = 0; i < a->N; i++) {
        if (i % TARN_BLOCK == 0 && tarn_interrupted(a->ctx)) return TARN_EINTR;
        if (i % w->T == 0) keep(&s, w->checkpoints + i / w->T * slot, C, M);
        write_token(a, &s, i);
    }
    return TARN_OK;
}
//< region rnn_grad_checkpoints

/* The handle on slot n of `slots`, whose state has seen i tokens of the sequence. */
static struct tarn_sums slot_at(const struct tarn_attn *a, real *slots, size_t n,
                                size_t i)
{
    const size_t C = a->C, M = a->M;
    real *S = slots + n * sums_size(C, M);
    return (struct tarn_sums){.S = S,
                              .z = S + C * M,
                              .S_part = S + C * M + C,
                              .z_part = S + 2 * C * M + C,
                              .count = (a->state->count + i) % TARN_BLOCK};
}

//> region rnn_grad_segment
/* The states after each token of a segment, made again from its checkpoint. */
static void replay(const struct tarn_attn *a, struct work *w, size_t segment)
{
    const size_t first = segment * w->T, slot = sums_size(a->C, a->M);
    struct tarn_sums s = slot_at(a, w->checkpoints, segment, first);
    for (size_t i = first; i < a->N && i < first + w->T; i++) {
        write_token(a, &s, i);
        keep(&s, w->states + (i - first) * slot, a->C, a->M);
    }
}

/* Back through token i, given the state it read. Its gradient is ds from the
 * tokens after it, and q_i Gn_i^T from its own reading; it was s_{i-1} plus
 * k_i v_i^T, so ds goes on to both unchanged. */
static void back_through(struct tarn_attn *a, struct work *w,
                         const struct tarn_sums *s_i, size_t i)
{
    const size_t C = a->C, M = a->M;
    const real *q_i = (const real *)a->q + i * C;
    const real *k_i = (const real *)a->k + i * C;
    const real *v_i = (const real *)a->v + i * M;
    const real *dout_i = (const real *)a->dout + i * M;
    real *dv_i = (real *)a->dv + i * M, den = eps_of(a, i), unused = 0;

    zeros(M, w->out_i);
    sums_read(s_i, C, M, q_i, w->out_i, &den);
    divide(M, w->out_i, den, w->out_i);
    divide(M, dout_i, den, w->Gn_i);
    const real gd_i = -dot(M, w->Gn_i, w->out_i);
    query_grad(s_i, C, M, den, w->Gn_i, gd_i, (real *)a->dq + i * C);

    sums_add(&w->ds, C, M, q_i, w->Gn_i, gd_i);
    sums_apply(&w->ds, C, M, v_i, 1, (real *)a->dk + i * C);
    zeros(M, dv_i);
    sums_read(&w->ds, C, M, k_i, dv_i, &unused);
}
//< region rnn_grad_segment

static tarn_status rnn_grad(struct tarn_attn *a)
{
    struct work w = lay_out(a);
    tarn_status status = keep_checkpoints(a, &w);
    if (status) return status;
    for (size_t i = a->N; i-- > 0;) {
        if (i % TARN_BLOCK == 0 && tarn_interrupted(a->ctx)) return TARN_EINTR;
        if (i == a->N - 1 || i % w.T == w.T - 1) replay(a, &w, i / w.T);
        struct tarn_sums s_i = slot_at(a, w.states, i % w.T, i + 1);
        back_through(a, &w, &s_i, i);
    }
    if (a->dS0) {
        const size_t C = a->C, M = a->M;
        sums_flush(&w.ds, C, M);
        zeros(C * M, a->dS0);
        zeros(C, a->dz0);
        add_scaled(C * M, 1, w.ds.S, a->dS0);
        add_scaled(C, 1, w.ds.z, a->dz0);
    }
    return TARN_OK;
}

const struct tarn_form TYPED(tarn_rnn_grad) = {.naive = rnn_grad,
                                               .accurate = rnn_grad,
                                               .work = rnn_grad_work,
                                               .flops = tarn_causal_grad_flops};
