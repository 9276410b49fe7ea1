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

/* Rows are read once, from far away: they are asked for so many entries before. Who goes
 * through them from the last to the first asks for those behind. */
enum { AHEAD = 16384 / sizeof(real) };

/* n whole vectors of entries. */
INLINE void feature_vectors(int id, size_t n, const real *x, ptrdiff_t ahead, real *f)
{
    for (size_t c = 0; c < n * LANES; c += LANES) {
        __builtin_prefetch(x + (ptrdiff_t)c + ahead, 0, 3);
        store(f + c, feature(id, load(x + c)));
    }
}

/* The last entries of a row, fewer than a vector, and zeros after them. What comes after
 * them in memory is the next row, as a rule: then a whole vector can be read. */
INLINE void feature_tail(int id, ivec ours, size_t left, bool inside, const real *x,
                         real *f)
{
    const vec x_c = inside ? load(x) : load_some(x, left);
    store(f, (vec)((ivec)feature(id, x_c) & ours));
}

INLINE void feature_rows_of(int id, size_t rows, size_t C, const real *x,
                            ptrdiff_t ahead, real *f)
{
    const size_t full = C / LANES, left = C % LANES, padded = whole_vectors(C);
    if (left == 0) { /* the rows are one long row */
        feature_vectors(id, rows * full, x, ahead, f);
        return;
    }
    const ivec ours = first_lanes(left);
    for (size_t i = 0; i < rows; i++, x += C, f += padded) {
        const bool inside = (rows - i) * C >= (full + 1) * LANES;
        feature_vectors(id, full, x, ahead, f);
        feature_tail(id, ours, left, inside, x + full * LANES, f + full * LANES);
    }
}

/* phi of `rows` rows [rows, C] into [rows, C padded]. Not inlined: one copy a file. */
static __attribute__((noinline)) void
feature_rows(int id, size_t rows, size_t C, const real *x, ptrdiff_t ahead, real *f)
{
    switch (id) {
    case TARN_PHI_ELU1: feature_rows_of(TARN_PHI_ELU1, rows, C, x, ahead, f); break;
    case TARN_PHI_RELU: feature_rows_of(TARN_PHI_RELU, rows, C, x, ahead, f); break;
    case TARN_PHI_RELU2: feature_rows_of(TARN_PHI_RELU2, rows, C, x, ahead, f); break;
    case TARN_PHI_EXP: feature_rows_of(TARN_PHI_EXP, rows, C, x, ahead, f); break;
    case TARN_PHI_SOFTPLUS:
        feature_rows_of(TARN_PHI_SOFTPLUS, rows, C, x, ahead, f);
        break;
    default: feature_rows_of(TARN_PHI_IDENTITY, rows, C, x, ahead, f); break;
    }
}

#endif
