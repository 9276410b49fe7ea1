/* test_arrange.c: joining tensors and picking positions. */
#include "tensors.h"

TestSuite(arrange, .init = begin, .fini = end);

Test(arrange, cat_joins_along_each_dimension)
{
    tarn_tensor *a = make(TARN_FLOAT32, SHAPE(2, 1), (double[]){1, 2}), *out = NULL;
    tarn_tensor *b = make(TARN_FLOAT32, SHAPE(2, 2), (double[]){3, 4, 5, 6});
    OK(tarn_cat(ctx, (const tarn_tensor *[]){a, b, a}, 3, 1, &out));
    expect_shape(out, SHAPE(2, 4));
    EXPECT(out, 1, 3, 4, 1, 2, 5, 6, 2);
    tarn_tensor_free(out);
    OK(tarn_cat(ctx, (const tarn_tensor *[]){b, b}, 2, 0, &out));
    expect_shape(out, SHAPE(4, 2));
    EXPECT(out, 3, 4, 5, 6, 3, 4, 5, 6);
    tarn_tensor_free(out);
    tarn_tensor_free(a);
    tarn_tensor_free(b);
}

Test(arrange, cat_promotes_and_takes_empty_and_strided_parts)
{
    tarn_tensor *a = make(TARN_FLOAT32, SHAPE(3), NULL), *mirror = NULL, *empty = NULL;
    tarn_tensor *b = make(TARN_FLOAT64, SHAPE(1), (double[]){0.1}), *out = NULL;
    OK(tarn_narrow(ctx, a, 0, 2, 3, -1, &mirror));
    OK(tarn_narrow(ctx, a, 0, 0, 0, 1, &empty));
    OK(tarn_cat(ctx, (const tarn_tensor *[]){empty, mirror, b}, 3, 0, &out));
    cr_assert_eq(out->dtype, TARN_FLOAT64);
    EXPECT(out, 2, 1, 0, 0.1);
    tarn_tensor_free(out);
    OK(tarn_cat(ctx, (const tarn_tensor *[]){empty}, 1, 0, &out));
    expect_shape(out, SHAPE(0));
    tarn_tensor_free(out);
    tarn_tensor *all[] = {a, b, mirror, empty};
    for (size_t i = 0; i < 4; i++) tarn_tensor_free(all[i]);
}

Test(arrange, cat_refuses_what_does_not_fit)
{
    tarn_tensor *a = make(TARN_FLOAT32, SHAPE(2, 3), NULL), *out = NULL;
    tarn_tensor *b = make(TARN_FLOAT32, SHAPE(3, 3), NULL);
    tarn_tensor *c = make(TARN_FLOAT32, SHAPE(3), NULL);
    tarn_tensor *number = make(TARN_FLOAT32, 0, NULL, NULL);
    FAILS(TARN_ESHAPE, "cat: a tensor is [3, 3], expected [2, 3] like the first",
          tarn_cat(ctx, (const tarn_tensor *[]){a, b}, 2, 1, &out));
    FAILS(TARN_ESHAPE, "cat", tarn_cat(ctx, (const tarn_tensor *[]){a, c}, 2, 0, &out));
    FAILS(TARN_EINVAL, "cat", tarn_cat(ctx, NULL, 0, 0, &out));
    FAILS(TARN_EINVAL, "dimension is 2",
          tarn_cat(ctx, (const tarn_tensor *[]){a}, 1, 2, &out));
    FAILS(TARN_EINVAL, "dimension is 0",
          tarn_cat(ctx, (const tarn_tensor *[]){number}, 1, 0, &out));
    cr_assert_null(out);
    tarn_tensor *all[] = {a, b, c, number};
    for (size_t i = 0; i < 4; i++) tarn_tensor_free(all[i]);
}

/* Lengths that add up to more than a size_t holds. */
Test(arrange, cat_of_too_much_is_out_of_memory)
{
    tarn_tensor *one = make(TARN_FLOAT32, SHAPE(1), NULL), *wide = NULL, *out = NULL;
    OK(tarn_expand(ctx, one, SHAPE((size_t)1 << 62), &wide));
    FAILS(TARN_ENOMEM, "cat",
          tarn_cat(ctx, (const tarn_tensor *[]){wide, wide, wide, wide}, 4, 0, &out));
    cr_assert_null(out);
    tarn_tensor_free(one);
    tarn_tensor_free(wide);
}

Test(arrange, index_picks_in_the_listed_order_and_as_often)
{
    tarn_tensor *t = make(TARN_FLOAT64, SHAPE(3, 2), NULL), *turned = NULL, *out = NULL;
    OK(tarn_index(ctx, t, 0, (size_t[]){2, 0, 2}, 3, &out));
    expect_shape(out, SHAPE(3, 2));
    EXPECT(out, 4, 5, 0, 1, 4, 5);
    tarn_tensor_free(out);
    OK(tarn_permute(ctx, t, (int[]){1, 0}, &turned));
    OK(tarn_index(ctx, turned, 1, (size_t[]){1}, 1, &out));
    expect_shape(out, SHAPE(2, 1));
    EXPECT(out, 2, 3);
    tarn_tensor_free(out);
    OK(tarn_index(ctx, t, 1, NULL, 0, &out));
    expect_shape(out, SHAPE(3, 0));
    tarn_tensor_free(out);
    tarn_tensor_free(turned);
    tarn_tensor_free(t);
}

/* INT-01 */
Test(arrange, index_finds_far_positions)
{
    const size_t far = ((size_t)1 << 33) + 5;
    tarn_tensor *t = make(TARN_FLOAT32, SHAPE(2), (double[]){7, 8}), *huge = NULL,
                *out = NULL;
    OK(tarn_expand(ctx, t, SHAPE(far, 2), &huge));
    OK(tarn_index(ctx, huge, 0, (size_t[]){far - 1, 0}, 2, &out));
    EXPECT(out, 7, 8, 7, 8);
    tarn_tensor_free(out);
    out = NULL;
    FAILS(TARN_EINVAL, "position is 8589934597",
          tarn_index(ctx, huge, 0, (size_t[]){0, far}, 2, &out));
    FAILS(TARN_EINVAL, "index: dimension is 2",
          tarn_index(ctx, huge, 2, NULL, 0, &out));
    cr_assert_null(out);
    tarn_tensor_free(huge);
    tarn_tensor_free(t);
}
