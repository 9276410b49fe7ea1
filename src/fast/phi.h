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

/* All ones where the first bit, the sign, is set. */
INLINE ivec signs(vec x)
{
    return (ivec)x >> (8 * sizeof(real) - 1);
}

/* elu(x) + 1 = max(x, 0) + exp(min(x, 0)) of n vectors. NaN is on the side of its sign, and
 * goes through. */
INLINE void elus(const int n, vec *x)
{
    vec positive[AT_ONCE];
    UNROLL
    for (int i = 0; i < n; i++) {
        positive[i] = (vec)((ivec)x[i] & ~signs(x[i]));
        x[i] = (vec)((ivec)x[i] & signs(x[i]));
    }
    exps_below(n, x);
    UNROLL
    for (int i = 0; i < n; i++) x[i] += positive[i];
}

/* phi of n vectors at once; `id` is a constant where this is used. */
INLINE void features_of(const int id, const int n, vec *x)
{
    if (id == TARN_PHI_ELU1) {
        elus(n, x);
        return;
    }
    UNROLL
    for (int i = 0; i < n; i++) switch (id) {
        case TARN_PHI_RELU: x[i] = positive_part(x[i]); break;
        case TARN_PHI_RELU2: x[i] = positive_part(x[i]) * positive_part(x[i]); break;
        case TARN_PHI_EXP: x[i] = exp_of(x[i]); break;
        case TARN_PHI_SOFTPLUS: x[i] = softplus(x[i]); break;
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

/* One vector of each of n rows of C. Of a tail only our lanes count, and zeros come after
 * them; what follows in memory is the next row, unless the rows end before. */
INLINE void feature_columns(const int id, const int n, const bool tail, size_t C,
                            const real *x, const real *end, ptrdiff_t ahead, real *f)
{
    const size_t left = C % LANES, padded = whole_vectors(C);
    vec x_c[AT_ONCE];
    UNROLL
    for (int i = 0; i < n; i++) {
        const real *at = x + (size_t)i * C;
        __builtin_prefetch(at + ahead, 0, 3);
        x_c[i] = !tail || end - at >= LANES ? load(at) : load_some(at, left);
    }
    features_of(id, n, x_c);
    UNROLL
    for (int i = 0; i < n; i++)
        store(f + (size_t)i * padded,
              tail ? (vec)((ivec)x_c[i] & first_lanes(left)) : x_c[i]);
}

INLINE void some_feature_rows(const int id, const int n, size_t C, const real *x,
                              const real *end, ptrdiff_t ahead, real *f)
{
    size_t c = 0;
    for (; c + LANES <= C; c += LANES)
        feature_columns(id, n, false, C, x + c, end, ahead, f + c);
    if (c < C) feature_columns(id, n, true, C, x + c, end, ahead, f + c);
}

/* Rows of whole vectors are as good as more rows of one. */
INLINE void feature_rows_of(const int id, size_t rows, size_t C, const real *x,
                            ptrdiff_t ahead, real *f)
{
    const size_t width = C % LANES == 0 ? LANES : C, padded = whole_vectors(width);
    const real *end = x + rows * C;
    rows *= C / width;
    size_t i = 0;
    for (; i + AT_ONCE <= rows; i += AT_ONCE)
        some_feature_rows(id, AT_ONCE, width, x + i * width, end, ahead,
                          f + i * padded);
    for (; i < rows; i++)
        some_feature_rows(id, 1, width, x + i * width, end, ahead, f + i * padded);
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
