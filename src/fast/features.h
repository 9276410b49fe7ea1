/* features.h: a block of tokens prepared for the kernel: features and denominators.
 * Internal; chapter 10.
 *
 * Features are unscaled as long as a row's denominator is of an ordinary size, which nearly
 * all are: then nothing in its sums has been lost. A row whose denominator is not is made
 * again, divided by its largest feature (src/stages/phi.c says why that changes nothing),
 * and divided by its denominator at the end, not multiplied by the inverse. */
#ifndef TARN_FEATURES_H
#define TARN_FEATURES_H

#include "fast/blocks.h"
#include "fast/phi.h"
#include "stages/attn.h"

/* The features of a block, rows of `C` padded to whole vectors, and what divides each row. */
struct features {
    size_t C, padded;
    real *q, *k;       /* [BLOCK, padded] */
    real *z, *z_part;  /* [padded] running sums of k */
    real *z_before;    /* z_part at the beginning of the block */
    real scale[BLOCK]; /* what the kernel multiplies row t by: 1 / den_t, or 1 */
    real den[BLOCK];   /* den_t where the row is to be divided later, else 0 */
    bool any_rare;     /* some den_t is not 0 */
};

static size_t features_size(size_t C)
{
    return (2 * BLOCK + 3) * whole_vectors(C);
}

/* Lays the block out in scratch memory. */
static inline void lay_features(struct features *f, real *work, size_t C)
{
    const size_t padded = whole_vectors(C);
    f->C = C;
    f->padded = padded;
    f->q = work;
    f->k = f->q + BLOCK * padded;
    f->z = f->k + BLOCK * padded;
    f->z_part = f->z + padded;
    f->z_before = f->z_part + padded;
    f->any_rare = false;
    memset(f->z, 0, 2 * padded * sizeof(real));
}

/* The same, and takes z over from the state, if there is one. */
static inline struct features features_in(real *work, const struct tarn_attn *a)
{
    struct features f;
    lay_features(&f, work, a->C);
    if (!a->state->z) return f;
    memcpy(f.z, a->state->z, a->C * sizeof(real));
    memcpy(f.z_part, a->state->z_part, a->C * sizeof(real));
    return f;
}

/* Denominators in here lose nothing: products of features and sums stay far from the ends
 * of the range, and so does 1 / den. */
static const real least_den = IS_FLOAT ? (real)1e-20 : (real)1e-150;
static const real most_den = IS_FLOAT ? (real)1e30 : (real)1e290;

INLINE real eps_at(const struct tarn_attn *a, size_t i)
{
    return a->eps_row ? ((const real *)a->eps_row)[i] : (real)a->eps;
}

/* Row i of the block again, under its scale; gives its eps. */
static real rescale_row(struct features *f, const struct tarn_attn *a, size_t i,
                        real *q_t)
{
    real pivot, eps_row = eps_at(a, i);
    if (a->phi != TARN_PHI_NONE)
        TYPED(tarn_phi_rows)
            .apply_scaled(a->phi, 1, f->C, (const real *)a->q + i * f->C, a->eps, q_t,
                          &pivot, &eps_row);
    return eps_row;
}

enum { DENS = 4 }; /* denominators at a time */

/* phi(q_t) . z_t of T tokens from row t on; with `running`, z grows by each of them first. */
INLINE void some_dens(const int T, struct features *f, size_t t, bool running)
{
    vec sums[DENS];
    const real *q = f->q + t * f->padded, *k = f->k + t * f->padded;
    UNROLL
    for (int i = 0; i < T; i++) sums[i] = splat(0);
    for (size_t c = 0; c < f->padded; c += LANES) {
        const vec z = load(f->z + c);
        vec part = load(f->z_part + c);
        UNROLL
        for (int i = 0; i < T; i++) {
            const size_t at = (size_t)i * f->padded + c;
            if (running) part += load(k + at);
            sums[i] += load(q + at) * (z + part);
        }
        if (running) store(f->z_part + c, part);
    }
    sums_of(T, sums, f->den + t);
}

/* Denominators of n tokens from token i on, and their inverses; false if some is so small or
 * so large that something may have been lost. */
static inline bool usual_dens(struct features *f, const struct tarn_attn *a, size_t i,
                              size_t n, bool running)
{
    ivec rare = {0};
    for (size_t t = 0; t < n; t += t + DENS <= n ? DENS : 1)
        if (t + DENS <= n)
            some_dens(DENS, f, t, running);
        else
            some_dens(1, f, t, running);
    for (size_t t = 0; t < n; t += LANES) {
        const size_t some = n - t < LANES ? n - t : LANES;
        const vec eps = a->eps_row ? load_some((const real *)a->eps_row + i + t, some)
                                   : splat((real)a->eps);
        const vec den = load_some(f->den + t, some) + eps;
        const ivec fits = (den > splat(least_den)) & (den < splat(most_den));
        store(f->scale + t, splat(1) / den);
        store(f->den + t, splat(0));
        rare |= ~fits & first_lanes(some);
    }
    return !any_of(rare);
}

/* The same for row t, which is that of token i, whatever its size. */
static void row_den(struct features *f, const struct tarn_attn *a, size_t i, size_t t,
                    bool running)
{
    some_dens(1, f, t, running);
    const real den = f->den[t] + eps_at(a, i);
    f->den[t] = 0;
    f->scale[t] = 1 / den;
    if (den > least_den && den < most_den) return;
    const real eps = rescale_row(f, a, i, f->q + t * f->padded);
    some_dens(1, f, t, false);
    f->den[t] = divisor(f->den[t]) + eps;
    f->scale[t] = f->den[t] == 0 ? 0 : 1;
    f->any_rare = true;
}

static int map_of(const struct tarn_attn *a)
{
    return a->phi == TARN_PHI_NONE ? TARN_PHI_IDENTITY : a->phi;
}

/* Makes the features of n keys from token i on. */
static inline void features_of_keys(struct features *f, const struct tarn_attn *a,
                                    size_t i, size_t n, ptrdiff_t ahead)
{
    feature_rows(map_of(a), n, f->C, (const real *)a->k + i * f->C, ahead, f->k);
}

/* Makes the features of n tokens from token i on; with `running`, z grows by each token
 * before its row is divided. */
static inline void features_make(struct features *f, const struct tarn_attn *a,
                                 size_t i, size_t n, bool running)
{
    feature_rows(map_of(a), n, f->C, (const real *)a->q + i * f->C, AHEAD, f->q);
    if (running) features_of_keys(f, a, i, n, AHEAD);
    f->any_rare = false;
    memcpy(f->z_before, f->z_part, f->padded * sizeof(real));
    if (usual_dens(f, a, i, n, running)) return;
    memcpy(f->z_part, f->z_before, f->padded * sizeof(real));
    for (size_t t = 0; t < n; t++) row_den(f, a, i + t, t, running);
}

/* Divides the rows that the kernel has only summed up; a den of 0 makes 0, by definition. */
static inline void features_divide(const struct features *f, size_t n, size_t columns,
                                   real *out, size_t stride)
{
    for (size_t t = 0; f->any_rare && t < n; t++) {
        real *out_t = out + t * stride;
        const bool dead = f->scale[t] == 0;
        if (f->den[t] == 0 && !dead) continue;
        for (size_t m = 0; m < columns; m++) out_t[m] = dead ? 0 : out_t[m] / f->den[t];
    }
}

#endif
