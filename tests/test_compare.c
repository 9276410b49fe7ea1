/* test_compare.c: the largest difference, and whether two tensors agree. */
#include "tensors.h"

TestSuite(compare, .init = begin, .fini = end);

static void expect_diff(const tarn_tensor *a, const tarn_tensor *b, double diff,
                        size_t where)
{
    double got = -1;
    size_t at = SIZE_MAX;
    OK(tarn_maxdiff(ctx, a, b, &got, &at));
    cr_assert_eq(got, diff, "difference is %.17g, expected %.17g", got, diff);
    cr_assert_eq(at, where, "at %zu, expected %zu", at, where);
}

/* Compares single numbers. */
static void expect_diff_of(double a, double b, double diff)
{
    tarn_tensor *x = make(TARN_FLOAT64, 0, NULL, &a),
                *y = make(TARN_FLOAT64, 0, NULL, &b);
    expect_diff(x, y, diff, 0);
    tarn_tensor_free(x);
    tarn_tensor_free(y);
}

Test(compare, maxdiff_counts_nan_and_infinities_as_promised)
{
    expect_diff_of(1, 3.5, 2.5);
    expect_diff_of(NAN, NAN, 0);
    expect_diff_of(NAN, 1, INFINITY);
    expect_diff_of(1, NAN, INFINITY);
    expect_diff_of(NAN, INFINITY, INFINITY);
    expect_diff_of(INFINITY, INFINITY, 0);
    expect_diff_of(-INFINITY, -INFINITY, 0);
    expect_diff_of(INFINITY, -INFINITY, INFINITY);
    expect_diff_of(INFINITY, 1, INFINITY);
    expect_diff_of(0.0, -0.0, 0);
}

Test(compare, maxdiff_finds_the_first_of_the_largest_after_broadcasting)
{
    tarn_tensor *a = make(TARN_FLOAT32, SHAPE(2, 1), (double[]){0, 10});
    tarn_tensor *b = make(TARN_FLOAT64, SHAPE(3), (double[]){1, 4, 1});
    expect_diff(a, b, 9, 3);
    OK(tarn_maxdiff(ctx, b, b, &(double){0}, NULL));
    tarn_tensor_free(a);
    tarn_tensor_free(b);
}

Test(compare, maxdiff_looks_everywhere_and_in_order)
{
    const size_t places[] = {0, 511, 512, 65535, 65536, 199999};
    for (size_t i = 0; i < 6; i++) {
        tarn_tensor *a = make(TARN_FLOAT32, SHAPE(2, 100000), NULL), *b = NULL;
        OK(tarn_clone(ctx, a, TARN_FLOAT64, &b));
        ((double *)b->data)[places[i]] += 2;
        ((double *)b->data)[199999] = 199997; /* an equal one, further on */
        expect_diff(a, b, 2, places[i]);
        bool close = true;
        OK(tarn_allclose(ctx, a, b, 0, 1, &close));
        cr_assert_not(close);
        OK(tarn_allclose(ctx, a, b, 0, 2, &close));
        cr_assert(close);
        tarn_tensor_free(a);
        tarn_tensor_free(b);
    }
}

Test(compare, the_types_are_compared_as_they_are)
{
    tarn_tensor *a = make(TARN_FLOAT32, SHAPE(1), (double[]){0.1});
    tarn_tensor *b = make(TARN_FLOAT64, SHAPE(1), (double[]){0.1});
    expect_diff(a, b, fabs((double)0.1f - 0.1), 0);
    tarn_tensor_free(a);
    tarn_tensor_free(b);
}

static bool close_numbers(double a, double b, double rtol, double atol)
{
    bool close = false;
    tarn_tensor *x = make(TARN_FLOAT64, 0, NULL, &a),
                *y = make(TARN_FLOAT64, 0, NULL, &b);
    OK(tarn_allclose(ctx, x, y, rtol, atol, &close));
    tarn_tensor_free(x);
    tarn_tensor_free(y);
    return close;
}

Test(compare, allclose_is_relative_to_the_second)
{
    cr_assert(close_numbers(90, 100, 0.1, 0));
    cr_assert_not(close_numbers(100, 90, 0.1, 0));
    cr_assert(close_numbers(1, 1.5, 0, 0.5));
    cr_assert_not(close_numbers(1, 1.5, 0, 0.4375));
    cr_assert(close_numbers(3, 3, 0, 0));
}

Test(compare, allclose_takes_no_infinity_for_another_and_no_nan_at_all)
{
    cr_assert(close_numbers(INFINITY, INFINITY, 0, 0));
    cr_assert_not(close_numbers(INFINITY, -INFINITY, 1, 1));
    cr_assert_not(close_numbers(1, INFINITY, 1, 1));
    cr_assert_not(close_numbers(INFINITY, 1, 1, 1e300));
    cr_assert_not(close_numbers(NAN, NAN, 1, 1));
    cr_assert_not(close_numbers(1, NAN, 1, 1));
    cr_assert_not(close_numbers(NAN, 1, 1, INFINITY));
}

/* SHP-08 */
Test(compare, empty_tensors_agree)
{
    tarn_tensor *a = make(TARN_FLOAT32, SHAPE(0, 3), NULL);
    bool close = false;
    expect_diff(a, a, 0, 0);
    OK(tarn_allclose(ctx, a, a, 0, 0, &close));
    cr_assert(close);
    tarn_tensor_free(a);
}

Test(compare, errors)
{
    tarn_tensor *a = make(TARN_FLOAT32, SHAPE(2), NULL),
                *b = make(TARN_FLOAT32, SHAPE(3), NULL);
    double diff = -1;
    bool close = true;
    FAILS(TARN_ESHAPE, "maxdiff: shapes [2] and [3]",
          tarn_maxdiff(ctx, a, b, &diff, NULL));
    FAILS(TARN_ESHAPE, "allclose", tarn_allclose(ctx, a, b, 0, 0, &close));
    FAILS(TARN_EINVAL, "rtol is -1", tarn_allclose(ctx, a, a, -1, 0, &close));
    FAILS(TARN_EINVAL, "allclose", tarn_allclose(ctx, a, a, 0, NAN, &close));
    cr_assert(diff == -1 && close);
    tarn_tensor_free(a);
    tarn_tensor_free(b);
}
