/* grads.h: what the gradients of linear attention do with the rows of a block. Internal;
 * chapters 7 and 10.
 *
 *     Gn_i = dout_i / den_i     u_i = S Gn_i     gd_i = -(Gn_i . out_i) = -(phi(q_i) . u_i) / den_i
 *
 * and the way back through phi, dx = phi'(x) df. Rows of Gn and of df are padded; their
 * stride is the caller's. */
#ifndef TARN_FAST_GRADS_H
#define TARN_FAST_GRADS_H

#include "fast/features.h"

/* What a kernel multiplies rows by that are divided already. */
static const real ones[BLOCK] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

static inline bool is_rare(const struct features *f, size_t t)
{
    return f->den[t] != 0 || f->scale[t] == 0;
}

/* Gn for n queries from i on; zeros for a row whose den is 0. */
static void make_Gn(const struct features *f, const struct tarn_attn *a, size_t i,
                    size_t n, real *Gn, size_t stride)
{
    const size_t M = a->M;
    const real *dout = (const real *)a->dout + i * M;
    for (size_t t = 0; t < n; t++, dout += M, Gn += stride) {
        const vec scale = splat(f->scale[t]);
        size_t m = 0;
        for (; m + LANES <= M; m += LANES) store(Gn + m, load(dout + m) * scale);
        if (m < M) store(Gn + m, load_some(dout + m, M - m) * scale);
        if (!is_rare(f, t)) continue;
        for (m = 0; m < M; m++) Gn[m] = f->den[t] == 0 ? 0 : dout[m] / f->den[t];
    }
}

/* gd of each row, from u = S Gn. */
static void make_gd(const struct features *f, size_t n, const real *u, size_t stride,
                    real *gd)
{
    for (size_t t = 0; t < n; t++, u += stride) {
        const real *q_t = f->q + t * f->padded;
        vec sum = splat(0);
        for (size_t c = 0; c < f->padded; c += LANES)
            sum += load(q_t + c) * load(u + c);
        const real product = sum_of(sum);
        gd[t] = -product * f->scale[t];
        if (f->den[t] != 0) gd[t] = -product / f->den[t];
    }
}

/* ---- Back through phi --------------------------------------------------------------------- */

/* slope * df, where a slope of 0 stops even a df that has overflowed. */
INLINE vec chain(int id, vec x, vec f, vec df)
{
    const vec s = slope(id, x, f);
    return choose(s == splat(0), splat(0), s * df);
}

INLINE void chain_rows_of(int id, size_t n, size_t C, const real *x, const real *f,
                          const real *df, size_t stride, real *dx)
{
    const size_t padded = whole_vectors(C);
    for (size_t t = 0; t < n; t++, x += C, dx += C, f += padded, df += stride) {
        size_t c = 0;
        for (; c + LANES <= C; c += LANES)
            store(dx + c, chain(id, load(x + c), load(f + c), load(df + c)));
        if (c == C) continue;
        const vec rest = load_some(x + c, C - c);
        store_some(dx + c, chain(id, rest, load(f + c), load(df + c)), C - c);
    }
}

/* From gradients df of features [n, C] to those of x [n, C]; f are the features. */
static __attribute__((noinline)) void chain_rows(int id, size_t n, size_t C,
                                                 const real *x, const real *f,
                                                 const real *df, size_t stride,
                                                 real *dx)
{
    enum { ELU1 = TARN_PHI_ELU1, SOFTPLUS = TARN_PHI_SOFTPLUS };
    switch (id) {
    case ELU1: chain_rows_of(ELU1, n, C, x, f, df, stride, dx); break;
    case TARN_PHI_RELU: chain_rows_of(TARN_PHI_RELU, n, C, x, f, df, stride, dx); break;
    case TARN_PHI_RELU2:
        chain_rows_of(TARN_PHI_RELU2, n, C, x, f, df, stride, dx);
        break;
    case TARN_PHI_EXP: chain_rows_of(TARN_PHI_EXP, n, C, x, f, df, stride, dx); break;
    case SOFTPLUS: chain_rows_of(SOFTPLUS, n, C, x, f, df, stride, dx); break;
    default: chain_rows_of(TARN_PHI_IDENTITY, n, C, x, f, df, stride, dx); break;
    }
}

/* A rare row's features under its scale, and its pivot, as src/stages/phi.c has them. */
static real rare_features(const struct tarn_attn *a, size_t i, real *q_t)
{
    real pivot, eps_row;
    TYPED(tarn_phi_rows)
        .apply_scaled(a->phi, 1, a->C, (const real *)a->q + i * a->C, a->eps, q_t,
                      &pivot, &eps_row);
    return pivot;
}

/* A rare row is led back through phi under its scale; a dead one has no gradient. */
static void rare_row(struct features *f, const struct tarn_attn *a, size_t i, size_t t,
                     real *df)
{
    const real *q_i = (const real *)a->q + i * a->C;
    real *dq_i = (real *)a->dq + i * a->C;
    if (f->den[t] == 0) memset(df, 0, a->C * sizeof(real));
    if (a->phi == TARN_PHI_NONE) {
        memcpy(dq_i, df, a->C * sizeof(real));
        return;
    }
    const real pivot = rare_features(a, i, f->q + t * f->padded);
    TYPED(tarn_phi_rows).grad_scaled(a->phi, 1, a->C, q_i, &pivot, df, dq_i);
}

/* dq of n queries from i on. */
static void query_rows(struct features *f, const struct tarn_attn *a, size_t i,
                       size_t n, real *df, size_t stride)
{
    chain_rows(a->phi, n, a->C, (const real *)a->q + i * a->C, f->q, df, stride,
               (real *)a->dq + i * a->C);
    for (size_t t = 0; t < n && f->any_rare; t++)
        if (is_rare(f, t)) rare_row(f, a, i + t, t, df + t * stride);
}

/* dk of n keys from j on. */
static void key_rows(const struct features *f, const struct tarn_attn *a, size_t j,
                     size_t n, const real *df, size_t stride)
{
    chain_rows(a->phi, n, a->C, (const real *)a->k + j * a->C, f->k, df, stride,
               (real *)a->dk + j * a->C);
}

#endif
