/* tensors.h: what the tests of the core share: a context, tensors by their values.
 *
 * Every test gets a fresh context, and ends with the check that nothing is left in it.
 * A failed call ends the test with tarn's own message. */
#ifndef TARN_TESTS_TENSORS_H
#define TARN_TESTS_TENSORS_H

#include "core/tensor.h"
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define OK(call)                                                                       \
    cr_assert_eq((call), TARN_OK, "%s",                                                \
                 tarn_error(ctx)) /* shows the place of the call */

/* The call fails with this status, and the message has this piece. */
#define FAILS(status, piece, call)                                                     \
    do {                                                                               \
        cr_assert_eq((call), (status));                                                \
        cr_assert(strstr(tarn_error(ctx), (piece)) != NULL, "message: %s",             \
                  tarn_error(ctx));                                                    \
    } while (0)

/* A shape and its rank, as two arguments. */
#define SHAPE(...)                                                                     \
    (int)(sizeof((size_t[]){__VA_ARGS__}) / sizeof(size_t)), (size_t[])                \
    {                                                                                  \
        __VA_ARGS__                                                                    \
    }

static tarn_context *ctx;

static void begin(void)
{
    cr_assert_eq(tarn_context_new(&ctx), TARN_OK);
}

static void end(void)
{
    cr_assert_eq(tarn_bytes(ctx), 0, "%zu bytes leaked", tarn_bytes(ctx));
    tarn_context_free(ctx);
}

/* A tensor whose element i, in row-major order, is values[i], or i without values. */
static inline tarn_tensor *make(tarn_dtype dtype, int rank, const size_t *shape,
                                const double *values)
{
    tarn_tensor *t = NULL;
    OK(tarn_tensor_new(ctx, dtype, rank, shape, &t));
    for (size_t i = 0; i < tarn_tensor_numel(t); i++) {
        double x = values != NULL ? values[i] : (double)i;
        if (dtype == TARN_FLOAT32)
            ((float *)t->data)[i] = (float)x;
        else
            ((double *)t->data)[i] = x;
    }
    return t;
}

static inline tarn_tensor *randn(uint64_t seed, tarn_dtype dtype, int rank,
                                 const size_t *shape)
{
    tarn_tensor *t = NULL;
    OK(tarn_random(ctx, TARN_NORMAL, &seed, dtype, rank, shape, &t));
    return t;
}

/* Element i in row-major order, of any layout. */
static inline double nth(const tarn_tensor *t, size_t i)
{
    size_t index[TARN_MAX_RANK];
    for (int d = t->rank - 1; d >= 0; d--) {
        index[d] = i % t->shape[d];
        i /= t->shape[d];
    }
    double value = 0;
    OK(tarn_tensor_get(ctx, t, index, &value));
    return value;
}

static inline void expect_shape(const tarn_tensor *t, int rank, const size_t *shape)
{
    bool fits = t->rank == rank;
    for (int d = 0; fits && d < rank; d++) fits = t->shape[d] == shape[d];
    cr_assert(fits, "shape is %s, expected %s", tarn_shape_text(t).text,
              tarn_extents_text(rank, shape).text);
}

static inline bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* Exactly these elements, in row-major order; NaN for NaN. */
static inline void expect_values(const tarn_tensor *t, size_t count,
                                 const double *values)
{
    cr_assert_eq(tarn_tensor_numel(t), count);
    for (size_t i = 0; i < count; i++)
        cr_assert(same(nth(t, i), values[i]), "element %zu is %.9g, expected %.9g", i,
                  nth(t, i), values[i]);
}
#define EXPECT(t, ...)                                                                 \
    expect_values(t, sizeof((double[]){__VA_ARGS__}) / sizeof(double),                 \
                  (double[]){__VA_ARGS__})

/* |a - b| <= bound * max(1, |b|); NaN for NaN, and infinities equal. */
static inline bool is_near(double a, double b, double bound)
{
    return same(a, b) || fabs(a - b) <= bound * fmax(1, fabs(b));
}

/* The same type, shape and bits. */
static inline void expect_same_bits(const tarn_tensor *a, const tarn_tensor *b,
                                    const char *what)
{
    cr_assert_eq(a->dtype, b->dtype, "%s: types differ", what);
    expect_shape(a, b->rank, b->shape);
    cr_assert(tarn_tensor_is_contiguous(a) && tarn_tensor_is_contiguous(b));
    size_t bytes = tarn_tensor_numel(a) * tarn_dtype_size(a->dtype);
    cr_assert(memcmp(a->data, b->data, bytes) == 0, "%s: bits differ", what);
}

#endif
