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
    real scale[BLOCK]; /* what the kernel multiplies row t by: 1 / den_t, or 1 */
    real den[BLOCK];   /* den_t where the row is to be divided later, else 0 */
    bool any_rare;     /* some den_t is not 0 */
};

static size_t features_size(size_t C)
{
    return (2 * BLOCK + 2) * whole_vectors(C);
}

/* Lays the block out in scratch memory and takes z over from the state, if there is one. */
static struct features features_in(real *work, const struct tarn_attn *a)
{
    const size_t padded = whole_vectors(a->C);
    struct features f = {.C = a->C, .padded = padded, .q = work};
    f.k = f.q + BLOCK * padded;
    f.z = f.k + BLOCK * padded;
    f.z_part = f.z + padded;
    memset(f.z, 0, 2 * padded * sizeof(real));
    if (!a->state->z) return f;
    memcpy(f.z, a->state->z, a->C * sizeof(real));
    memcpy(f.z_part, a->state->z_part, a->C * sizeof(real));
    return f;
}

/* Denominators in here lose nothing: products of features and sums stay far from the ends
 * of the range, and so does 1 / den. */
static const real least_den = IS_FLOAT ? (real)1e-20 : (real)1e-150;
static const real most_den = IS_FLOAT ? (real)1e30 : (real)1e290;

/* phi(q_t) . z over both levels. */
INLINE real row_den(const struct features *f, const real *q_t)
{
    vec sum = splat(0);
    for (size_t c = 0; c < f->padded; c += LANES)
        sum += load(q_t + c) * (load(f->z + c) + load(f->z_part + c));
    return sum_of(sum);
}

/* Row i of the block again, under its scale; gives its eps. */
static real rescale_row(struct features *f, const struct tarn_attn *a, size_t i,
                        real *q_t)
{
    real pivot, eps_row = a->eps_row ? ((const real *)a->eps_row)[i] : (real)a->eps;
    if (a->phi != TARN_PHI_NONE)
        TYPED(tarn_phi_rows)
            .apply_scaled(a->phi, 1, f->C, (const real *)a->q + i * f->C, a->eps, q_t,
                          &pivot, &eps_row);
    return eps_row;
}

/* Sets how row t of the block, token i, is divided. */
INLINE void set_den(struct features *f, const struct tarn_attn *a, size_t t, size_t i)
{
    real *q_t = f->q + t * f->padded;
    real den =
        row_den(f, q_t) + (a->eps_row ? ((const real *)a->eps_row)[i] : (real)a->eps);
    f->den[t] = 0;
    f->scale[t] = 1 / den;
    if (__builtin_expect(den > least_den && den < most_den, 1)) return;
    const real eps = rescale_row(f, a, i, q_t);
    f->den[t] = row_den(f, q_t) + eps;
    f->scale[t] = f->den[t] == 0 ? 0 : 1;
    f->any_rare = true;
}

static int map_of(const struct tarn_attn *a)
{
    return a->phi == TARN_PHI_NONE ? TARN_PHI_IDENTITY : a->phi;
}

/* Makes the features of n keys from token i on. */
static inline void features_of_keys(struct features *f, const struct tarn_attn *a,
                                    size_t i, size_t n)
{
    feature_rows(map_of(a), n, f->C, (const real *)a->k + i * f->C, f->k);
}

/* Makes the features of n tokens from token i on; with `running`, z grows by each token
 * before its row is divided. */
static void features_make(struct features *f, const struct tarn_attn *a, size_t i,
                          size_t n, bool running)
{
    feature_rows(map_of(a), n, f->C, (const real *)a->q + i * f->C, f->q);
    if (running) features_of_keys(f, a, i, n);
    f->any_rare = false;
    for (size_t t = 0; t < n; t++) {
        const real *k_t = f->k + t * f->padded;
        for (size_t c = 0; running && c < f->padded; c += LANES)
            store(f->z_part + c, load(f->z_part + c) + load(k_t + c));
        set_den(f, a, t, i + t);
    }
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
