/* test_tensor.c: making tensors, their elements, filling and copying. */
#include "tensors.h"

TestSuite(tensor, .init = begin, .fini = end);

Test(tensor, storage_is_shared_and_goes_with_the_last)
{
    tarn_tensor *t = make(TARN_FLOAT32, SHAPE(2, 3), NULL), *view = NULL;
    OK(tarn_select(ctx, t, 0, 1, &view));
    OK(tarn_tensor_set(ctx, view, (size_t[]){2}, 50));
    cr_assert_eq(nth(t, 5), 50);
    tarn_tensor_free(t);
    EXPECT(view, 3, 4, 50);
    tarn_tensor_free(view);
    tarn_tensor_free(NULL);
}

Test(tensor, memory_is_aligned_for_vectors)
{
    tarn_tensor *t = make(TARN_FLOAT64, SHAPE(5), NULL);
    cr_assert_eq((uintptr_t)tarn_tensor_data(t) % 64, 0);
    tarn_tensor_free(t);
}

Test(tensor, rank_is_0_to_8)
{
    tarn_tensor *scalar = make(TARN_FLOAT32, 0, NULL, (double[]){7}), *t = NULL;
    cr_assert_eq(tarn_tensor_numel(scalar), 1);
    cr_assert_eq(nth(scalar, 0), 7);
    cr_assert_str_eq(tarn_shape_text(scalar).text, "[]");
    tarn_tensor_free(scalar);
    OK(tarn_tensor_new(ctx, TARN_FLOAT32, SHAPE(1, 2, 1, 2, 1, 2, 1, 2), &t));
    cr_assert_eq(tarn_tensor_numel(t), 16);
    tarn_tensor_free(t);
    t = NULL;
    FAILS(TARN_EINVAL, "rank is 9",
          tarn_tensor_new(ctx, TARN_FLOAT32, SHAPE(1, 1, 1, 1, 1, 1, 1, 1, 1), &t));
    FAILS(TARN_EINVAL, "rank is -1", tarn_tensor_new(ctx, TARN_FLOAT32, -1, NULL, &t));
    cr_assert_null(t);
}

Test(tensor, extents_may_be_zero)
{
    tarn_tensor *t = make(TARN_FLOAT64, SHAPE(3, 0, 2), NULL), *copy = NULL;
    cr_assert_eq(tarn_tensor_numel(t), 0);
    cr_assert(tarn_tensor_is_contiguous(t));
    OK(tarn_fill(ctx, t, 1));
    OK(tarn_clone(ctx, t, TARN_FLOAT32, &copy));
    expect_shape(copy, SHAPE(3, 0, 2));
    FAILS(TARN_EINVAL, "outside the shape [3, 0, 2]",
          tarn_tensor_get(ctx, t, (size_t[]){0, 0, 0}, &(double){0}));
    tarn_tensor_free(t);
    tarn_tensor_free(copy);
}

Test(tensor, a_size_beyond_all_memory_is_out_of_memory)
{
    size_t big = (size_t)1 << 40;
    tarn_tensor *t = NULL;
    FAILS(TARN_ENOMEM, "[1099511627776, 1099511627776]",
          tarn_tensor_new(ctx, TARN_FLOAT32, SHAPE(big, big), &t));
    FAILS(TARN_ENOMEM, "too many elements",
          tarn_tensor_new(ctx, TARN_FLOAT32, SHAPE(0, big, big), &t));
    FAILS(TARN_ENOMEM, "float64", /* countable, but not in bytes */
          tarn_tensor_new(ctx, TARN_FLOAT64, SHAPE((size_t)1 << 62), &t));
    cr_assert_null(t);
}

Test(tensor, get_and_set_check_each_index)
{
    tarn_tensor *t = make(TARN_FLOAT32, SHAPE(2, 3), NULL);
    double x = -1;
    FAILS(TARN_EINVAL, "index is [0, 3]",
          tarn_tensor_get(ctx, t, (size_t[]){0, 3}, &x));
    FAILS(TARN_EINVAL, "index is [2, 0]", tarn_tensor_set(ctx, t, (size_t[]){2, 0}, 1));
    cr_assert_eq(x, -1);
    OK(tarn_tensor_set(ctx, t, (size_t[]){1, 0}, 1e300)); /* rounds to float32's Inf */
    cr_assert_eq(nth(t, 3), INFINITY);
    tarn_tensor_free(t);
}

Test(tensor, fill_writes_through_views_of_any_layout)
{
    tarn_tensor *t = make(TARN_FLOAT32, SHAPE(3, 4), NULL), *view = NULL, *wide = NULL;
    OK(tarn_narrow(ctx, t, 1, 3, 2, -2, &view));
    OK(tarn_fill(ctx, view, NAN));
    EXPECT(t, 0, NAN, 2, NAN, 4, NAN, 6, NAN, 8, NAN, 10, NAN);
    tarn_tensor_free(view);

    /* One element stands for 2^60: it must be written once, not that often. */
    OK(tarn_narrow(ctx, t, 0, 0, 1, 1, &view));
    OK(tarn_expand(ctx, view, SHAPE((size_t)1 << 58, 4), &wide));
    OK(tarn_fill(ctx, wide, 5));
    EXPECT(view, 5, 5, 5, 5);
    tarn_tensor_free(t);
    tarn_tensor_free(view);
    tarn_tensor_free(wide);
}

Test(tensor, copy_converts_and_broadcasts)
{
    tarn_tensor *dst = make(TARN_FLOAT32, SHAPE(2, 3), NULL);
    tarn_tensor *row = make(TARN_FLOAT64, SHAPE(3), (double[]){0.1, NAN, -INFINITY});
    OK(tarn_copy(ctx, dst, row));
    EXPECT(dst, 0.1f, NAN, -INFINITY, 0.1f, NAN, -INFINITY);
    FAILS(TARN_ESHAPE, "copy", tarn_copy(ctx, row, dst));
    tarn_tensor *four = make(TARN_FLOAT32, SHAPE(4), NULL);
    FAILS(TARN_ESHAPE, "[2, 3] and [4]", tarn_copy(ctx, dst, four));
    tarn_tensor_free(dst);
    tarn_tensor_free(row);
    tarn_tensor_free(four);
}

Test(tensor, copy_onto_itself_shifted_is_as_if_copied_first)
{
    for (int reverse = 0; reverse < 2; reverse++) {
        tarn_tensor *t = make(TARN_FLOAT64, SHAPE(6), NULL), *low = NULL, *high = NULL;
        OK(tarn_narrow(ctx, t, 0, 0, 5, 1, &low));
        OK(tarn_narrow(ctx, t, 0, 1, 5, 1, &high));
        OK(reverse ? tarn_copy(ctx, low, high) : tarn_copy(ctx, high, low));
        if (reverse)
            EXPECT(t, 1, 2, 3, 4, 5, 5);
        else
            EXPECT(t, 0, 0, 1, 2, 3, 4);
        tarn_tensor_free(t);
        tarn_tensor_free(low);
        tarn_tensor_free(high);
    }
}

Test(tensor, copy_of_its_own_transpose_and_mirror)
{
    tarn_tensor *t = make(TARN_FLOAT32, SHAPE(3, 3), NULL), *view = NULL;
    OK(tarn_permute(ctx, t, (int[]){1, 0}, &view));
    OK(tarn_copy(ctx, t, view));
    EXPECT(t, 0, 3, 6, 1, 4, 7, 2, 5, 8);
    tarn_tensor_free(view);
    OK(tarn_narrow(ctx, t, 1, 2, 3, -1, &view));
    OK(tarn_copy(ctx, t, view));
    EXPECT(t, 6, 3, 0, 7, 4, 1, 8, 5, 2);
    tarn_tensor_free(view);
    tarn_tensor_free(t);
}

Test(tensor, copy_into_a_repeated_element_leaves_the_last)
{
    /* Were blocks copied side by side, the last one, of one element, would be done
     * before the full one in front of it. */
    size_t n = ((size_t)1 << 22) + 1;
    tarn_tensor *one = make(TARN_FLOAT32, SHAPE(1), NULL), *wide = NULL;
    tarn_tensor *values = make(TARN_FLOAT32, 1, &n, NULL);
    OK(tarn_set_threads(ctx, 2));
    OK(tarn_expand(ctx, one, 1, &n, &wide));
    OK(tarn_copy(ctx, wide, values));
    EXPECT(one, (double)(n - 1));
    tarn_tensor_free(one);
    tarn_tensor_free(wide);
    tarn_tensor_free(values);
}

Test(tensor, contiguous_and_as_copy_only_if_they_must)
{
    tarn_tensor *t = make(TARN_FLOAT32, SHAPE(2, 3), NULL), *view = NULL, *out = NULL;
    OK(tarn_contiguous(ctx, t, &out));
    cr_assert_eq(out->storage, t->storage);
    tarn_tensor_free(out);
    OK(tarn_as(ctx, t, TARN_FLOAT64, &out));
    cr_assert_neq(out->storage, t->storage);
    EXPECT(out, 0, 1, 2, 3, 4, 5);
    tarn_tensor_free(out);
    OK(tarn_permute(ctx, t, (int[]){1, 0}, &view));
    OK(tarn_contiguous(ctx, view, &out));
    cr_assert(tarn_tensor_is_contiguous(out) && !tarn_tensor_is_contiguous(view));
    EXPECT(out, 0, 3, 1, 4, 2, 5);
    tarn_tensor_free(out);
    tarn_tensor_free(view);
    tarn_tensor_free(t);
}

Test(tensor, clone_is_independent)
{
    tarn_tensor *t = make(TARN_FLOAT64, SHAPE(2), NULL), *copy = NULL;
    OK(tarn_clone(ctx, t, TARN_FLOAT64, &copy));
    OK(tarn_fill(ctx, t, 9));
    EXPECT(copy, 0, 1);
    tarn_tensor_free(t);
    tarn_tensor_free(copy);
}

Test(tensor, broadcasting_is_aligned_at_the_last_dimension)
{
    int rank = 0;
    size_t shape[TARN_MAX_RANK];
    OK(tarn_broadcast(ctx, "test", SHAPE(4, 1, 3), SHAPE(2, 1), &rank, shape));
    cr_assert_eq(rank, 3);
    cr_assert_arr_eq(shape, ((size_t[]){4, 2, 3}), 3 * sizeof *shape);
    OK(tarn_broadcast(ctx, "test", SHAPE(1, 0), SHAPE(5, 1), &rank, shape));
    cr_assert_arr_eq(shape, ((size_t[]){5, 0}), 2 * sizeof *shape);
    FAILS(TARN_ESHAPE, "test: shapes [2] and [0]",
          tarn_broadcast(ctx, "test", SHAPE(2), SHAPE(0), &rank, shape));
    cr_assert_eq(rank, 2);
}
