/* flops.h: the arithmetic that a form cannot do without, for one head. Internal.
 *
 * Counted are the multiplications and additions of the sums alone; phi, denominators and
 * divisions count as nothing. The count is that of the form, the same for every
 * implementation of it, so that their speeds can be compared: an implementation that does
 * more than it must is slower for it. */
#ifndef TARN_FLOPS_H
#define TARN_FLOPS_H

#include "stages/attn.h"

/* Pairs of a query and a key that it sees. */
static inline double tarn_pairs(const struct tarn_attn *a)
{
    const double N_q = (double)a->N_q, N = (double)a->N;
    return a->causal ? N_q * (double)a->past + N_q * (N_q + 1) / 2 : N_q * N;
}

/* Eq 3: a pair costs q_i . k_j and s_ij v_j. */
static inline double tarn_sim_flops(const struct tarn_attn *a)
{
    return tarn_pairs(a) * 2 * (double)(a->C + a->M);
}

/* Its gradient: q_i . k_j again, Gn_i . v_j, and what goes on to q_i, k_j and v_j. */
static inline double tarn_sim_grad_flops(const struct tarn_attn *a)
{
    return tarn_pairs(a) * 2 * (double)(3 * a->C + 2 * a->M);
}

static inline double state_size(const struct tarn_attn *a)
{
    return (double)a->C * (double)a->M;
}

/* Eqs 5-6: a key adds to S once, a query reads it once. */
static inline double tarn_assoc_flops(const struct tarn_attn *a)
{
    return 2 * (double)(a->N + a->N_q) * state_size(a);
}

/* Its gradient: S again; a query reads S and adds to R, a key reads R twice. */
static inline double tarn_assoc_grad_flops(const struct tarn_attn *a)
{
    return 2 * (double)(3 * a->N + 2 * a->N_q) * state_size(a);
}

/* Eqs 9-12 and 18-20: a token adds to S and reads it. */
static inline double tarn_causal_flops(const struct tarn_attn *a)
{
    return 4 * (double)a->N * state_size(a);
}

/* Eqs 13-15: S again and its product with dout; R, and its products for k and v. */
static inline double tarn_causal_grad_flops(const struct tarn_attn *a)
{
    return 10 * (double)a->N * state_size(a);
}

#endif
