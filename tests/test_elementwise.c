/* test_elementwise.c: functions of each element, arithmetic with broadcasting,
 * where. */
#include "tensors.h"

TestSuite(elementwise, .init = begin, .fini = end);

/* ---- The oracle: each operation on two doubles ----------------------------------- */

static double unary_of(tarn_unary_op op, double x)
{
    switch (op) {
    case TARN_NEG: return -x;
    case TARN_EXP: return exp(x);
    case TARN_LOG: return log(x);
    case TARN_SQRT: return sqrt(x);
    case TARN_ABS: return fabs(x);
    case TARN_TANH: return tanh(x);
    case TARN_SIGMOID: return 0.5 * (1 + tanh(x / 2));
    case TARN_RELU: return isnan(x) ? x : fmax(x, 0);
    case TARN_ELU: return x > 0 ? x : expm1(x);
    }
    return NAN;
}

static double binary_of(tarn_binary_op op, double a, double b)
{
    bool unknown = isnan(a) || isnan(b);
    switch (op) {
    case TARN_ADD: return a + b;
    case TARN_SUB: return a - b;
    case TARN_MUL: return a * b;
    case TARN_DIV: return a / b;
    case TARN_POW: return pow(a, b);
    case TARN_MINIMUM: return unknown ? (double)NAN : fmin(a, b);
    case TARN_MAXIMUM: return unknown ? (double)NAN : fmax(a, b);
    case TARN_EQ: return a == b;
    case TARN_LT: return a < b;
    case TARN_LE: return a <= b;
    case TARN_GT: return a > b;
    case TARN_GE: return a >= b;
    }
    return NAN;
}

/* Ordinary numbers and all that break formulas. */
static const double values[] = {0,     1,        -1,    2,         0.5,  -3.25,
                                1e-30, 88.5,     -88.5, 700,       -17,  NAN,
                                3,     INFINITY, -2,    -INFINITY, 1e-5, 19};
enum { VALUES = sizeof values / sizeof *values };

/* The oracle is rounded to the type after the function, which itself may be off by a
 * few units in the last place in either: 4 eps. */
static double tolerance(tarn_dtype dtype)
{
    return dtype == TARN_FLOAT32 ? 4 * 0x1p-23 : 4 * 0x1p-52;
}

static double rounded(tarn_dtype dtype, double x)
{
    return dtype == TARN_FLOAT32 ? (double)(float)x : x;
}

/* Near relative to the size of the number itself, however small. */
static bool agrees(tarn_dtype dtype, double got, double expected)
{
    expected = rounded(dtype, expected);
    double smallest = dtype == TARN_FLOAT32 ? 0x1p-148 : 0x1p-1073;
    return same(got, expected) ||
           fabs(got - expected) <= tolerance(dtype) * fabs(expected) + smallest;
}

/* NUM-15: with flags like -ffast-math NaN and Inf would not arrive. */
Test(elementwise, functions_agree_with_the_formulas_nan_and_inf_too)
{
    for (tarn_dtype dtype = TARN_FLOAT32; dtype <= TARN_FLOAT64; dtype++)
        for (tarn_unary_op op = TARN_NEG; op <= TARN_ELU; op++) {
            tarn_tensor *t = make(dtype, SHAPE(VALUES), values), *out = NULL;
            OK(tarn_unary(ctx, op, t, &out));
            cr_assert_eq(out->dtype, dtype);
            for (size_t i = 0; i < VALUES; i++) {
                double expected = unary_of(op, nth(t, i));
                if (op == TARN_SIGMOID && values[i] < -10) continue; /* below */
                cr_assert(agrees(dtype, nth(out, i), expected),
                          "op %d of %g: %.17g, not %.17g", (int)op, values[i],
                          nth(out, i), expected);
            }
            tarn_tensor_free(t);
            tarn_tensor_free(out);
        }
}

/* Far left sigmoid(x) is exp(x) to the last bits, as long as that is a number. */
Test(elementwise, sigmoid_keeps_its_precision_far_left)
{
    tarn_tensor *t =
        make(TARN_FLOAT64, SHAPE(4), (double[]){-40, -88.5, -700, -INFINITY});
    tarn_tensor *out = NULL;
    OK(tarn_unary(ctx, TARN_SIGMOID, t, &out));
    for (size_t i = 0; i < 4; i++)
        cr_assert(agrees(TARN_FLOAT64, nth(out, i), exp(nth(t, i))));
    tarn_tensor_free(t);
    tarn_tensor_free(out);
}

/* elu(x) near 0 is x: exp(x) - 1 would keep no digit of it. */
Test(elementwise, elu_has_no_cancellation)
{
    tarn_tensor *t = make(TARN_FLOAT32, SHAPE(1), (double[]){-1e-10}), *out = NULL;
    OK(tarn_unary(ctx, TARN_ELU, t, &out));
    cr_assert(agrees(TARN_FLOAT32, nth(out, 0), -1e-10));
    tarn_tensor_free(t);
    tarn_tensor_free(out);
}

Test(elementwise, arithmetic_agrees_with_the_formulas_in_every_pair_of_types)
{
    for (int types = 0; types < 4; types++)
        for (tarn_binary_op op = TARN_ADD; op <= TARN_GE; op++) {
            tarn_tensor *a = make((tarn_dtype)(types & 1), SHAPE(VALUES, 1), values);
            tarn_tensor *b = make((tarn_dtype)(types >> 1), SHAPE(VALUES), values),
                        *out = NULL;
            OK(tarn_binary(ctx, op, a, b, &out));
            expect_shape(out, SHAPE(VALUES, VALUES));
            cr_assert_eq(out->dtype, types > 0 ? TARN_FLOAT64 : TARN_FLOAT32);
            for (size_t i = 0; i < VALUES * VALUES; i++) {
                double x = nth(a, i / VALUES), y = nth(b, i % VALUES);
                cr_assert(agrees(out->dtype, nth(out, i), binary_of(op, x, y)),
                          "op %d of %g and %g: %.17g", (int)op, x, y, nth(out, i));
            }
            tarn_tensor_free(a);
            tarn_tensor_free(b);
            tarn_tensor_free(out);
        }
}

Test(elementwise, a_number_stands_on_the_side_it_is_put)
{
    for (int first = 0; first < 2; first++)
        for (tarn_binary_op op = TARN_ADD; op <= TARN_GE; op++) {
            tarn_tensor *t = make(TARN_FLOAT32, SHAPE(VALUES), values), *out = NULL;
            OK(tarn_binary_number(ctx, op, t, 2, first, &out));
            cr_assert_eq(out->dtype, TARN_FLOAT32);
            for (size_t i = 0; i < VALUES; i++) {
                double x = nth(t, i);
                double expected = first ? binary_of(op, 2, x) : binary_of(op, x, 2);
                cr_assert(agrees(TARN_FLOAT32, nth(out, i), expected), "op %d of %g",
                          (int)op, x);
            }
            tarn_tensor_free(t);
            tarn_tensor_free(out);
        }
}

/* A number takes the type of the tensor, or t:eq(0.1) would be 0 for its own 0.1. */
Test(elementwise, a_number_is_rounded_to_the_tensors_type)
{
    tarn_tensor *t = make(TARN_FLOAT32, SHAPE(1), (double[]){0.1}), *out = NULL;
    OK(tarn_binary_number(ctx, TARN_EQ, t, 0.1, false, &out));
    EXPECT(out, 1);
    tarn_tensor_free(t);
    tarn_tensor_free(out);
}

/* Shapes a, b and out, each of rank 4 (with ones); checked against one index at a
 * time. */
static void check_broadcast(const size_t *shape_a, const size_t *shape_b)
{
    tarn_tensor *a = make(TARN_FLOAT64, 4, shape_a, NULL);
    tarn_tensor *b = make(TARN_FLOAT64, 4, shape_b, NULL), *out = NULL;
    OK(tarn_binary_number(ctx, TARN_MUL, b, 1000, false, &out));
    tarn_tensor_free(b);
    b = out;
    OK(tarn_binary(ctx, TARN_ADD, a, b, &out));
    for (size_t i = 0; i < tarn_tensor_numel(out); i++) {
        size_t at_a = 0, at_b = 0, index[4];
        for (size_t d = 4, rest = i; d-- > 0; rest /= out->shape[d])
            index[d] = rest % out->shape[d];
        for (size_t d = 0; d < 4; d++) {
            at_a = at_a * shape_a[d] + (shape_a[d] == 1 ? 0 : index[d]);
            at_b = at_b * shape_b[d] + (shape_b[d] == 1 ? 0 : index[d]);
        }
        cr_assert_eq(nth(out, i), (double)at_a + 1000 * (double)at_b);
    }
    tarn_tensor_free(a);
    tarn_tensor_free(b);
    tarn_tensor_free(out);
}

Test(elementwise, broadcasting_agrees_with_indices_for_every_pattern_of_ones)
{
    const size_t full[4] = {2, 3, 1, 5};
    for (unsigned pattern = 0; pattern < 256; pattern++) {
        size_t a[4], b[4];
        for (unsigned d = 0; d < 4; d++) {
            a[d] = pattern >> d & 1 ? full[d] : 1;
            b[d] = pattern >> (4 + d) & 1 ? full[d] : 1;
        }
        check_broadcast(a, b);
    }
}

/* More than one block of a walk, whose borders fall inside rows. */
Test(elementwise, long_rows_and_many_rows_are_complete)
{
    check_broadcast((size_t[]){1, 1, 3, 70001}, (size_t[]){1, 1, 3, 1});
    check_broadcast((size_t[]){1, 1, 50001, 3}, (size_t[]){1, 1, 1, 3});
    check_broadcast((size_t[]){1, 1, 1, 1}, (size_t[]){1, 1, 1, 131073});
}

/* SHP-08: nothing in, nothing out. */
Test(elementwise, empty_tensors_give_empty_ones)
{
    tarn_tensor *t = make(TARN_FLOAT32, SHAPE(2, 0), NULL), *out = NULL;
    tarn_tensor *row = make(TARN_FLOAT32, SHAPE(2, 1), NULL);
    OK(tarn_unary(ctx, TARN_EXP, t, &out));
    expect_shape(out, SHAPE(2, 0));
    tarn_tensor_free(out);
    OK(tarn_binary(ctx, TARN_ADD, t, row, &out));
    expect_shape(out, SHAPE(2, 0));
    tarn_tensor_free(out);
    tarn_tensor_free(t);
    tarn_tensor_free(row);
}

Test(elementwise, errors_name_the_operation_and_both_shapes)
{
    tarn_tensor *a = make(TARN_FLOAT32, SHAPE(2, 3), NULL), *out = NULL;
    tarn_tensor *b = make(TARN_FLOAT32, SHAPE(4), NULL);
    FAILS(TARN_ESHAPE, "sub: shapes [2, 3] and [4]",
          tarn_binary(ctx, TARN_SUB, a, b, &out));
    FAILS(TARN_ESHAPE, "where: ", tarn_where(ctx, a, a, b, &out));
    FAILS(TARN_EINVAL, "operation is 12",
          tarn_binary(ctx, (tarn_binary_op)(TARN_GE + 1), a, b, &out));
    FAILS(TARN_EINVAL, "operation is 9",
          tarn_unary(ctx, (tarn_unary_op)(TARN_ELU + 1), a, &out));
    FAILS(TARN_EINVAL, "operation is 12",
          tarn_binary_number(ctx, (tarn_binary_op)(TARN_GE + 1), a, 1, true, &out));
    cr_assert_null(out);
    tarn_tensor_free(a);
    tarn_tensor_free(b);
}

/* ---- where ----------------------------------------------------------------------- */

Test(elementwise, where_takes_a_where_the_mask_is_not_zero)
{
    tarn_tensor *mask = make(TARN_FLOAT32, SHAPE(4), (double[]){0, 1, NAN, -0.0});
    tarn_tensor *a = make(TARN_FLOAT64, SHAPE(2, 1), (double[]){10, INFINITY});
    tarn_tensor *b = make(TARN_FLOAT32, SHAPE(4), (double[]){NAN, 2, 3, 4}),
                *out = NULL;
    OK(tarn_where(ctx, mask, a, b, &out));
    cr_assert_eq(out->dtype, TARN_FLOAT64);
    EXPECT(out, NAN, 10, 10, 4, NAN, INFINITY, INFINITY, 4);
    tarn_tensor_free(mask);
    tarn_tensor_free(a);
    tarn_tensor_free(b);
    tarn_tensor_free(out);
}

/* 1e-300 is 0 in float32, but it is not 0. */
Test(elementwise, where_reads_the_mask_in_its_own_type)
{
    tarn_tensor *mask = make(TARN_FLOAT64, SHAPE(3), (double[]){1e-300, 0, NAN});
    tarn_tensor *a = make(TARN_FLOAT32, SHAPE(1), (double[]){1});
    tarn_tensor *b = make(TARN_FLOAT32, SHAPE(1), (double[]){2}), *out = NULL;
    OK(tarn_where(ctx, mask, a, b, &out));
    cr_assert_eq(out->dtype, TARN_FLOAT32);
    EXPECT(out, 1, 2, 1);
    tarn_tensor_free(mask);
    tarn_tensor_free(a);
    tarn_tensor_free(b);
    tarn_tensor_free(out);
}
