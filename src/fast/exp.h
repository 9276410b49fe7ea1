/* exp.h: exp and log(1 + x) on vectors. Internal; chapter 10.
 *
 *     exp(x) = 2^n exp(f),  n = round(x / log 2),  f = x - n log 2,  |f| <= log(2) / 2
 *
 * n comes from adding 1.5 * 2^23 (2^52), which leaves it in the last bits of the sum. log 2
 * is taken off in two parts, of which the first times n is exact. exp(f) is a polynomial:
 * for float32 one fitted to 4e-9, for float64 the series. 2^n is multiplied on in two
 * halves, so that the smallest features are denormal, as in libm, and not lost. About one
 * unit in the last place; NaN goes through. */
#ifndef TARN_FAST_EXP_H
#define TARN_FAST_EXP_H

#include "fast/vec.h"

enum { IS_FLOAT = sizeof(real) == sizeof(float) };

/* log 2 in two parts. */
static const double log2_high = IS_FLOAT ? 0x1.62e4p-1 : 0x1.62e42feep-1;
static const double log2_low = IS_FLOAT ? 0x1.7f7d1cp-20 : 0x1.a39ef35793c76p-33;

/* c[n-1] x^(n-1) + .. + c[0] */
INLINE vec polynomial(int n, const double *c, vec x)
{
    vec sum = splat((real)c[n - 1]);
    UNROLL
    for (int i = n - 2; i >= 0; i--) sum = sum * x + splat((real)c[i]);
    return sum;
}

/* (exp(f) - 1 - f) / f^2 */
INLINE vec exp_tail(vec f)
{
    static const double fitted[] = {0.49999994, 0.16666509, 0.041668527, 0.008370135,
                                    0.0013811663};
    static const double series[] = {1 / 2.,        1 / 6.,         1 / 24.,
                                    1 / 120.,      1 / 720.,       1 / 5040.,
                                    1 / 40320.,    1 / 362880.,    1 / 3628800.,
                                    1 / 39916800., 1 / 479001600., 1 / 6227020800.};
    return IS_FLOAT ? polynomial(5, fitted, f) : polynomial(12, series, f);
}

/* 2^n for whole n in the range of exponents: n goes into the bits of the exponent. */
INLINE vec power_of_two(ivec n)
{
    const int at = IS_FLOAT ? 23 : 52;
    const bits bias = IS_FLOAT ? 127 : 1023;
    return (vec)(((bits_vec)n + bias) << at);
}

INLINE vec exp_of(vec x)
{
    const vec lowest = splat(IS_FLOAT ? -104 : -746),
              highest = splat(IS_FLOAT ? 89 : 710);
    const vec magic = splat((real)(IS_FLOAT ? 0x1.8p23 : 0x1.8p52));
    x = choose(x < lowest, lowest, x);
    x = choose(x > highest, highest, x);
    const vec sum = x * splat((real)M_LOG2E) + magic, n = sum - magic;
    const ivec whole_n = (ivec)((bits_vec)sum - (bits_vec)magic), half_n = whole_n >> 1;
    const vec f = (x - n * splat((real)log2_high)) - n * splat((real)log2_low);
    const vec p = exp_tail(f) * (f * f) + f + splat(1);
    return p * power_of_two(half_n) * power_of_two(whole_n - half_n);
}

/* exp(x) for x <= 0, with two thirds of the operations: one bound, and one power of two for
 * both halves. It is 2^64 too large, which keeps it normal; the polynomial is 2^64 too
 * small. n + 64 is taken from the last bits of the sum as it stands there. */
INLINE vec exp_below(vec x)
{
    static const double fitted[] = {0x1p-64,
                                    0x1p-64,
                                    0x1p-64 * 0.49999994,
                                    0x1p-64 * 0.16666509,
                                    0x1p-64 * 0.041668527,
                                    0x1p-64 * 0.008370135,
                                    0x1p-64 * 0.0013811663};
    static const double series[] = {0x1p-64,
                                    0x1p-64,
                                    0x1p-64 / 2,
                                    0x1p-64 / 6,
                                    0x1p-64 / 24,
                                    0x1p-64 / 120,
                                    0x1p-64 / 720,
                                    0x1p-64 / 5040,
                                    0x1p-64 / 40320,
                                    0x1p-64 / 362880,
                                    0x1p-64 / 3628800,
                                    0x1p-64 / 39916800.,
                                    0x1p-64 / 479001600.,
                                    0x1p-64 / 6227020800.};
    const int at = IS_FLOAT ? 23 : 52; /* the exponent */
    const bits bias = IS_FLOAT ? 127 : 1023;
    const vec lowest = splat(IS_FLOAT ? -104 : -746);
    const vec magic = splat((real)(IS_FLOAT ? 0x1.8p23 + 64 : 0x1.8p52 + 64));
    x = choose(x < lowest, lowest, x);
    const vec sum = x * splat((real)M_LOG2E) + magic, n = sum - magic;
    const vec f = (x - n * splat((real)log2_high)) - n * splat((real)log2_low);
    const vec p = IS_FLOAT ? polynomial(7, fitted, f) : polynomial(14, series, f);
    return p * (vec)(((bits_vec)sum << at) + (bias << at));
}

/* log(1 + e) for 0 <= e <= 1, as 2 atanh(s) with s = e / (2 + e) <= 1/3. */
INLINE vec log1p_of(vec e)
{
    static const double fitted[] = {0.33333206, 0.2001085, 0.13999569, 0.14012232};
    static const double series[] = {
        1 / 3.,  1 / 5.,  1 / 7.,  1 / 9.,  1 / 11., 1 / 13., 1 / 15., 1 / 17., 1 / 19.,
        1 / 21., 1 / 23., 1 / 25., 1 / 27., 1 / 29., 1 / 31., 1 / 33., 1 / 35.};
    const vec s = e / (splat(2) + e), t = s * s;
    const vec tail = IS_FLOAT ? polynomial(4, fitted, t) : polynomial(17, series, t);
    return splat(2) * (s + s * t * tail);
}

#endif
