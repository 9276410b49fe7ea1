/* test_png.c: images as PNG, read back by libpng's own simple reader. */
#include "core/context.h"
#include "files.h"
#ifdef HAVE_PNG
#include <png.h>
#endif

TestSuite(png, .init = begin_files, .fini = end_files);

Test(png, refuses_what_is_no_image)
{
    static const struct {
        int rank;
        size_t shape[4];
        const char *words;
    } bad[] = {{0, {0}, "imwrite: the image is [], expected [h, w] or [h, w, 3]"},
               {1, {5}, "imwrite: the image is [5], expected"},
               {2, {0, 5}, "imwrite: the image is [0, 5], expected"},
               {2, {5, 0}, "imwrite: the image is [5, 0], expected"},
               {2, {1, 1000001}, "with h and w from 1 to 1000000"},
               {3, {2, 2, 4}, "imwrite: the image is [2, 2, 4], expected"},
               {4, {1, 2, 2, 3}, "imwrite: the image is [1, 2, 2, 3], expected"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        tarn_tensor *t = NULL;
        OK(tarn_tensor_new(ctx, TARN_FLOAT32, bad[i].rank, bad[i].shape, &t));
        cr_assert_eq(tarn_imwrite(ctx, t, here("a.png")), TARN_ESHAPE);
        expect_words(bad[i].words);
        cr_assert_neq(access(here("a.png"), F_OK), 0, "a file was made");
        tarn_tensor_free(t);
    }
}

#ifdef HAVE_PNG

/* Reads a file back; the caller frees the bytes. */
static unsigned char *read_png(const char *path, unsigned format, size_t h, size_t w)
{
    png_image image = {.version = PNG_IMAGE_VERSION};
    cr_assert(png_image_begin_read_from_file(&image, path), "%s", image.message);
    cr_assert_eq(image.format, format);
    cr_assert_eq(image.height, h);
    cr_assert_eq(image.width, w);
    unsigned char *bytes = malloc(PNG_IMAGE_SIZE(image));
    cr_assert(png_image_finish_read(&image, NULL, bytes, 0, NULL), "%s", image.message);
    return bytes;
}

/* 0 and 1 are the ends, a half is rounded up, what lies outside is clamped, NaN is black. */
Test(png, values_from_0_to_1_become_levels)
{
    const double values[10] = {0,  1,   0.5,         0.25,     100.49 / 255,
                               -3, 1.5, (double)NAN, HUGE_VAL, -HUGE_VAL};
    const unsigned char expected[10] = {0, 255, 128, 64, 100, 0, 255, 0, 255, 0};
    for (tarn_dtype dtype = TARN_FLOAT32; dtype <= TARN_FLOAT64; dtype++) {
        tarn_tensor *t = matrix(ctx, dtype, 2, 5, values);
        OK(tarn_imwrite(ctx, t, here("a.png")));
        unsigned char *bytes = read_png(here("a.png"), PNG_FORMAT_GRAY, 2, 5);
        for (int i = 0; i < 10; i++)
            cr_assert_eq(bytes[i], expected[i], "%g became %d", values[i], bytes[i]);
        free(bytes);
        tarn_tensor_free(t);
    }
}

/* Every level comes back: the file says nothing of a gamma that a reader would apply. */
Test(png, colours_keep_their_places)
{
    tarn_tensor *t = NULL;
    OK(tarn_tensor_new(ctx, TARN_FLOAT64, 3, (size_t[]){4, 64, 3}, &t));
    for (size_t i = 0; i < 4 * 64 * 3; i++)
        ((double *)tarn_tensor_data(t))[i] = (double)(i % 256) / 255;
    OK(tarn_imwrite(ctx, t, here("a.png")));
    unsigned char *bytes = read_png(here("a.png"), PNG_FORMAT_RGB, 4, 64);
    for (size_t i = 0; i < 4 * 64 * 3; i++) cr_assert_eq(bytes[i], i % 256);
    free(bytes);
    tarn_tensor_free(t);
}

Test(png, views_are_written_as_one_sees_them)
{
    const double values[6] = {0, 0.2, 0.4, 0.6, 0.8, 1};
    const unsigned char expected[6] = {0, 153, 51, 204, 102, 255};
    tarn_tensor *t = matrix(ctx, TARN_FLOAT32, 2, 3, values), *view = NULL;
    OK(tarn_permute(ctx, t, (int[]){1, 0}, &view));
    OK(tarn_imwrite(ctx, view, here("a.png")));
    unsigned char *bytes = read_png(here("a.png"), PNG_FORMAT_GRAY, 3, 2);
    cr_assert_eq(memcmp(bytes, expected, 6), 0);
    free(bytes);
    tarn_tensor_free(t);
    tarn_tensor_free(view);
}

/* Noise does not shrink: libpng writes in the middle, where the disk says no. */
Test(png, a_full_disk_is_an_error_with_the_reason)
{
    uint64_t seed = 3;
    tarn_tensor *t = NULL;
    OK(tarn_random(ctx, TARN_UNIFORM, &seed, TARN_FLOAT32, 2, (size_t[]){300, 300},
                   &t));
    become_nobody();
    cr_assert_eq(tarn_imwrite(ctx, t, "/dev/full"), TARN_EIO);
    become_oneself();
    cr_assert_str_eq(tarn_error(ctx),
                     "imwrite: /dev/full: can't write: No space left on device");
    cr_assert_eq(tarn_imwrite(ctx, t, here("missing/a.png")), TARN_EIO);
    expect_words("No such file or directory");
    tarn_tensor_free(t);
}

Test(png, an_interrupt_leaves_the_old_file)
{
    tarn_tensor *t = matrix(ctx, TARN_FLOAT64, 1, 1, (double[]){1});
    dump(here("a.png"), "old", 3);
    dump(here("old"), "old", 3);
    tarn_interrupt(ctx);
    cr_assert_eq(tarn_imwrite(ctx, t, here("a.png")), TARN_EINTR);
    cr_assert_str_eq(tarn_error(ctx), "imwrite: interrupted");
    expect_same_files(here("a.png"), here("old"));
    tarn_tensor_free(t);
}

#ifdef TARN_PARANOID
Test(png, an_allocation_that_fails_is_an_error_and_leaves_nothing)
{
    tarn_tensor *t =
        matrix(ctx, TARN_FLOAT32, 2, 3, (double[]){0, 0.2, 0.4, 0.6, 0.8, 1});
    size_t failures = 0;
    for (tarn_status status = TARN_ENOMEM; status != TARN_OK; failures++) {
        cr_assert_neq(access(here("a.png"), F_OK), 0);
        tarn_fail_alloc_at(failures + 1);
        status = tarn_imwrite(ctx, t, here("a.png"));
        cr_assert(status == TARN_OK || status == TARN_ENOMEM, "%s", tarn_error(ctx));
    }
    cr_assert_gt(failures, 5);
    tarn_fail_alloc_at(0);
    tarn_tensor_free(t);
}
#endif

#else

Test(png, without_libpng_imwrite_says_so)
{
    tarn_tensor *t = matrix(ctx, TARN_FLOAT64, 1, 1, (double[]){1});
    cr_assert_eq(tarn_imwrite(ctx, t, here("a.png")), TARN_EDEVICE);
    expect_words("built without libpng");
    tarn_tensor_free(t);
}

#endif
