/* test_save.c: .npy files that tarn writes, byte by byte and as NumPy reads them. */
#include "core/context.h"
#include "files.h"

TestSuite(save, .init = begin_files, .fini = end_files);

/* The elements of the tensor count up from 0. */
static tarn_tensor *counting(tarn_dtype dtype, int rank, const size_t *shape)
{
    tarn_tensor *t = NULL;
    OK(tarn_tensor_new(ctx, dtype, rank, shape, &t));
    for (size_t i = 0; i < tarn_tensor_numel(t); i++) {
        if (dtype == TARN_FLOAT32)
            ((float *)tarn_tensor_data(t))[i] = (float)i;
        else
            ((double *)tarn_tensor_data(t))[i] = (double)i;
    }
    return t;
}

/* FMT-08: down to the last byte what NumPy writes for the same array. */
Test(save, FMT_08_writes_what_numpy_writes)
{
    tarn_tensor *t = counting(TARN_FLOAT32, 1, (size_t[]){184});
    OK(tarn_save(ctx, t, here("a.npy")));
    expect_same_files(here("a.npy"), in_tests("golden/npy/rows_184.npy"));
    size_t size;
    unsigned char *bytes = slurp(here("a.npy"), &size);
    static const char header[] =
        "{'descr': '<f4', 'fortran_order': False, 'shape': (184,), }";
    cr_assert_eq(memcmp(bytes, "\x93NUMPY\1\0\x76\0", 10), 0);
    cr_assert_eq(memcmp(bytes + 10, header, sizeof header - 1), 0);
    cr_assert_eq(bytes[127], '\n');
    cr_assert_eq(size, 128 + 184 * 4);
    free(bytes);
    tarn_tensor_free(t);

    t = counting(TARN_FLOAT64, 2, (size_t[]){3, 4});
    OK(tarn_save(ctx, t, here("a.npy")));
    expect_same_files(here("a.npy"), in_tests("golden/npy/rows_3x4.npy"));
    tarn_tensor_free(t);
}

/* FMT-08, for every rank; the largest extents give the longest header. */
Test(save, FMT_08_writing_reading_and_writing_again_gives_the_same_bytes)
{
    static const size_t shapes[][8] = {{2, 1, 3, 1, 2, 1, 1, 2},
                                       {0, 5, 1, 1, 1, 1, 1, 1},
                                       {0, 123456789, 1, 1, 1, 1, 1, 1}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        for (int rank = 0; rank <= TARN_MAX_RANK; rank++)
            for (tarn_dtype dtype = TARN_FLOAT32; dtype <= TARN_FLOAT64; dtype++) {
                tarn_tensor *t = counting(dtype, rank, shapes[i]);
                OK(tarn_save(ctx, t, here("a.npy")));
                tarn_tensor *again = read_tensor(here("a.npy"));
                expect_shape(again, rank, shapes[i]);
                cr_assert_eq(tarn_tensor_dtype(again), dtype);
                OK(tarn_save(ctx, again, here("b.npy")));
                expect_same_files(here("a.npy"), here("b.npy"));
                size_t size;
                unsigned char *bytes = slurp(here("a.npy"), &size);
                const size_t header = 10 + bytes[8] + 256 * (size_t)bytes[9];
                cr_assert_eq(header % 64, 0);
                cr_assert_eq(bytes[header - 1], '\n');
                cr_assert_eq(size, header + tarn_tensor_numel(t) *
                                                (dtype == TARN_FLOAT32 ? 4 : 8));
                free(bytes);
                tarn_tensor_free(t);
                tarn_tensor_free(again);
            }
}

Test(save, the_longest_header_fits)
{
    const size_t n =
        999999999999999999; /* times 9 still fits, for the one extent of 0 */
    const size_t shape[8] = {0, n, 9, 1, 1, 1, 1, 1};
    tarn_tensor *t = counting(TARN_FLOAT32, 8, shape);
    OK(tarn_save(ctx, t, here("a.npy")));
    tarn_tensor *again = read_tensor(here("a.npy"));
    expect_shape(again, 8, shape);
    tarn_tensor_free(t);
    tarn_tensor_free(again);
}

/* FMT-19: bit for bit, the payload of a signalling NaN too. */
Test(save, FMT_19_special_values_keep_their_bits)
{
    static const uint32_t narrow[] = {0x7fc00000, 0xffc00001, 0x7f800001, 0x7f800000,
                                      0xff800000, 0x80000000, 1,          0x7f7fffff};
    static const uint64_t wide[] = {0x7ff8000000000000, 0xfff0000000000001,
                                    0x7ff0000000000000, 0x8000000000000000, 1};
    const size_t count = sizeof narrow / sizeof narrow[0];
    tarn_tensor *t = counting(TARN_FLOAT32, 1, &count);
    memcpy(tarn_tensor_data(t), narrow, sizeof narrow);
    OK(tarn_save(ctx, t, here("a.npy")));
    tarn_tensor *again = read_tensor(here("a.npy"));
    cr_assert_eq(memcmp(tarn_tensor_data(again), narrow, sizeof narrow), 0);
    tarn_tensor_free(t);
    tarn_tensor_free(again);

    t = counting(TARN_FLOAT64, 1, (size_t[]){5});
    memcpy(tarn_tensor_data(t), wide, sizeof wide);
    OK(tarn_save(ctx, t, here("a.npy")));
    again = read_tensor(here("a.npy"));
    cr_assert_eq(memcmp(tarn_tensor_data(again), wide, sizeof wide), 0);
    tarn_tensor_free(t);
    tarn_tensor_free(again);
}

Test(save, views_are_written_in_the_order_one_sees)
{
    tarn_tensor *t = counting(TARN_FLOAT32, 2, (size_t[]){2, 3}), *view = NULL;
    OK(tarn_permute(ctx, t, (int[]){1, 0}, &view));
    OK(tarn_save(ctx, view, here("a.npy")));
    tarn_tensor *again = read_tensor(here("a.npy"));
    expect_shape(again, 2, (size_t[]){3, 2});
    expect_exactly(again, 6, (double[]){0, 3, 1, 4, 2, 5});
    tarn_tensor_free(view);
    tarn_tensor_free(again);

    OK(tarn_narrow(ctx, t, 1, 2, 2, -2, &view));
    OK(tarn_save(ctx, view, here("a.npy")));
    again = read_tensor(here("a.npy"));
    expect_exactly(again, 4, (double[]){2, 0, 5, 3});
    tarn_tensor_free(view);
    tarn_tensor_free(again);
    tarn_tensor_free(t);
}

/* More than the buffers of reader and writer hold, and no multiple of them. */
Test(save, large_arrays_come_back)
{
    tarn_tensor *t = counting(TARN_FLOAT64, 1, (size_t[]){10007});
    OK(tarn_save(ctx, t, here("a.npy")));
    tarn_tensor *again = read_tensor(here("a.npy"));
    cr_assert_eq(largest_difference(ctx, t, again), 0);
    tarn_tensor_free(t);
    tarn_tensor_free(again);
}

Test(save, a_full_disk_is_an_error)
{
    tarn_tensor *t = counting(TARN_FLOAT64, 1, (size_t[]){10000});
    become_nobody();
    cr_assert_eq(tarn_save(ctx, t, "/dev/full"), TARN_EIO);
    become_oneself();
    cr_assert_str_eq(tarn_error(ctx),
                     "save: /dev/full: can't write: No space left on device");
    tarn_tensor_free(t);
}

Test(save, an_interrupt_leaves_the_old_file)
{
    tarn_tensor *t = counting(TARN_FLOAT32, 1, (size_t[]){6});
    dump(here("a.npy"), "old", 3);
    dump(here("old"), "old", 3);
    tarn_interrupt(ctx);
    cr_assert_eq(tarn_save(ctx, t, here("a.npy")), TARN_EINTR);
    expect_same_files(here("a.npy"), here("old"));
    tarn_tensor_free(t);
}

/* ---- NumPy itself, where it is there --------------------------------------------------- */

static bool python(const char *mode)
{
    char command[3 * PATH];
    snprintf(command, sizeof command, "/usr/bin/python3 %s %s %s",
             in_tests("golden/npy.py"), mode, scratch);
    return system(command) == 0;
}

/* 200 arrays of random types, orders and shapes: NumPy writes, tarn reads and compares with
 * NumPy's own conversion; tarn writes, NumPy reads and compares. */
Test(save, numpy_and_tarn_read_each_other)
{
    if (system("/usr/bin/python3 -c 'import numpy' 2>/dev/null") != 0)
        cr_skip_test("no NumPy for /usr/bin/python3");
    cr_assert(python("random"));
    for (int n = 0; n < 200; n++) {
        char name[3][32];
        snprintf(name[0], 32, "%d.npy", n);
        snprintf(name[1], 32, "%d.expected.npy", n);
        snprintf(name[2], 32, "%d.tarn.npy", n);
        tarn_tensor *t = read_tensor(here(name[0]));
        tarn_tensor *expected = read_tensor(here(name[1]));
        expect_shape(t, tarn_tensor_rank(expected), tarn_tensor_shape(expected));
        expect_exactly(t, tarn_tensor_numel(expected), tarn_tensor_data(expected));
        OK(tarn_save(ctx, t, here(name[2])));
        tarn_tensor_free(t);
        tarn_tensor_free(expected);
    }
    cr_assert(python("compare"));
}

/* ---- Every allocation fails once ------------------------------------------------------- */

#ifdef TARN_PARANOID
Test(save, an_allocation_that_fails_is_an_error_and_leaves_nothing)
{
    tarn_tensor *t = counting(TARN_FLOAT32, 2, (size_t[]){2, 3}), *view = NULL;
    OK(tarn_permute(ctx, t, (int[]){1, 0}, &view));
    dump(here("a.npy"), "old", 3);
    dump(here("old"), "old", 3);
    size_t failures = 0;
    for (tarn_status status = TARN_ENOMEM; status != TARN_OK; failures++) {
        expect_same_files(here("a.npy"), here("old"));
        tarn_fail_alloc_at(failures + 1);
        status = tarn_save(ctx, view, here("a.npy"));
        cr_assert(status == TARN_OK || status == TARN_ENOMEM);
    }
    cr_assert_gt(failures, 3);
    tarn_fail_alloc_at(0);
    tarn_tensor_free(view);
    tarn_tensor_free(t);
}

Test(save, an_allocation_that_fails_while_reading_is_an_error)
{
    size_t failures = 0;
    tarn_tensor *t = NULL;
    for (tarn_status status = TARN_ENOMEM; status != TARN_OK; failures++) {
        tarn_fail_alloc_at(failures + 1);
        status = tarn_read(ctx, in_tests("golden/npy/fortran_2x3.npy"), &t);
        cr_assert(status == TARN_OK || (status == TARN_ENOMEM && t == NULL));
        cr_assert(status == TARN_OK || tarn_bytes(ctx) == 0);
    }
    cr_assert_gt(failures, 4);
    tarn_fail_alloc_at(0);
    tarn_tensor_free(t);
}
#endif
