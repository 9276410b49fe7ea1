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
    const int bits = IS_FLOAT ? 23 : 52;
    const whole bias = IS_FLOAT ? 127 : 1023;
    return (vec)((n + bias) << bits);
}

INLINE vec exp_of(vec x)
{
    const vec lowest = splat(IS_FLOAT ? -104 : -746),
              highest = splat(IS_FLOAT ? 89 : 710);
    const vec magic = splat((real)(IS_FLOAT ? 0x1.8p23 : 0x1.8p52));
    const vec log2_high = splat((real)(IS_FLOAT ? 0x1.62e4p-1 : 0x1.62e42feep-1));
    const vec log2_low =
        splat((real)(IS_FLOAT ? 0x1.7f7d1cp-20 : 0x1.a39ef35793c76p-33));
    x = choose(x < lowest, lowest, x);
    x = choose(x > highest, highest, x);
    const vec sum = x * splat((real)M_LOG2E) + magic, n = sum - magic;
    const ivec whole_n = (ivec)sum - (ivec)magic, half_n = whole_n >> 1;
    const vec f = (x - n * log2_high) - n * log2_low;
    const vec p = exp_tail(f) * (f * f) + f + splat(1);
    return p * power_of_two(half_n) * power_of_two(whole_n - half_n);
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
