/* phi.h: stage 0 on vectors, fused into the forms that use it. Internal; chapter 10.
 *
 * The maps are those of src/stages/phi.c, whose formulas they repeat. A map is chosen once
 * for a block of rows. Rows of features are padded with zeros to whole vectors, which add
 * nothing to any sum. */
#ifndef TARN_FAST_PHI_H
#define TARN_FAST_PHI_H

#include "fast/exp.h"
#include "stages/phi.h"

INLINE vec positive_part(vec x)
{
    return choose(x < splat(0), splat(0), x); /* NaN goes through */
}

INLINE vec negative_part(vec x)
{
    return choose(x > splat(0), splat(0), x);
}

INLINE vec softplus(vec x)
{
    const vec size = choose(x < splat(0), x, -x); /* -|x| */
    return positive_part(x) + log1p_of(exp_below(size));
}

/* phi of one vector; `id` is a constant where this is used. */
INLINE vec feature(int id, vec x)
{
    switch (id) {
    case TARN_PHI_ELU1:
        return choose(x > splat(0), x, splat(0)) + exp_below(negative_part(x));
    case TARN_PHI_RELU: return positive_part(x);
    case TARN_PHI_RELU2: return positive_part(x) * positive_part(x);
    case TARN_PHI_EXP: return exp_of(x);
    case TARN_PHI_SOFTPLUS: return softplus(x);
    default: return x;
    }
}

/* phi' where phi(x) = f is known already: 1 or exp(x) for elu1. */
INLINE vec slope(int id, vec x, vec f)
{
    const vec one = splat(1), none = splat(0);
    switch (id) {
    case TARN_PHI_ELU1: return choose(f < one, f, one);
    case TARN_PHI_RELU: return choose(x > none, one, none);
    case TARN_PHI_RELU2: return splat(2) * positive_part(x);
    case TARN_PHI_EXP: return f;
    case TARN_PHI_SOFTPLUS: return one / (one + exp_of(-x));
    default: return one;
    }
}

/* Rows are read once, from far away: they are asked for so many entries before. */
enum { AHEAD = 16384 / sizeof(real) };

/* One row of C entries into a row that is padded to whole vectors. */
INLINE void feature_row(int id, size_t C, const real *x, real *f)
{
    size_t c = 0;
    for (; c + LANES <= C; c += LANES) {
        __builtin_prefetch(x + c + AHEAD, 0, 3);
        store(f + c, feature(id, load(x + c)));
    }
    if (c == C) return;
    store(f + c, splat(0));
    store_some(f + c, feature(id, load_some(x + c, C - c)), C - c);
}

INLINE void feature_rows_of(int id, size_t rows, size_t C, const real *x, real *f)
{
    if (C % LANES == 0) { /* the rows are one long row */
        feature_row(id, rows * C, x, f);
        return;
    }
    const size_t padded = whole_vectors(C);
    for (size_t i = 0; i < rows; i++) feature_row(id, C, x + i * C, f + i * padded);
}

/* phi of `rows` rows [rows, C] into [rows, C padded]. Not inlined: one copy a file. */
static __attribute__((noinline)) void feature_rows(int id, size_t rows, size_t C,
                                                   const real *x, real *f)
{
    switch (id) {
    case TARN_PHI_ELU1: feature_rows_of(TARN_PHI_ELU1, rows, C, x, f); break;
    case TARN_PHI_RELU: feature_rows_of(TARN_PHI_RELU, rows, C, x, f); break;
    case TARN_PHI_RELU2: feature_rows_of(TARN_PHI_RELU2, rows, C, x, f); break;
    case TARN_PHI_EXP: feature_rows_of(TARN_PHI_EXP, rows, C, x, f); break;
    case TARN_PHI_SOFTPLUS: feature_rows_of(TARN_PHI_SOFTPLUS, rows, C, x, f); break;
    default: feature_rows_of(TARN_PHI_IDENTITY, rows, C, x, f); break;
    }
}

#endif
