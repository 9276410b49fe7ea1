/* test_reduce.c: sums, means, extremes, norms, softmax and cumsum along dimensions. */
#include "tensors.h"

TestSuite(reduce, .init = begin, .fini = end);

/* ---- The oracle: one slice as a list of long doubles ----------------------------- */

static double fold_of(tarn_reduce_op op, const double *x, size_t n)
{
    long double sum = 0, squares = 0;
    size_t high = 0, low = 0, unknown = n;
    for (size_t i = n; i-- > 0;) {
        sum += (long double)x[i];
        squares += (long double)x[i] * (long double)x[i];
        if (x[i] >= x[high]) high = i;
        if (x[i] <= x[low]) low = i;
        if (isnan(x[i])) unknown = i;
    }
    switch (op) {
    case TARN_SUM: return (double)sum;
    case TARN_MEAN: return (double)(sum / (long double)n);
    case TARN_NORM: return (double)sqrtl(squares);
    case TARN_MAX: return unknown < n ? x[unknown] : x[high];
    case TARN_MIN: return unknown < n ? x[unknown] : x[low];
    case TARN_ARGMAX: return (double)(unknown < n ? unknown : high);
    case TARN_ARGMIN: return (double)(unknown < n ? unknown : low);
    }
    return NAN;
}

/* Copies slice number i along dim, counted in row-major order of the other
 * dimensions. */
static void slice_of(const tarn_tensor *t, int dim, size_t i, double *x)
{
    size_t inner = 1, n = t->shape[dim];
    for (int d = dim + 1; d < t->rank; d++) inner *= t->shape[d];
    for (size_t j = 0; j < n; j++)
        x[j] = nth(t, (i / inner * n + j) * inner + i % inner);
}

/* A sum is off by at most eps of double times its length times the sum of magnitudes,
 * and is then rounded to the type: numbers of size 1 give an error of 2 n eps(double),
 * and half an eps of the type relative to the result. */
static void check_reduction(tarn_reduce_op op, const tarn_tensor *t, int dim)
{
    size_t n = t->shape[dim];
    double *x = malloc(n * sizeof *x);
    tarn_tensor *out = NULL;
    OK(tarn_reduce(ctx, op, t, dim, false, &out));
    double eps = out->dtype == TARN_FLOAT32 ? 0x1p-23 : 0x1p-52;
    for (size_t i = 0; i < tarn_tensor_numel(out); i++) {
        slice_of(t, dim, i, x);
        double expected = fold_of(op, x, n), got = nth(out, i);
        double bound = eps * fabs(expected) + 2 * (double)n * 0x1p-52;
        cr_assert(same(got, expected) || fabs(got - expected) <= bound,
                  "op %d of %s along %d: slice %zu is %.17g, expected %.17g", (int)op,
                  tarn_shape_text(t).text, dim, i, got, expected);
    }
    free(x);
    tarn_tensor_free(out);
}

Test(reduce, agrees_with_the_list_of_each_slice)
{
    const size_t shapes[][3] = {{1, 1, 1}, {2, 3, 5},  {7, 1, 9},  {1, 17, 1},
                                {3, 8, 4}, {2, 65, 3}, {3, 4, 70}, {2, 66, 67}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (tarn_dtype dtype = TARN_FLOAT32; dtype <= TARN_FLOAT64; dtype++) {
            tarn_tensor *t = randn(s, dtype, 3, shapes[s]);
            for (tarn_reduce_op op = TARN_SUM; op <= TARN_NORM; op++)
                for (int dim = 0; dim < 3; dim++) check_reduction(op, t, dim);
            tarn_tensor_free(t);
        }
}

/* More rows than one block has, in both directions; 65536 is exactly one block. */
Test(reduce, long_dimensions_are_joined_from_blocks)
{
    const size_t lengths[] = {65535, 65536, 65537, 140000};
    for (size_t i = 0; i < 4; i++)
        for (tarn_reduce_op op = TARN_SUM; op <= TARN_NORM; op++) {
            tarn_tensor *tall = randn(i, TARN_FLOAT32, SHAPE(lengths[i], 3));
            tarn_tensor *wide = randn(i, TARN_FLOAT64, SHAPE(2, lengths[i]));
            check_reduction(op, tall, 0);
            check_reduction(op, wide, 1);
            tarn_tensor_free(tall);
            tarn_tensor_free(wide);
        }
}

Test(reduce, the_first_of_equals_is_found_across_blocks)
{
    tarn_tensor *t = make(TARN_FLOAT32, SHAPE(200000), NULL), *out = NULL;
    OK(tarn_fill(ctx, t, 1));
    OK(tarn_reduce(ctx, TARN_ARGMAX, t, 0, false, &out));
    EXPECT(out, 0);
    tarn_tensor_free(out);
    ((float *)t->data)[150001] = 2;
    ((float *)t->data)[199999] = 2;
    OK(tarn_reduce(ctx, TARN_ARGMAX, t, 0, false, &out));
    EXPECT(out, 150001);
    tarn_tensor_free(out);
    ((float *)t->data)[150003] = NAN;
    ((float *)t->data)[150004] = NAN;
    ((float *)t->data)[199999] = NAN;
    OK(tarn_reduce(ctx, TARN_ARGMIN, t, TARN_ALL, false, &out));
    EXPECT(out, 150003);
    tarn_tensor_free(out);
    tarn_tensor_free(t);
}

Test(reduce, everything_is_folded_in_row_major_order)
{
    tarn_tensor *t = make(TARN_FLOAT32, SHAPE(2, 3), (double[]){3, 1, 4, 1, 5, 9});
    tarn_tensor *turned = NULL, *out = NULL;
    OK(tarn_permute(ctx, t, (int[]){1, 0}, &turned));
    OK(tarn_reduce(ctx, TARN_SUM, turned, TARN_ALL, false, &out));
    expect_shape(out, 0, NULL);
    EXPECT(out, 23);
    tarn_tensor_free(out);
    OK(tarn_reduce(ctx, TARN_ARGMIN, turned, TARN_ALL, true, &out));
    expect_shape(out, SHAPE(1, 1));
    EXPECT(out, 1); /* row-major order of the view is 3 1 1 5 4 9 */
    tarn_tensor_free(out);
    OK(tarn_reduce(ctx, TARN_MEAN, t, 1, true, &out));
    expect_shape(out, SHAPE(2, 1));
    EXPECT(out, 8.0f / 3, 5);
    tarn_tensor_free(out);
    tarn_tensor_free(turned);
    tarn_tensor_free(t);
}

Test(reduce, positions_are_float64_and_values_keep_their_type)
{
    tarn_tensor *t = make(TARN_FLOAT32, SHAPE(2), NULL), *out = NULL;
    OK(tarn_reduce(ctx, TARN_ARGMAX, t, 0, false, &out));
    cr_assert_eq(out->dtype, TARN_FLOAT64);
    tarn_tensor_free(out);
    OK(tarn_reduce(ctx, TARN_MAX, t, 0, false, &out));
    cr_assert_eq(out->dtype, TARN_FLOAT32);
    tarn_tensor_free(out);
    tarn_tensor_free(t);
}

/* NUM-15: NaN wins, wherever it stands. */
Test(reduce, a_row_with_nan_has_nan_extremes)
{
    for (size_t n = 1; n < 20; n++)
        for (size_t place = 0; place < n; place++) {
            tarn_tensor *t = make(TARN_FLOAT64, SHAPE(n, 2), NULL);
            ((double *)t->data)[2 * place] = NAN;
            for (tarn_reduce_op op = TARN_SUM; op <= TARN_NORM; op++) {
                tarn_tensor *out = NULL;
                OK(tarn_reduce(ctx, op, t, 0, false, &out));
                if (op == TARN_ARGMAX || op == TARN_ARGMIN)
                    cr_assert_eq(nth(out, 0), (double)place);
                else
                    cr_assert(isnan(nth(out, 0)), "op %d of %zu", (int)op, n);
                cr_assert_not(isnan(nth(out, 1)));
                tarn_tensor_free(out);
            }
            tarn_tensor_free(t);
        }
}

Test(reduce, infinities_are_numbers)
{
    tarn_tensor *t = make(TARN_FLOAT32, SHAPE(2, 3),
                          (double[]){-INFINITY, -INFINITY, -INFINITY, 1, INFINITY, 2});
    const double expected[][2] = {{-INFINITY, INFINITY},
                                  {-INFINITY, INFINITY},
                                  {-INFINITY, INFINITY},
                                  {-INFINITY, 1},
                                  {0, 1},
                                  {0, 0},
                                  {INFINITY, INFINITY}};
    for (tarn_reduce_op op = TARN_SUM; op <= TARN_NORM; op++) {
        tarn_tensor *out = NULL;
        OK(tarn_reduce(ctx, op, t, 1, false, &out));
        expect_values(out, 2, expected[op]);
        tarn_tensor_free(out);
    }
    tarn_tensor_free(t);
}

/* SHP-08 */
Test(reduce, of_nothing_is_the_neutral_element_or_refused)
{
    tarn_tensor *t = make(TARN_FLOAT32, SHAPE(2, 0), NULL), *out = NULL;
    OK(tarn_reduce(ctx, TARN_SUM, t, 1, false, &out));
    EXPECT(out, 0, 0);
    tarn_tensor_free(out);
    OK(tarn_reduce(ctx, TARN_NORM, t, TARN_ALL, false, &out));
    EXPECT(out, 0);
    tarn_tensor_free(out);
    OK(tarn_reduce(ctx, TARN_MEAN, t, 1, false, &out));
    EXPECT(out, NAN, NAN);
    tarn_tensor_free(out);
    OK(tarn_reduce(ctx, TARN_MAX, t, 0, false, &out)); /* no slices, so none is empty */
    expect_shape(out, SHAPE(0));
    tarn_tensor_free(out);
    out = NULL;
    FAILS(TARN_EINVAL, "max", tarn_reduce(ctx, TARN_MAX, t, 1, false, &out));
    FAILS(TARN_EINVAL, "argmin",
          tarn_reduce(ctx, TARN_ARGMIN, t, TARN_ALL, false, &out));
    FAILS(TARN_EINVAL, "sum: dimension is 2",
          tarn_reduce(ctx, TARN_SUM, t, 2, true, &out));
    FAILS(TARN_EINVAL, "dimension is -2",
          tarn_reduce(ctx, TARN_SUM, t, -2, true, &out));
    FAILS(TARN_EINVAL, "operation is 7",
          tarn_reduce(ctx, (tarn_reduce_op)(TARN_NORM + 1), t, 0, true, &out));
    cr_assert_null(out);
    tarn_tensor_free(t);
}

/* ---- Precision ------------------------------------------------------------------- */

/* In float32 the sum would stand still at 2^24. */
Test(reduce, float32_is_summed_in_double)
{
    size_t n = ((size_t)1 << 24) + 5;
    tarn_tensor *one = make(TARN_FLOAT32, SHAPE(1), (double[]){1}), *many = NULL,
                *out = NULL;
    OK(tarn_expand(ctx, one, 1, &n, &many));
    OK(tarn_reduce(ctx, TARN_MEAN, many, 0, false, &out));
    EXPECT(out, 1);
    tarn_tensor_free(out);
    tarn_tensor_free(one);
    tarn_tensor_free(many);
}

Test(reduce, norm_neither_overflows_nor_underflows)
{
    const struct {
        tarn_dtype dtype;
        double size;
    } cases[] = {{TARN_FLOAT64, 1e200},   {TARN_FLOAT64, 1e-200},
                 {TARN_FLOAT64, 1e308},   {TARN_FLOAT64, 0x1p-1070},
                 {TARN_FLOAT64, 0x1p500}, {TARN_FLOAT64, 0x1p-500},
                 {TARN_FLOAT32, 1e30},    {TARN_FLOAT32, 1e-40}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int dim = 0; dim < 2; dim++) {
            /* Rows or columns (1/2, -1/2, 1/2, 1/2) have norm 1. */
            tarn_tensor *t =
                make(cases[i].dtype, dim == 0 ? 2 : 1, (size_t[]){4, 1}, NULL);
            tarn_tensor *out = NULL;
            for (size_t j = 0; j < 4; j++)
                OK(tarn_tensor_set(ctx, t, (size_t[]){j, 0},
                                   (j == 1 ? -0.5 : 0.5) * cases[i].size));
            OK(tarn_reduce(ctx, TARN_NORM, t, 0, false, &out));
            double expected = 2 * nth(t, 0), got = nth(out, 0);
            cr_assert(fabs(got - expected) <= 4 * 0x1p-52 * expected, "%g: %.17g",
                      cases[i].size, got);
            tarn_tensor_free(t);
            tarn_tensor_free(out);
        }
}

/* Blocks of very different size: the norm of the joined is that of the large one. */
Test(reduce, norm_joins_blocks_of_any_size)
{
    tarn_tensor *t = make(TARN_FLOAT64, SHAPE(3 * 65536), NULL), *out = NULL;
    OK(tarn_fill(ctx, t, 0));
    ((double *)t->data)[5] = 3e200;
    ((double *)t->data)[65536] = 1e-200;
    ((double *)t->data)[131072] = 4e200;
    OK(tarn_reduce(ctx, TARN_NORM, t, 0, false, &out));
    cr_assert(fabs(nth(out, 0) - 5e200) <= 4 * 0x1p-52 * 5e200);
    tarn_tensor_free(out);
    for (int order = 0; order < 2; order++) {
        ((double *)t->data)[order == 0 ? 5 : 131072] = INFINITY;
        ((double *)t->data)[order == 0 ? 131072 : 5] = NAN;
        OK(tarn_reduce(ctx, TARN_NORM, t, 0, false, &out));
        EXPECT(out, NAN); /* as Inf + NaN is, though hypot says Inf */
        tarn_tensor_free(out);
    }
    tarn_tensor_free(t);
}

/* ---- softmax and cumsum ---------------------------------------------------------- */

/* Each weight is off by the rounding of exp (2 eps), of x - max (|x| < 5, so 5 eps)
 * and of the quotient. */
Test(reduce, softmax_agrees_with_the_quotient)
{
    const size_t shapes[][3] = {{1, 1, 1}, {3, 4, 5}, {2, 70, 3}, {1, 1, 66000}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int dim = 0; dim < 3; dim++) {
            tarn_tensor *t = randn(s, TARN_FLOAT32, 3, shapes[s]), *out = NULL;
            size_t n = t->shape[dim], slices = tarn_tensor_numel(t) / n;
            double *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y);
            OK(tarn_softmax(ctx, t, dim, &out));
            for (size_t i = 0; i < slices; i++) {
                slice_of(t, dim, i, x);
                slice_of(out, dim, i, y);
                long double sum = 0;
                for (size_t j = 0; j < n; j++) sum += expl((long double)x[j]);
                for (size_t j = 0; j < n; j++) {
                    double expected = (double)(expl((long double)x[j]) / sum);
                    cr_assert(fabs(y[j] - expected) <= 10 * 0x1p-23 * expected);
                }
            }
            free(x);
            free(y);
            tarn_tensor_free(t);
            tarn_tensor_free(out);
        }
}

Test(reduce, softmax_of_huge_equal_infinite_and_nan_entries)
{
    const double x[] = {1e30, 1e30,      -INFINITY, 5, INFINITY, 5,
                        NAN,  -INFINITY, -INFINITY, 3, 3,        -1e30};
    tarn_tensor *t = make(TARN_FLOAT32, SHAPE(6, 2), x), *out = NULL;
    OK(tarn_softmax(ctx, t, 1, &out));
    EXPECT(out, 0.5, 0.5, 0, 1, NAN, NAN, NAN, NAN, 0, 1, 1, 0);
    tarn_tensor_free(out);
    tarn_tensor_free(t);
}

Test(reduce, softmax_of_only_minus_infinity_is_nan)
{
    tarn_tensor *t = make(TARN_FLOAT64, SHAPE(2), (double[]){-INFINITY, -INFINITY});
    tarn_tensor *out = NULL;
    OK(tarn_softmax(ctx, t, 0, &out));
    EXPECT(out, NAN, NAN);
    tarn_tensor_free(out);
    tarn_tensor_free(t);
}

/* The largest stands in the first of two blocks: exp(1000) would be Inf. */
Test(reduce, softmax_finds_the_largest_of_all_blocks)
{
    tarn_tensor *t = make(TARN_FLOAT64, SHAPE(70000), NULL), *out = NULL;
    OK(tarn_fill(ctx, t, 0));
    ((double *)t->data)[3] = 1000;
    OK(tarn_softmax(ctx, t, 0, &out));
    for (size_t i = 0; i < 70000; i++)
        cr_assert_eq(((double *)out->data)[i], i == 3 ? 1 : 0);
    tarn_tensor_free(t);
    tarn_tensor_free(out);
}

Test(reduce, cumsum_keeps_each_partial_sum)
{
    tarn_tensor *t = make(TARN_FLOAT32, SHAPE(2, 3), (double[]){1, 2, 3, 4, NAN, 6});
    tarn_tensor *out = NULL;
    OK(tarn_cumsum(ctx, t, 1, &out));
    EXPECT(out, 1, 3, 6, 4, NAN, NAN);
    tarn_tensor_free(out);
    OK(tarn_cumsum(ctx, t, 0, &out));
    EXPECT(out, 1, 2, 3, 5, NAN, 9);
    tarn_tensor_free(out);
    tarn_tensor_free(t);
}

/* Sums of ones beyond one block of rows, side by side and alone. */
Test(reduce, cumsum_goes_on_from_block_to_block)
{
    for (size_t columns = 1; columns <= 130; columns += 129) {
        tarn_tensor *t = make(TARN_FLOAT64, SHAPE(70000, columns), NULL), *out = NULL;
        OK(tarn_fill(ctx, t, 1));
        OK(tarn_cumsum(ctx, t, 0, &out));
        for (size_t j = 65530; j < 65540; j++)
            cr_assert_eq(((double *)out->data)[j * columns + columns - 1],
                         (double)j + 1);
        tarn_tensor_free(t);
        tarn_tensor_free(out);
    }
}

Test(reduce, softmax_and_cumsum_of_nothing)
{
    tarn_tensor *t = make(TARN_FLOAT32, SHAPE(2, 0), NULL), *out = NULL;
    for (int dim = 0; dim < 2; dim++) {
        OK(tarn_softmax(ctx, t, dim, &out));
        expect_shape(out, SHAPE(2, 0));
        tarn_tensor_free(out);
        OK(tarn_cumsum(ctx, t, dim, &out));
        tarn_tensor_free(out);
    }
    out = NULL;
    FAILS(TARN_EINVAL, "softmax: dimension is 2", tarn_softmax(ctx, t, 2, &out));
    FAILS(TARN_EINVAL, "cumsum: dimension is -1", tarn_cumsum(ctx, t, -1, &out));
    cr_assert_null(out);
    tarn_tensor_free(t);
}
