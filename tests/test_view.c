/* test_view.c: narrow, select, permute, reshape, expand; far positions (INT-01). */
#include "tensors.h"

TestSuite(view, .init = begin, .fini = end);

Test(view, narrow_takes_steps_of_either_sign)
{
    tarn_tensor *t = make(TARN_FLOAT32, SHAPE(2, 5), NULL), *v = NULL, *w = NULL;
    OK(tarn_narrow(ctx, t, 1, 0, 3, 2, &v));
    EXPECT(v, 0, 2, 4, 5, 7, 9);
    OK(tarn_narrow(ctx, v, 1, 2, 2, -2, &w)); /* a view of a view */
    EXPECT(w, 4, 0, 9, 5);
    tarn_tensor_free(w);
    OK(tarn_narrow(ctx, v, 0, 1, 2, -1, &w));
    EXPECT(w, 5, 7, 9, 0, 2, 4);
    tarn_tensor_free(v);
    tarn_tensor_free(w);
    tarn_tensor_free(t);
}

Test(view, narrow_may_be_empty_and_of_any_step_if_one_long)
{
    tarn_tensor *t = make(TARN_FLOAT32, SHAPE(3), NULL), *v = NULL;
    OK(tarn_narrow(ctx, t, 0, 3, 0, 1, &v));
    cr_assert_eq(tarn_tensor_numel(v), 0);
    tarn_tensor_free(v);
    OK(tarn_narrow(ctx, t, 0, 2, 1, PTRDIFF_MIN, &v));
    EXPECT(v, 2);
    tarn_tensor_free(v);
    tarn_tensor_free(t);
}

Test(view, narrow_outside_is_refused)
{
    tarn_tensor *t = make(TARN_FLOAT32, SHAPE(5), NULL), *v = NULL;
    FAILS(TARN_EINVAL, "narrow", tarn_narrow(ctx, t, 0, 0, 6, 1, &v));
    FAILS(TARN_EINVAL, "narrow", tarn_narrow(ctx, t, 0, 5, 1, 1, &v));
    FAILS(TARN_EINVAL, "narrow", tarn_narrow(ctx, t, 0, 6, 0, 1, &v));
    FAILS(TARN_EINVAL, "narrow", tarn_narrow(ctx, t, 0, 1, 3, 2, &v));
    FAILS(TARN_EINVAL, "narrow", tarn_narrow(ctx, t, 0, 1, 3, -1, &v));
    FAILS(TARN_EINVAL, "narrow", tarn_narrow(ctx, t, 0, 0, 2, 0, &v));
    FAILS(TARN_EINVAL, "narrow", tarn_narrow(ctx, t, 0, 4, 2, PTRDIFF_MIN, &v));
    FAILS(TARN_EINVAL, "narrow", tarn_narrow(ctx, t, 0, 0, SIZE_MAX, PTRDIFF_MAX, &v));
    FAILS(TARN_EINVAL, "dimension is 1", tarn_narrow(ctx, t, 1, 0, 1, 1, &v));
    FAILS(TARN_EINVAL, "dimension is -1", tarn_narrow(ctx, t, -1, 0, 1, 1, &v));
    cr_assert_null(v);
    tarn_tensor_free(t);
}

Test(view, select_drops_its_dimension)
{
    tarn_tensor *t = make(TARN_FLOAT64, SHAPE(2, 3, 2), NULL), *v = NULL;
    OK(tarn_select(ctx, t, 1, 2, &v));
    expect_shape(v, SHAPE(2, 2));
    EXPECT(v, 4, 5, 10, 11);
    tarn_tensor_free(v);
    v = NULL;
    FAILS(TARN_EINVAL, "position is 3", tarn_select(ctx, t, 1, 3, &v));
    FAILS(TARN_EINVAL, "dimension is 3", tarn_select(ctx, t, 3, 0, &v));
    cr_assert_null(v);
    tarn_tensor_free(t);
}

Test(view, permute_moves_dimensions)
{
    tarn_tensor *t = make(TARN_FLOAT32, SHAPE(2, 3, 2), NULL), *v = NULL;
    OK(tarn_permute(ctx, t, (int[]){2, 0, 1}, &v));
    expect_shape(v, SHAPE(2, 2, 3));
    EXPECT(v, 0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11);
    tarn_tensor_free(v);
    v = NULL;
    FAILS(TARN_EINVAL, "permute", tarn_permute(ctx, t, (int[]){0, 1, 1}, &v));
    FAILS(TARN_EINVAL, "permute", tarn_permute(ctx, t, (int[]){0, 1, 3}, &v));
    FAILS(TARN_EINVAL, "permute", tarn_permute(ctx, t, (int[]){0, -1, 1}, &v));
    tarn_tensor_free(t);
}

/* ---- reshape --------------------------------------------------------------------- */

/* REP-13: reading on from the column's first element would give [2, 3]. */
Test(view, reshape_of_a_column_is_the_column)
{
    tarn_tensor *t = make(TARN_FLOAT32, SHAPE(2, 2), (double[]){1, 2, 3, 4});
    tarn_tensor *column = NULL, *out = NULL;
    OK(tarn_narrow(ctx, t, 1, 1, 1, 1, &column));
    OK(tarn_reshape(ctx, column, SHAPE(2), &out));
    EXPECT(out, 2, 4);
    cr_assert_eq(out->storage, t->storage);
    tarn_tensor_free(t);
    tarn_tensor_free(column);
    tarn_tensor_free(out);
}

/* Every shape of 24 elements with extents from a list, from several layouts. */
Test(view, reshape_keeps_row_major_order_in_every_layout)
{
    const size_t shapes[][4] = {{24, 1, 1, 1}, {1, 24, 1, 1}, {4, 6, 1, 1},
                                {6, 4, 1, 1},  {2, 3, 4, 1},  {4, 3, 2, 1},
                                {2, 2, 2, 3},  {3, 1, 8, 1}};
    const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {2, 1, 0}};
    tarn_tensor *t = make(TARN_FLOAT64, SHAPE(2, 3, 4), NULL);
    for (size_t o = 0; o < sizeof orders / sizeof *orders; o++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
            tarn_tensor *v = NULL, *out = NULL;
            OK(tarn_permute(ctx, t, orders[o], &v));
            OK(tarn_reshape(ctx, v, 4, shapes[s], &out));
            expect_shape(out, 4, shapes[s]);
            for (size_t i = 0; i < 24; i++) cr_assert_eq(nth(out, i), nth(v, i));
            tarn_tensor_free(v);
            tarn_tensor_free(out);
        }
    tarn_tensor_free(t);
}

Test(view, reshape_is_a_view_where_strides_allow_one)
{
    tarn_tensor *t = make(TARN_FLOAT32, SHAPE(4, 6), NULL), *rows = NULL, *out = NULL;
    OK(tarn_narrow(ctx, t, 0, 3, 2, -2, &rows)); /* rows 3 and 1 */
    OK(tarn_reshape(ctx, rows, SHAPE(2, 1, 3, 2), &out));
    cr_assert_eq(out->storage, t->storage);
    EXPECT(out, 18, 19, 20, 21, 22, 23, 6, 7, 8, 9, 10, 11);
    tarn_tensor_free(out);
    OK(tarn_reshape(ctx, rows, SHAPE(12), &out)); /* no step leads from row to row */
    cr_assert_neq(out->storage, t->storage);
    EXPECT(out, 18, 19, 20, 21, 22, 23, 6, 7, 8, 9, 10, 11);
    tarn_tensor_free(out);
    tarn_tensor_free(rows);
    tarn_tensor_free(t);
}

Test(view, reshape_counts_elements)
{
    tarn_tensor *t = make(TARN_FLOAT32, SHAPE(2, 3), NULL), *empty = NULL, *out = NULL;
    FAILS(TARN_ESHAPE,
          "reshape: shape is [4] with 4 elements, but the tensor is [2, 3]",
          tarn_reshape(ctx, t, SHAPE(4), &out));
    FAILS(TARN_ESHAPE, "reshape", tarn_reshape(ctx, t, 0, NULL, &out));
    FAILS(TARN_EINVAL, "rank is 9",
          tarn_reshape(ctx, t, SHAPE(6, 1, 1, 1, 1, 1, 1, 1, 1), &out));
    OK(tarn_narrow(ctx, t, 1, 3, 0, 1, &empty));
    OK(tarn_reshape(ctx, empty, SHAPE(7, 0), &out));
    cr_assert_eq(tarn_tensor_numel(out), 0);
    tarn_tensor_free(out);
    OK(tarn_reshape(ctx, t, SHAPE(1, 6, 1), &out));
    tarn_tensor_free(out);
    tarn_tensor_free(empty);
    tarn_tensor_free(t);
}

Test(view, a_number_reshapes_to_ones_and_back)
{
    tarn_tensor *t = make(TARN_FLOAT32, 0, NULL, (double[]){3}), *ones = NULL,
                *back = NULL;
    OK(tarn_reshape(ctx, t, SHAPE(1, 1), &ones));
    OK(tarn_reshape(ctx, ones, 0, NULL, &back));
    EXPECT(ones, 3);
    EXPECT(back, 3);
    tarn_tensor_free(t);
    tarn_tensor_free(ones);
    tarn_tensor_free(back);
}

/* ---- expand ---------------------------------------------------------------------- */

Test(view, expand_repeats_ones_and_leading_dimensions)
{
    tarn_tensor *t = make(TARN_FLOAT32, SHAPE(2, 1), (double[]){5, 6}), *v = NULL;
    OK(tarn_expand(ctx, t, SHAPE(2, 2, 3), &v));
    EXPECT(v, 5, 5, 5, 6, 6, 6, 5, 5, 5, 6, 6, 6);
    tarn_tensor_free(v);
    OK(tarn_expand(ctx, t, SHAPE(2, 0), &v));
    cr_assert_eq(tarn_tensor_numel(v), 0);
    tarn_tensor_free(v);
    v = NULL;
    FAILS(TARN_ESHAPE, "expand", tarn_expand(ctx, t, SHAPE(3, 1), &v));
    FAILS(TARN_ESHAPE, "expand", tarn_expand(ctx, t, SHAPE(2), &v));
    size_t big = (size_t)1 << 40;
    FAILS(TARN_ENOMEM, "expand", tarn_expand(ctx, t, SHAPE(big, 2, big), &v));
    cr_assert_null(v);
    tarn_tensor_free(t);
}

/* INT-01: positions beyond 2^31 and 2^32, without the memory for them. */
Test(view, far_positions_of_huge_views_are_found)
{
    const size_t far = ((size_t)1 << 33) + 5;
    tarn_tensor *t = make(TARN_FLOAT32, SHAPE(3), (double[]){7, 8, 9});
    tarn_tensor *huge = NULL, *v = NULL, *w = NULL;
    OK(tarn_expand(ctx, t, SHAPE(far, 3), &huge));
    cr_assert_eq(tarn_tensor_numel(huge), 3 * far);
    cr_assert_eq(nth(huge, 3 * far - 2), 8);
    OK(tarn_select(ctx, huge, 0, far - 1, &v));
    EXPECT(v, 7, 8, 9);
    tarn_tensor_free(v);
    OK(tarn_narrow(ctx, huge, 0, far - 1, 2, -(ptrdiff_t)(far - 1), &v));
    EXPECT(v, 7, 8, 9, 7, 8, 9);
    tarn_tensor_free(v);
    OK(tarn_permute(ctx, huge, (int[]){1, 0}, &v));
    OK(tarn_narrow(ctx, v, 1, (size_t)1 << 32, 2, 3, &w));
    EXPECT(w, 7, 7, 8, 8, 9, 9);
    tarn_tensor_free(w);
    OK(tarn_reshape(ctx, huge, SHAPE(1, far, 1, 3), &w));
    cr_assert_eq(w->storage, t->storage);
    cr_assert_eq(nth(w, 3 * far - 1), 9);
    tarn_tensor_free(w);
    w = NULL;
    FAILS(TARN_EINVAL, "position is 8589934597", tarn_select(ctx, huge, 0, far, &w));
    FAILS(TARN_EINVAL, "index is [8589934597, 0]",
          tarn_tensor_get(ctx, huge, (size_t[]){far, 0}, &(double){0}));
    tarn_tensor_free(v);
    tarn_tensor_free(huge);
    tarn_tensor_free(t);
}
