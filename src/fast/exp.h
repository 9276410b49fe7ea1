/* exp.h: exp and log(1 + x) on vectors. Internal; chapter 10.
 *
 *     exp(x) = 2^n exp(f),  n = round(x / log 2),  f = x - n log 2,  |f| <= log(2) / 2
 *
 * n comes from adding 1.5 * 2^23 (2^52), which leaves it in the last bits of the sum. log 2
 * is taken off in two parts, of which the first times n is exact. exp(f) is a polynomial,
 * fitted to 4e-9 for float32 and to 1e-17 for float64. 2^n is multiplied on in two halves,
 * so that the smallest features are denormal, as in libm, and not lost. About one unit in
 * the last place; NaN goes through. */
#ifndef TARN_FAST_EXP_H
#define TARN_FAST_EXP_H

#include "fast/vec.h"

enum {
    IS_FLOAT = sizeof(real) == sizeof(float),
    AT_ONCE = MANY ? 4 : 2 /* vectors that are worked on side by side */
};

/* log 2 in two parts. */
static const double log2_high = IS_FLOAT ? 0x1.62e4p-1 : 0x1.62e42feep-1;
static const double log2_low = IS_FLOAT ? 0x1.7f7d1cp-20 : 0x1.a39ef35793c76p-33;

/* sum = unit (c[terms-1] x^(terms-1) + .. + c[0]) of n vectors at once. */
INLINE void polynomials(const int n, const int terms, const double *c,
                        const double unit, const vec *x, vec *sum)
{
    UNROLL
    for (int i = 0; i < n; i++) sum[i] = splat((real)(unit * c[terms - 1]));
    UNROLL
    for (int t = terms - 2; t >= 0; t--) UNROLL
    for (int i = 0; i < n; i++) sum[i] = sum[i] * x[i] + splat((real)(unit * c[t]));
}

INLINE vec polynomial(const int terms, const double *c, vec x)
{
    vec sum;
    polynomials(1, terms, c, 1, &x, &sum);
    return sum;
}

/* exp(f) for |f| <= log(2) / 2: 1 + f + .. */
static const double exp_float[] = {1,           1,           0.49999994,  0.16666509,
                                   0.041668527, 0.008370135, 0.0013811663};
static const double exp_double[] = {1,
                                    1,
                                    0.500000000000001,
                                    0.16666666666666674,
                                    0.04166666666652199,
                                    0.008333333333322207,
                                    0.0013888888947820891,
                                    0.00019841269886591,
                                    2.4801487326012337e-05,
                                    2.7557242336680357e-06,
                                    2.763265575933203e-07,
                                    2.5110049895858716e-08};

/* (exp(f) - 1 - f) / f^2 */
INLINE vec exp_tail(vec f)
{
    return IS_FLOAT ? polynomial(5, exp_float + 2, f)
                    : polynomial(10, exp_double + 2, f);
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

/* exp(x) for x <= 0, n vectors at once, with two thirds of the operations: one bound, and one
 * power of two for both halves. It is 2^64 too large, which keeps it normal; the polynomial
 * is 2^64 too small. n + 64 and the exponent's bias are in the last bits of the sum as they
 * are wanted: the others are shifted out.
 *
 * Each step waits some cycles for the one before. It is taken for all vectors before the
 * next step is, so that what waits does not fill the processor's window. */
INLINE void exps_below(const int n, vec *x)
{
    const int at = IS_FLOAT ? 23 : 52; /* the exponent */
    const vec lowest = splat(IS_FLOAT ? -104 : -746);
    const vec magic =
        splat((real)(IS_FLOAT ? 0x1.8p23 + 64 + 127 : 0x1.8p52 + 64 + 1023));
    vec sum[AT_ONCE], f[AT_ONCE];
    UNROLL
    for (int i = 0; i < n; i++) x[i] = choose(x[i] < lowest, lowest, x[i]);
    UNROLL
    for (int i = 0; i < n; i++) sum[i] = x[i] * splat((real)M_LOG2E) + magic;
    UNROLL
    for (int i = 0; i < n; i++) f[i] = x[i] - (sum[i] - magic) * splat((real)log2_high);
    UNROLL
    for (int i = 0; i < n; i++) f[i] -= (sum[i] - magic) * splat((real)log2_low);
    if (IS_FLOAT)
        polynomials(n, 7, exp_float, 0x1p-64, f, x);
    else
        polynomials(n, 12, exp_double, 0x1p-64, f, x);
    UNROLL
    for (int i = 0; i < n; i++) x[i] *= (vec)((bits_vec)sum[i] << at);
}

INLINE vec exp_below(vec x)
{
    exps_below(1, &x);
    return x;
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
