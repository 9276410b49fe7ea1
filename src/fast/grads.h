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

/* Gn for n queries from i on; zeros for a row whose den is 0. dout is asked for so many
 * entries ahead: 0 where the tiles do that. */
static void make_Gn(const struct features *f, const struct tarn_attn *a, size_t i,
                    size_t n, ptrdiff_t ahead, real *Gn, size_t stride)
{
    const size_t M = a->M;
    const real *dout = (const real *)a->dout + i * M;
    for (size_t t = 0; t < n; t++, dout += M, Gn += stride) {
        const vec scale = splat(f->scale[t]);
        size_t m = 0;
        for (; m + LANES <= M; m += LANES) {
            __builtin_prefetch(dout + (ptrdiff_t)m + ahead, 0, 3);
            store(Gn + m, load(dout + m) * scale);
        }
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

/* Rows [n, C] of x, whose features f have the gradients df; to dx, which is asked for so many
 * entries ahead. Rows of f and of df are padded. */
struct way_back {
    size_t n, C;
    const real *x, *f, *df;
    size_t df_stride;
    real *dx;
    ptrdiff_t ahead;
};

/* False if something that is not finite comes out. */
INLINE bool chain_rows_of(int id, struct way_back w)
{
    const size_t padded = whole_vectors(w.C);
    ivec lost = {0};
    for (size_t t = 0; t < w.n; t++) {
        size_t c = 0;
        for (; c + LANES <= w.C; c += LANES) {
            const vec dx = chain(id, load(w.x + c), load(w.f + c), load(w.df + c));
            __builtin_prefetch(w.dx + (ptrdiff_t)c + w.ahead, 1, 3);
            store(w.dx + c, dx);
            lost |= not_finite(dx);
        }
        if (c < w.C) {
            const vec x = load_some(w.x + c, w.C - c);
            const vec dx = chain(id, x, load(w.f + c), load(w.df + c));
            store_some(w.dx + c, dx, w.C - c);
            lost |= not_finite(dx) & first_lanes(w.C - c);
        }
        w.x += w.C;
        w.dx += w.C;
        w.f += padded;
        w.df += w.df_stride;
    }
    return !any_of(lost);
}

static __attribute__((noinline)) bool chain_rows(int id, struct way_back w)
{
    switch (id) {
    case TARN_PHI_ELU1: return chain_rows_of(TARN_PHI_ELU1, w);
    case TARN_PHI_RELU: return chain_rows_of(TARN_PHI_RELU, w);
    case TARN_PHI_RELU2: return chain_rows_of(TARN_PHI_RELU2, w);
    case TARN_PHI_EXP: return chain_rows_of(TARN_PHI_EXP, w);
    case TARN_PHI_SOFTPLUS: return chain_rows_of(TARN_PHI_SOFTPLUS, w);
    default: return chain_rows_of(TARN_PHI_IDENTITY, w);
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

/* dq of n queries from i on; false if it is not finite. */
static bool query_rows(struct features *f, const struct tarn_attn *a, size_t i,
                       size_t n, real *df, size_t stride)
{
    const size_t C = a->C;
    real *dq = (real *)a->dq + i * C;
    const bool finite =
        chain_rows(a->phi, (struct way_back){n, C, (const real *)a->q + i * C, f->q, df,
                                             stride, dq, AHEAD});
    if (!f->any_rare) return finite;
    for (size_t t = 0; t < n; t++)
        if (is_rare(f, t)) rare_row(f, a, i + t, t, df + t * stride);
    return finite_rows(n, C, dq, (ptrdiff_t)C);
}

/* dk of n keys from j on; false if it is not finite. */
static bool key_rows(const struct features *f, const struct tarn_attn *a, size_t j,
                     size_t n, const real *df, size_t stride, ptrdiff_t ahead)
{
    const size_t C = a->C;
    return chain_rows(a->phi,
                      (struct way_back){n, C, (const real *)a->k + j * C, f->k, df,
                                        stride, (real *)a->dk + j * C, ahead});
}

#endif
