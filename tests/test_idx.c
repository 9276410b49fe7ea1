/* test_idx.c: IDX files, plain and gzipped. The gzip data come from zlib's own writer. */
#include "core/context.h"
#include "files.h"
#ifdef HAVE_ZLIB
#include <zlib.h>
#endif

TestSuite(idx, .init = begin_files, .fini = end_files);

/* Bytes of a string literal, without the zero at its end. */
#define BYTES(literal) literal, sizeof literal - 1

static const char *idx_file(const void *bytes, size_t size)
{
    dump(here("made.idx"), bytes, size);
    return here("made.idx");
}

static const char small[] = "\0\0\x08\2\0\0\0\2\0\0\0\3\1\2\3\4\5\377";
enum { SMALL = sizeof small - 1 };

static void expect_small(const char *path)
{
    tarn_tensor *t = read_tensor(path);
    cr_assert_eq(tarn_tensor_dtype(t), TARN_FLOAT32);
    expect_shape(t, 2, (size_t[]){2, 3});
    expect_exactly(t, 6, (double[]){1, 2, 3, 4, 5, 255});
    tarn_tensor_free(t);
}

/* Each with its smallest number or -1 and one more, in bytes as the format has them. */
Test(idx, every_type_is_read_highest_byte_first)
{
    static const struct {
        const char *bytes;
        size_t size;
        tarn_dtype dtype;
        double values[2];
    } types[] = {
        {BYTES("\0\0\x08\1\0\0\0\2\xff\1"), TARN_FLOAT32, {255, 1}},
        {BYTES("\0\0\x09\1\0\0\0\2\x80\1"), TARN_FLOAT32, {-128, 1}},
        {BYTES("\0\0\x0b\1\0\0\0\2\xff\xfe\1\2"), TARN_FLOAT32, {-2, 258}},
        {BYTES("\0\0\x0c\1\0\0\0\2\x80\0\0\0\1\2\3\4"),
         TARN_FLOAT64,
         {-0x1p31, 16909060}},
        {BYTES("\0\0\x0d\1\0\0\0\2\x3f\xc0\0\0\xff\x80\0\0"),
         TARN_FLOAT32,
         {1.5, -HUGE_VAL}},
        {BYTES("\0\0\x0e\1\0\0\0\2\xbf\xf8\0\0\0\0\0\0\0\0\0\0\0\0\0\1"),
         TARN_FLOAT64,
         {-1.5, 0x1p-1074}},
    };
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        tarn_tensor *t = read_tensor(idx_file(types[i].bytes, types[i].size));
        cr_assert_eq(tarn_tensor_dtype(t), types[i].dtype);
        expect_exactly(t, 2, types[i].values);
        tarn_tensor_free(t);
    }
}

Test(idx, rows_and_empty_arrays_load)
{
    expect_small(idx_file(small, SMALL));
    tarn_tensor *t = read_tensor(idx_file(BYTES("\0\0\x08\2\0\0\0\0\0\0\0\3")));
    expect_shape(t, 2, (size_t[]){0, 3});
    tarn_tensor_free(t);
}

Test(idx, damaged_headers_are_refused_by_name)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *words;
    } bad[] = {
        {BYTES("\0\0\x0a\1\0\0\0\1\1"),
         "the IDX type is 0x0a, expected 0x08 (u1), 0x09"},
        {BYTES("\0\0\0\0"), "the IDX type is 0x00"},
        {BYTES("\0\0\x08\0\1"), "says 0 dimensions, expected 1 to 8"},
        {BYTES("\0\0\x08\x09"), "says 9 dimensions, expected 1 to 8"},
        {BYTES("\0\0\x08"),
         "cut short inside the IDX header: it takes 4 bytes, found 3"},
        {BYTES("\0\0\x08\2\0\0\0\1\0"),
         "inside the IDX header: it takes 12 bytes, found 9"},
        {BYTES("\0\0\x08\1\0\0\0\3ab"),
         "[3] of u1 takes 3 bytes after the header, found 2"},
        {BYTES("\0\0\x08\1\0\0\0\3abcd"),
         "goes on after its end: [3] of u1 takes 3 bytes"},
        {BYTES("\0\0\x08\1\xff\xff\xff\xff!"),
         "takes 4294967295 bytes after the header"},
        {BYTES("\0\0\x0e\3\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"),
         "shape [4294967295, 4294967295, 4294967295], more than any memory could hold"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        expect_refusal(idx_file(bad[i].bytes, bad[i].size), TARN_EFORMAT, bad[i].words);
}

#ifdef HAVE_ZLIB

/* Appends a gzip member with these bytes to the file. */
static void append_packed(const char *path, const void *bytes, size_t size)
{
    gzFile file = gzopen(path, "ab");
    cr_assert_not_null(file);
    cr_assert_eq(gzwrite(file, bytes, (unsigned)size), (int)size);
    cr_assert_eq(gzclose(file), Z_OK);
}

/* Nothing in the name says that it is gzipped. */
Test(idx, gzipped_files_are_known_by_their_content)
{
    append_packed(here("packed"), small, SMALL);
    expect_small(here("packed"));
}

Test(idx, gzip_data_in_several_members_are_one_file)
{
    append_packed(here("packed"), small, 7);
    append_packed(here("packed"), small + 7, 0);
    append_packed(here("packed"), small + 7, SMALL - 7);
    expect_small(here("packed"));
}

Test(idx, MNIST_has_10000_images_of_28_by_28)
{
    tarn_tensor *images =
        read_tensor(in_tests("../exercises/data/mnist/t10k-images-idx3-ubyte.gz"));
    expect_shape(images, 3, (size_t[]){10000, 28, 28});
    tarn_tensor *labels =
        read_tensor(in_tests("../exercises/data/mnist/t10k-labels-idx1-ubyte.gz"));
    expect_shape(labels, 1, (size_t[]){10000});
    cr_assert_eq(flat(labels, 0), 7, "the first digit is a 7");
    tarn_tensor_free(images);
    tarn_tensor_free(labels);
}

/* A cut in the data, in the checksum, and before the first byte. */
Test(idx, gzip_data_cut_anywhere_are_refused)
{
    size_t size;
    append_packed(here("whole"), small, SMALL);
    unsigned char *bytes = slurp(here("whole"), &size);
    for (size_t cut = 2; cut < size; cut++) {
        dump(here("cut"), bytes, cut);
        expect_refusal(here("cut"), TARN_EFORMAT, "cut short");
    }
    free(bytes);
}

Test(idx, damaged_gzip_data_are_refused)
{
    size_t size;
    append_packed(here("whole"), small, SMALL);
    unsigned char *bytes = slurp(here("whole"), &size);
    bytes[size - 5] ^= 1; /* of the checksum */
    dump(here("a"), bytes, size);
    expect_refusal(here("a"), TARN_EFORMAT, "incorrect data check");
    bytes[size - 5] ^= 1;
    bytes[2] = 7; /* the only method is 8 */
    dump(here("a"), bytes, size);
    expect_refusal(here("a"), TARN_EFORMAT,
                   "damaged gzip data before byte 4: unknown compression method");
    bytes[2] = 8;
    bytes[size] = 'x'; /* something after the end; slurp leaves room */
    dump(here("a"), bytes, size + 1);
    expect_refusal(here("a"), TARN_EFORMAT, "");
    free(bytes);
}

Test(idx, gzip_data_that_are_no_idx_are_refused)
{
    append_packed(here("a"), "hello", 5);
    expect_refusal(here("a"), TARN_EFORMAT,
                   "not an IDX file, it begins with the bytes 68 65");
}

/* Ten megabytes of zeros in ten kilobytes: unpacked no further than the header promises. */
Test(idx, a_bomb_is_unpacked_no_further_than_the_header_promises)
{
    static char bomb[10 << 20] = "\0\0\x08\1\0\0\0\3";
    append_packed(here("bomb"), bomb, sizeof bomb);
    expect_refusal(here("bomb"), TARN_EFORMAT, "more than the expected 11 bytes");
}

/* A million zeros in a thousand bytes: nearly the most that a byte unpacks to. */
Test(idx, what_shrinks_the_most_is_read)
{
    static char zeros[8 + (1 << 20)] = "\0\0\x08\1\0\x10\0";
    append_packed(here("a"), zeros, sizeof zeros);
    tarn_tensor *t = read_tensor(here("a"));
    expect_shape(t, 1, (size_t[]){1 << 20});
    tarn_tensor_free(t);
}

/* A byte unpacks to 1032 at best: a promise beyond that costs no memory. */
Test(idx, a_promise_that_no_gzip_data_could_keep_is_refused)
{
    append_packed(here("a"), BYTES("\0\0\x08\1\xff\xff\xff\xff"));
    expect_refusal(here("a"), TARN_EFORMAT, "bytes after the header, found at most ");
}

#ifdef TARN_PARANOID
Test(idx, an_allocation_that_fails_is_an_error)
{
    size_t failures = 0;
    tarn_tensor *t = NULL;
    append_packed(here("a"), small, SMALL);
    for (tarn_status status = TARN_ENOMEM; status != TARN_OK; failures++) {
        tarn_fail_alloc_at(failures + 1);
        status = tarn_read(ctx, here("a"), &t);
        cr_assert(status == TARN_OK || (status == TARN_ENOMEM && t == NULL));
        cr_assert(status == TARN_OK || tarn_bytes(ctx) == 0);
    }
    cr_assert_gt(failures, 3);
    tarn_fail_alloc_at(0);
    tarn_tensor_free(t);
}
#endif

#else

Test(idx, without_zlib_a_gzipped_file_is_refused_with_the_way_out)
{
    dump(here("a.gz"), "\x1f\x8b\x08", 3);
    expect_refusal(here("a.gz"), TARN_EDEVICE,
                   "built without zlib: unpack the file first");
}

#endif
