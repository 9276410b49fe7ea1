/* test_mm.c: matrix products against the triple sum. */
#include "tensors.h"

TestSuite(mm, .init = begin, .fini = end);

/* Checks out = a b for matrices. Each element is a sum of k products of numbers of
 * size 1: it may be off by eps k times the sum of their magnitudes, in whatever order
 * it is taken. */
static void check_matrices(const tarn_tensor *a, const tarn_tensor *b,
                           const tarn_tensor *out)
{
    size_t n = a->shape[0], k = a->shape[1], m = b->shape[1];
    double eps = out->dtype == TARN_FLOAT32 ? 0x1p-23 : 0x1p-52;
    expect_shape(out, SHAPE(n, m));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++) {
            long double sum = 0, size = 0;
            for (size_t l = 0; l < k; l++) {
                long double product =
                    (long double)nth(a, i * k + l) * (long double)nth(b, l * m + j);
                sum += product;
                size += fabsl(product);
            }
            double got = nth(out, i * m + j);
            double bound = eps * (double)k * (double)size;
            cr_assert(fabs(got - (double)sum) <= bound,
                      "[%zu, %zu, %zu]: element %zu, %zu is %.9g, expected %.9g", n, k,
                      m, i, j, got, (double)sum);
        }
}

Test(mm, agrees_with_the_triple_sum_at_every_edge_of_the_tiles)
{
    const size_t sizes[][3] = {{1, 1, 1},   {1, 7, 1},    {2, 3, 2},    {3, 5, 17},
                               {5, 1, 16},  {7, 33, 15},  {64, 9, 8},   {65, 256, 9},
                               {9, 257, 3}, {66, 11, 33}, {3, 513, 31}, {2, 3, 513}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int types = 0; types < 4; types++) {
            const size_t *size = sizes[s];
            tarn_tensor *a = randn(1, (tarn_dtype)(types & 1), SHAPE(size[0], size[1]));
            tarn_tensor *b =
                            randn(2, (tarn_dtype)(types >> 1), SHAPE(size[1], size[2])),
                        *out = NULL;
            OK(tarn_mm(ctx, a, b, &out));
            cr_assert_eq(out->dtype, types > 0 ? TARN_FLOAT64 : TARN_FLOAT32);
            check_matrices(a, b, out);
            tarn_tensor_free(a);
            tarn_tensor_free(b);
            tarn_tensor_free(out);
        }
}

/* SHP-05: layout is no part of the value. */
Test(mm, a_view_gives_the_bits_of_its_copy)
{
    tarn_tensor *t = randn(3, TARN_FLOAT32, SHAPE(40, 40)), *turned = NULL,
                *rows = NULL;
    OK(tarn_permute(ctx, t, (int[]){1, 0}, &turned));
    OK(tarn_narrow(ctx, turned, 1, 39, 20, -2, &rows));
    tarn_tensor *copy = NULL, *one = NULL, *two = NULL;
    OK(tarn_contiguous(ctx, rows, &copy));
    OK(tarn_mm(ctx, turned, rows, &one));
    OK(tarn_mm(ctx, turned, copy, &two));
    expect_same_bits(one, two, "right operand");
    check_matrices(turned, rows, one);
    tarn_tensor_free(copy);
    tarn_tensor_free(two);
    OK(tarn_contiguous(ctx, turned, &copy));
    OK(tarn_mm(ctx, copy, rows, &two));
    expect_same_bits(one, two, "left operand");
    tarn_tensor *all[] = {t, turned, rows, copy, one, two};
    for (size_t i = 0; i < 6; i++) tarn_tensor_free(all[i]);
}

/* INT-01's comparison, small: a row of a product is that row's product alone. */
Test(mm, a_row_alone_gives_the_same_bits)
{
    tarn_tensor *a = randn(4, TARN_FLOAT32, SHAPE(131, 300));
    tarn_tensor *b = randn(5, TARN_FLOAT32, SHAPE(300, 20)), *all = NULL;
    OK(tarn_mm(ctx, a, b, &all));
    for (size_t i = 0; i < 131; i += 65) {
        tarn_tensor *row = NULL, *alone = NULL, *part = NULL;
        OK(tarn_select(ctx, a, 0, i, &row));
        OK(tarn_mm(ctx, row, b, &alone));
        OK(tarn_select(ctx, all, 0, i, &part));
        expect_same_bits(alone, part, "row");
        tarn_tensor_free(row);
        tarn_tensor_free(alone);
        tarn_tensor_free(part);
    }
    tarn_tensor_free(a);
    tarn_tensor_free(b);
    tarn_tensor_free(all);
}

Test(mm, vectors_are_a_row_on_the_left_and_a_column_on_the_right)
{
    tarn_tensor *v = make(TARN_FLOAT32, SHAPE(2), (double[]){1, 10}), *out = NULL;
    tarn_tensor *m = make(TARN_FLOAT32, SHAPE(2, 2), (double[]){1, 2, 3, 4});
    tarn_tensor *stack = make(TARN_FLOAT32, SHAPE(3, 1, 2), NULL);
    OK(tarn_mm(ctx, v, m, &out));
    expect_shape(out, SHAPE(2));
    EXPECT(out, 31, 42);
    tarn_tensor_free(out);
    OK(tarn_mm(ctx, m, v, &out));
    expect_shape(out, SHAPE(2));
    EXPECT(out, 21, 43);
    tarn_tensor_free(out);
    OK(tarn_mm(ctx, v, v, &out));
    expect_shape(out, 0, NULL);
    EXPECT(out, 101);
    tarn_tensor_free(out);
    OK(tarn_mm(ctx, stack, v, &out));
    expect_shape(out, SHAPE(3, 1));
    EXPECT(out, 10, 32, 54);
    tarn_tensor_free(out);
    tarn_tensor_free(v);
    tarn_tensor_free(m);
    tarn_tensor_free(stack);
}

Test(mm, a_batch_broadcasts_and_each_entry_is_its_own_product)
{
    tarn_tensor *a = randn(6, TARN_FLOAT64, SHAPE(3, 1, 4, 5));
    tarn_tensor *b = randn(7, TARN_FLOAT64, SHAPE(2, 5, 6)), *out = NULL;
    OK(tarn_mm(ctx, a, b, &out));
    expect_shape(out, SHAPE(3, 2, 4, 6));
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 2; j++) {
            tarn_tensor *x = NULL, *left = NULL, *right = NULL, *part = NULL,
                        *entry = NULL;
            OK(tarn_select(ctx, a, 0, i, &x));
            OK(tarn_select(ctx, x, 0, 0, &left));
            OK(tarn_select(ctx, b, 0, j, &right));
            OK(tarn_select(ctx, out, 0, i, &part));
            OK(tarn_select(ctx, part, 0, j, &entry));
            check_matrices(left, right, entry);
            tarn_tensor *all[] = {x, left, right, part, entry};
            for (size_t f = 0; f < 5; f++) tarn_tensor_free(all[f]);
        }
    tarn_tensor_free(a);
    tarn_tensor_free(b);
    tarn_tensor_free(out);
}

/* SHP-08 */
Test(mm, a_sum_of_no_products_is_zero_and_empty_outputs_are_empty)
{
    const size_t sizes[][3] = {{2, 0, 3}, {2, 0, 1}, {0, 4, 3}, {2, 4, 0}, {0, 0, 0}};
    for (size_t s = 0; s < 5; s++) {
        tarn_tensor *a = make(TARN_FLOAT32, SHAPE(sizes[s][0], sizes[s][1]), NULL);
        tarn_tensor *b = make(TARN_FLOAT32, SHAPE(sizes[s][1], sizes[s][2]), NULL);
        tarn_tensor *out = NULL;
        OK(tarn_mm(ctx, a, b, &out));
        expect_shape(out, SHAPE(sizes[s][0], sizes[s][2]));
        for (size_t i = 0; i < tarn_tensor_numel(out); i++)
            cr_assert_eq(nth(out, i), 0);
        tarn_tensor_free(a);
        tarn_tensor_free(b);
        tarn_tensor_free(out);
    }
}

/* NUM-15: 0 times NaN is NaN, 0 times Inf is NaN; no zero is skipped, no neighbour
 * hurt. */
Test(mm, nan_and_inf_go_where_mathematics_sends_them)
{
    tarn_tensor *a = make(TARN_FLOAT32, SHAPE(2, 2), (double[]){0, 1, 2, 3});
    tarn_tensor *b =
        make(TARN_FLOAT32, SHAPE(2, 3), (double[]){NAN, INFINITY, 1, 1, 1, INFINITY});
    tarn_tensor *out = NULL;
    OK(tarn_mm(ctx, a, b, &out));
    EXPECT(out, NAN, NAN, INFINITY, NAN, INFINITY, INFINITY);
    tarn_tensor_free(out);
    tarn_tensor *column = NULL;
    OK(tarn_narrow(ctx, b, 1, 1, 1, 1, &column));
    OK(tarn_mm(ctx, a, column, &out));
    EXPECT(out, NAN, INFINITY);
    tarn_tensor_free(out);
    tarn_tensor_free(column);
    tarn_tensor_free(a);
    tarn_tensor_free(b);
}

Test(mm, errors_name_both_shapes)
{
    tarn_tensor *a = make(TARN_FLOAT32, SHAPE(2, 3), NULL), *out = NULL;
    tarn_tensor *number = make(TARN_FLOAT64, 0, NULL, NULL);
    tarn_tensor *b = make(TARN_FLOAT32, SHAPE(4, 3, 2), NULL);
    tarn_tensor *c = make(TARN_FLOAT32, SHAPE(3, 2, 3), NULL);
    FAILS(TARN_ESHAPE, "mm: operands are [2, 3] and [2, 3]", tarn_mm(ctx, a, a, &out));
    FAILS(TARN_ESHAPE, "mm: operands are [] and [2, 3]", tarn_mm(ctx, number, a, &out));
    FAILS(TARN_ESHAPE, "mm", tarn_mm(ctx, c, b, &out));
    cr_assert_null(out);
    tarn_tensor_free(a);
    tarn_tensor_free(number);
    tarn_tensor_free(b);
    tarn_tensor_free(c);
}
