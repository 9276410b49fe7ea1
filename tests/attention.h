/* attention.h: what the tests of attention share: small tensors by their values.
 *
 * A failed call ends the test with tarn's own message. */
#ifndef TARN_TESTS_ATTENTION_H
#define TARN_TESTS_ATTENTION_H

#include "fast/dispatch.h"
#include "tarn.h"
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#define OK(call)                                                                       \
    cr_assert_eq((call), TARN_OK, "%s",                                                \
                 tarn_error(ctx)) /* one line at the call's place */

/* Chooses an instruction set before the first call, or skips the test. */
static inline void use_isa(const char *isa)
{
    setenv("TARN_ISA", isa, 1);
    if (*tarn_fast_problem()) cr_skip_test("%s", tarn_fast_problem());
}

/* A tensor [rows, columns] of the given values, in row-major order. */
static inline tarn_tensor *matrix(tarn_context *ctx, tarn_dtype dtype, size_t rows,
                                  size_t columns, const double *values)
{
    tarn_tensor *t = NULL;
    OK(tarn_tensor_new(ctx, dtype, 2, (size_t[]){rows, columns}, &t));
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++)
            OK(tarn_tensor_set(ctx, t, (size_t[]){i, j}, values[i * columns + j]));
    return t;
}

/* A tensor of normal random numbers times `factor`. */
static inline tarn_tensor *normal(tarn_context *ctx, tarn_dtype dtype, uint64_t seed,
                                  int rank, const size_t *shape, double factor)
{
    tarn_tensor *t = NULL, *scaled = NULL;
    OK(tarn_random(ctx, TARN_NORMAL, &seed, dtype, rank, shape, &t));
    OK(tarn_binary_number(ctx, TARN_MUL, t, factor, false, &scaled));
    tarn_tensor_free(t);
    return scaled;
}

/* Element i of a contiguous tensor, in row-major order. */
static inline double flat(const tarn_tensor *t, size_t i)
{
    cr_assert(tarn_tensor_is_contiguous(t));
    cr_assert_lt(i, tarn_tensor_numel(t));
    return tarn_tensor_dtype(t) == TARN_FLOAT32
               ? (double)((float *)tarn_tensor_data(t))[i]
               : ((double *)tarn_tensor_data(t))[i];
}

/* Every element within `bound` of the expected one, relative to 1 or to its size. */
static inline void expect_values(const tarn_tensor *t, const double *expected,
                                 double bound)
{
    for (size_t i = 0; i < tarn_tensor_numel(t); i++) {
        double error = fabs(flat(t, i) - expected[i]);
        cr_assert(error <= bound * fmax(1, fabs(expected[i])),
                  "element %zu is %.9g, expected %.9g within %g", i, flat(t, i),
                  expected[i], bound);
    }
}

static inline double largest_difference(tarn_context *ctx, const tarn_tensor *a,
                                        const tarn_tensor *b)
{
    double diff;
    OK(tarn_maxdiff(ctx, a, b, &diff, NULL));
    return diff;
}

#endif
