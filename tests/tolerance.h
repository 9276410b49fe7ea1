/* tolerance.h: how near the result of a kernel must be to the oracle's. For tests. */
#ifndef TARN_TESTS_TOLERANCE_H
#define TARN_TESTS_TOLERANCE_H

#include "tarn.h"
#include <float.h>
#include <math.h>
#include <string.h>

/* What a result is a sum of, and how its terms were made. */
struct summed {
    tarn_dtype dtype;
    size_t N, C, M;
    tarn_similarity by;
    double exponent; /* largest |x| of which an exp was taken */
    bool grad;
    int bits; /* of the factors of products, if fewer than the type has; 0: all */
};

/* Of the products of a rung, by its name. */
static inline int bits_of_factors(const char *rung)
{
    return strncmp(rung, "tf32", 4) == 0 ? 11 : strncmp(rung, "bf16", 4) == 0 ? 8 : 0;
}

/* The bound of src/check/equiv.c, for the same reasons: two-level sums over N, one sum over
 * C or an exp, twice that and a sum over M in a gradient. On tensor cores a factor of
 * 11 or 8 bits errs by up to 2^-12 or 2^-9: two factors make twice that in each of two products,
 * and the exponent is a sum of such ones. */
static inline double sum_tolerance(const struct summed *s)
{
    const double N = (double)s->N, C = (double)s->C, a = s->exponent, L = 64;
    const double eps = s->dtype == TARN_FLOAT32 ? (double)FLT_EPSILON : DBL_EPSILON;
    const bool has_exponent = s->by == TARN_SOFTMAX || s->by == TARN_RBF;
    double n = fmin(N, L) + ceil(N / L) + 8, rounded = 0;
    n += has_exponent ? (sqrt(C) + 2) * a : C + a;
    if (s->grad) n = 2 * n + (double)s->M;
    if (s->bits) rounded = ldexp(4 + (has_exponent ? 2 * a : 0), -s->bits);
    return n * eps + (s->grad ? 4 : 1) * rounded;
}

#endif
