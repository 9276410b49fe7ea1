/* test_npy.c: .npy files: NumPy's own (tests/golden/npy), hostile ones, and ours. */
#include "files.h"
#include <float.h>

TestSuite(npy, .init = begin_files, .fini = end_files);

/* ---- Files made here ------------------------------------------------------------------- */

/* Writes a .npy file of version 1.0 with this text as its header, up to the newline. */
static const char *npy_file(const char *header, const void *data, size_t size)
{
    unsigned char bytes[70000] = "\x93NUMPY\x01";
    const size_t length = strlen(header) + 1;
    cr_assert(length <= 65535 && 10 + length + size <= sizeof bytes);
    bytes[8] = (unsigned char)(length & 0xff);
    bytes[9] = (unsigned char)(length >> 8);
    memcpy(bytes + 10, header, length - 1);
    bytes[10 + length - 1] = '\n';
    memcpy(bytes + 10 + length, data, size);
    dump(here("made.npy"), bytes, 10 + length + size);
    return here("made.npy");
}

static const float six[6] = {1, 2, 3, 4, 5, 6};

static const char *golden(const char *name)
{
    char path[PATH];
    snprintf(path, sizeof path, "golden/npy/%s.npy", name);
    return in_tests(path);
}

/* ---- Types ----------------------------------------------------------------------------- */

#define FLOATS 0, -0.0, 1.5, -2.25, HUGE_VAL, -HUGE_VAL, (double)NAN

/* Smallest subnormal, smallest normal, largest, lowest: by the definition of each type. */
Test(npy, every_type_is_read_exactly_in_both_byte_orders)
{
    static const struct {
        const char *name;
        tarn_dtype dtype;
        size_t count;
        double values[11];
    } types[] = {
        {"f2", TARN_FLOAT32, 11, {FLOATS, 0x1p-24, 0x1p-14, 65504, -65504}},
        {"f4",
         TARN_FLOAT32,
         11,
         {FLOATS, 0x1p-149, 0x1p-126, 0x1.fffffep127, -0x1.fffffep127}},
        {"f8", TARN_FLOAT64, 11, {FLOATS, 0x1p-1074, 0x1p-1022, DBL_MAX, -DBL_MAX}},
        {"i1", TARN_FLOAT32, 6, {-128, -127, 0, 1, 126, 127}},
        {"i2", TARN_FLOAT32, 6, {-32768, -32767, 0, 1, 32766, 32767}},
        {"i4", TARN_FLOAT64, 6, {-0x1p31, -0x1p31 + 1, 0, 1, 0x1p31 - 2, 0x1p31 - 1}},
        {"i8", TARN_FLOAT64, 7, {-0x1p63, -0x1p53, -1, 0, 1, 0x1p53, 0x1p62}},
        {"u1", TARN_FLOAT32, 6, {0, 1, 0, 1, 254, 255}},
        {"u2", TARN_FLOAT32, 6, {0, 1, 0, 1, 65534, 65535}},
        {"u4", TARN_FLOAT64, 6, {0, 1, 0, 1, 0x1p32 - 2, 0x1p32 - 1}},
        {"u8", TARN_FLOAT64, 4, {0, 1, 0x1p53, 0x1p63}},
        {"b1", TARN_FLOAT32, 4, {0, 1, 1, 0}},
    };
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        for (int big = 0; big < 2; big++) {
            char name[16];
            snprintf(name, sizeof name, "%s_%s", types[i].name, big ? "big" : "little");
            tarn_tensor *t = read_tensor(golden(name));
            cr_assert_eq(tarn_tensor_dtype(t), types[i].dtype, "%s", name);
            expect_exactly(t, types[i].count, types[i].values);
            tarn_tensor_free(t);
        }
}

/* Every one of the 65,536, against ldexp on the fields. */
Test(npy, every_float16_is_read_exactly)
{
    static uint16_t all[1 << 15];
    for (unsigned half = 0; half < 2; half++) {
        for (unsigned i = 0; i < 1 << 15; i++) all[i] = (uint16_t)(half << 15 | i);
        tarn_tensor *t =
            read_tensor(npy_file("{'descr': '<f2', 'fortran_order': False, "
                                 "'shape': (32768,)}",
                                 all, sizeof all));
        for (unsigned i = 0; i < 1 << 15; i++) {
            const int exponent = (int)(i >> 10);
            const double fraction = i & 0x3ff;
            double expected =
                exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
            if (exponent == 31) expected = fraction > 0 ? (double)NAN : HUGE_VAL;
            const double got = flat(t, i);
            cr_assert(isnan(expected) ? isnan(got) : fabs(got) == expected, "%x: %g", i,
                      got);
            cr_assert_eq(!signbit(got), !half, "%x", i);
        }
        tarn_tensor_free(t);
    }
}

Test(npy, a_whole_number_that_float64_can_not_hold_is_refused_with_its_place)
{
    expect_refusal(golden("too_large"), TARN_EFORMAT,
                   "the value at [1, 1] (counted from 0) is -9007199254740993, a whole "
                   "number that float64 can't hold exactly");
    const uint64_t columns[6] = {0, 0, 0, 0, UINT64_MAX, 0};
    expect_refusal(npy_file("{'descr': '<u8', 'fortran_order': True, 'shape': (2, 3)}",
                            columns, sizeof columns),
                   TARN_EFORMAT,
                   "the value at [0, 2] (counted from 0) is 18446744073709551615");
}

Test(npy, a_bool_that_is_neither_0_nor_1_is_refused)
{
    expect_refusal(npy_file("{'descr': '|b1', 'fortran_order': False, 'shape': (3,)}",
                            "\0\1\7", 3),
                   TARN_EFORMAT, "the value at [2] (counted from 0) is the byte 7");
}

/* FMT-13: '<f8' loads as float64, so that nothing is converted without a word. */
Test(npy, FMT_13_float64_stays_float64)
{
    const double value = 1 + DBL_EPSILON;
    tarn_tensor *t = read_tensor(npy_file(
        "{'descr': '<f8', 'fortran_order': False, 'shape': ()}", &value, sizeof value));
    cr_assert_eq(tarn_tensor_dtype(t), TARN_FLOAT64);
    cr_assert_eq(flat(t, 0), value);
    tarn_tensor_free(t);
}

/* FMT-10: quoted, never unpickled; the message lists what there is instead. */
Test(npy, FMT_10_other_types_are_refused_by_name)
{
    static const struct {
        const char *name, *descr;
    } files[] = {{"bad_struct", "descr is [('a', '<f4'), ('b', '<i4')], expected"},
                 {"bad_object", "descr is '|O', expected"},
                 {"bad_text", "descr is '<U5', expected"},
                 {"bad_bytes", "descr is '|S3', expected"},
                 {"bad_complex", "descr is '<c8', expected"},
                 {"bad_date", "descr is '<M8[s]', expected"}};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        expect_refusal(golden(files[i].name), TARN_EFORMAT, files[i].descr);
        expect_words("f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1");
    }
}

/* ---- Layout ---------------------------------------------------------------------------- */

Test(npy, FMT_01_fortran_order_is_honoured)
{
    tarn_tensor *t = read_tensor(golden("fortran_2x3"));
    expect_shape(t, 2, (size_t[]){2, 3});
    expect_exactly(t, 6, (double[]){1, 3, 5, 2, 4, 6});
    tarn_tensor_free(t);

    /* NumPy's arange(24) of [2, 3, 4], stored the other way round. */
    t = read_tensor(golden("fortran_2x3x4"));
    expect_shape(t, 3, (size_t[]){2, 3, 4});
    for (size_t i = 0; i < 24; i++) cr_assert_eq(flat(t, i), (double)i);
    tarn_tensor_free(t);
}

Test(npy, FMT_02_versions_1_2_and_3_are_the_same_array)
{
    for (int version = 1; version <= 3; version++) {
        char name[] = "version_0";
        name[8] = (char)('0' + version);
        tarn_tensor *t = read_tensor(golden(name));
        expect_exactly(t, 4, (double[]){1, 2, 3, 4});
        tarn_tensor_free(t);
    }
    size_t size;
    unsigned char *bytes = slurp(golden("version_3"), &size);
    bytes[6] = 4;
    dump(here("4.npy"), bytes, size);
    expect_refusal(here("4.npy"), TARN_EFORMAT,
                   ".npy of version 4.0, expected version 1.0, 2.0 or 3.0");
    bytes[6] = 1;
    bytes[7] = 1;
    dump(here("4.npy"), bytes, size);
    expect_refusal(here("4.npy"), TARN_EFORMAT, "version 1.1");
    free(bytes);
}

Test(npy, FMT_03_long_headers_load)
{
    static char header[65536];
    const size_t lengths[] = {300, 1000, 65535};
    for (int i = 0; i < 3; i++) {
        const int used = snprintf(header, sizeof header, "%s",
                                  "{'descr':'<f4','fortran_order':False,'shape':(6,)}");
        memset(header + used, ' ', lengths[i] - 1 - (size_t)used);
        header[lengths[i] - 1] = '\0';
        tarn_tensor *t = read_tensor(npy_file(header, six, sizeof six));
        expect_exactly(t, 6, (double[]){1, 2, 3, 4, 5, 6});
        tarn_tensor_free(t);
    }
}

Test(npy, every_rank_from_0_to_8_and_empty_arrays_load)
{
    tarn_tensor *t = read_tensor(golden("rank_0"));
    expect_shape(t, 0, NULL);
    cr_assert_eq(flat(t, 0), 42.5);
    tarn_tensor_free(t);
    t = read_tensor(golden("rank_8"));
    expect_shape(t, 8, (size_t[]){1, 2, 1, 1, 3, 1, 1, 1});
    expect_exactly(t, 6, (double[]){0, 1, 2, 3, 4, 5});
    tarn_tensor_free(t);
    t = read_tensor(golden("empty"));
    expect_shape(t, 1, (size_t[]){0});
    tarn_tensor_free(t);
    t = read_tensor(golden("empty_3x0x2"));
    expect_shape(t, 3, (size_t[]){3, 0, 2});
    tarn_tensor_free(t);
    expect_refusal(golden("rank_9"), TARN_EFORMAT, "more than 8 dimensions");
}

/* ---- Headers --------------------------------------------------------------------------- */

#define F4   "'descr': '<f4', "
#define ROWS "'fortran_order': False, "

Test(npy, FMT_06_any_spelling_of_a_header_that_python_takes_loads)
{
    static const struct {
        const char *header;
        int rank;
        size_t shape[3];
    } good[] = {
        {"{" F4 ROWS "'shape': (6,)}", 1, {6}},
        {"{" F4 ROWS "'shape': (6 , ) , }", 1, {6}},
        {"{" F4 ROWS "'shape': (2,3,)}", 2, {2, 3}},
        {"{" F4 ROWS "'shape': (2, 3)}   ", 2, {2, 3}},
        {"{" F4 ROWS "'shape': (3L, 2L)}", 2, {3, 2}},
        {"{'shape':(1,6,1),'fortran_order':False,'descr':'<f4'}", 3, {1, 6, 1}},
        {" {\t'fortran_order'\n:\tFalse,'descr':\r\n\"<f4\" ,\"shape\": ( 6,\n) } ",
         1,
         {6}},
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        tarn_tensor *t = read_tensor(npy_file(good[i].header, six, sizeof six));
        expect_shape(t, good[i].rank, good[i].shape);
        expect_exactly(t, 6, (double[]){1, 2, 3, 4, 5, 6});
        tarn_tensor_free(t);
    }
}

/* The position is counted in bytes from the beginning of the header. */
Test(npy, a_header_that_is_not_right_is_refused_with_the_place)
{
    static const struct {
        const char *header, *words;
    } bad[] = {
        {"", "header: expected '{', found its end after 1 bytes"},
        {"[]", "header: expected '{' at byte 0, found \"[]?\""},
        {"{}", "header: the key 'descr' is missing"},
        {"{" F4 "'shape': (6,)}", "header: the key 'fortran_order' is missing"},
        {"{" F4 ROWS "}", "header: the key 'shape' is missing"},
        {"{" F4 ROWS F4 "'shape': (6,)}", "header: the key 'descr' is there twice"},
        {"{" F4 ROWS "'shape': (6,), 'extra': 1}",
         "header: the key 'extra' is unknown"},
        {"{" F4 ROWS "'shape': (6,)} x", "nothing but spaces after '}' at byte 56"},
        {"{" F4 ROWS "'shape': (6,)", "',' or '}', found its end"},
        {"{" F4 ROWS "'shape': (6,),,}", "a key or '}' at byte 55"},
        {"{, " F4 ROWS "'shape': (6,)}", "a key or '}' at byte 1"},
        {"{" F4 ROWS "'shape' (6,)}", "':' after the key at byte 49"},
        {"{" F4 ROWS "'shape: (6,)}", "a key or '}'"},
        {"{" F4 ROWS "shape: (6,)}", "a key or '}'"},
        {"{" F4 ROWS "'shape': (6)}",
         "the shape is the number (6), expected the tuple (6,)"},
        {"{" F4 ROWS "'shape': 6}", "a tuple after 'shape'"},
        {"{" F4 ROWS "'shape': [6]}", "a tuple after 'shape'"},
        {"{" F4 ROWS "'shape': (,)}", "a size in the shape at byte 51, found \",)}"},
        {"{" F4 ROWS "'shape': (2,,3)}", "a size in the shape"},
        {"{" F4 ROWS "'shape': (2 3)}", "',' or ')' in the shape"},
        {"{" F4 ROWS "'shape': (-6,)}",
         "a size in the shape at byte 51, found \"-6,)}"},
        {"{" F4 ROWS "'shape': (06,)}", "a size in the shape"},
        {"{" F4 ROWS "'shape': (6.0,)}", "',' or ')' in the shape"},
        {"{" F4 ROWS "'shape': (0x6,)}", "',' or ')' in the shape"},
        {"{" F4 ROWS "'shape': (99999999999999999999,)}", "a size in the shape"},
        {"{" F4 ROWS "'shape': (", "a size in the shape, found its end"},
        {"{" F4 "'fortran_order': true, 'shape': (6,)}", "True or False"},
        {"{" F4 "'fortran_order': 0, 'shape': (6,)}", "True or False"},
        {"{" F4 "'fortran_order': Falsey, 'shape': (6,)}", "',' or '}'"},
        {"{'descr': 4, " ROWS "'shape': (6,)}", "a string after 'descr'"},
        {"{'descr': '<f4, " ROWS "'shape': (6,)}", "descr is '<f4, ', expected one of"},
        {"{'descr': '<\\x664', " ROWS "'shape': (6,)}", "a string after 'descr'"},
        {"{'descr': 'f4', " ROWS "'shape': (6,)}", "descr is 'f4', expected one of"},
        {"{'descr': '=f4', " ROWS "'shape': (6,)}", "descr is '=f4', expected one of"},
        {"{'descr': '|f4', " ROWS "'shape': (6,)}", "descr is '|f4', expected one of"},
        {"{'descr': '', " ROWS "'shape': (6,)}", "descr is '', expected one of"},
        {"{'descr': '<f42', " ROWS "'shape': (6,)}",
         "descr is '<f42', expected one of"},
        {"{'descr': '<f\x01', " ROWS "'shape': (6,)}",
         "descr is '<f?', expected one of"},
        {"{'descr': ('<f4', (2,)), " ROWS "'shape': (3,)}",
         "descr is ('<f4', (2,)), exp"},
        {"{'descr': [('a\\'])', '<f4')], " ROWS "'shape': (3,)}",
         "descr is [('a\\'])', '<f4')], exp"},
        {"{'descr': [('a', '<f4'", "descr is [('a', '<f4'?, exp"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        expect_refusal(npy_file(bad[i].header, six, sizeof six), TARN_EFORMAT,
                       bad[i].words);
}

Test(npy, a_long_descr_is_quoted_in_part)
{
    char header[1000] = "{'descr': '";
    memset(header + 11, 'x', 500);
    memcpy(header + 511, "'}", 3);
    expect_refusal(npy_file(header, six, sizeof six), TARN_EFORMAT, "xxx..., expected");
}

/* ---- Damage ---------------------------------------------------------------------------- */

/* FMT-05, at every length that a file of 48 bytes of data can be cut to. */
Test(npy, FMT_05_a_file_cut_anywhere_is_refused)
{
    size_t size;
    unsigned char *bytes = slurp(golden("rows_3x4"), &size);
    for (size_t cut = 0; cut < size; cut++) {
        dump(here("cut.npy"), bytes, cut);
        expect_refusal(here("cut.npy"), TARN_EFORMAT, here("cut.npy"));
    }
    free(bytes);
}

Test(npy, FMT_05_a_cut_is_told_with_both_counts)
{
    static const float twelve[12] = {0};
    const char *header = "{" F4 ROWS "'shape': (4, 3)}";
    expect_refusal(npy_file(header, twelve, 47), TARN_EFORMAT,
                   "cut short: [4, 3] of f4 takes 48 bytes after the header, found 47");
    expect_refusal(npy_file(header, twelve, 0), TARN_EFORMAT,
                   "takes 48 bytes after the header, found 0");
    size_t size;
    unsigned char *bytes = slurp(npy_file(header, twelve, 48), &size);
    dump(here("cut.npy"), bytes, 30);
    expect_refusal(here("cut.npy"), TARN_EFORMAT,
                   "cut short inside the header: it takes 58 bytes, found 20");
    dump(here("cut.npy"), bytes, 7);
    expect_refusal(here("cut.npy"), TARN_EFORMAT,
                   "cut short inside the header: expected at least 8 bytes, found 7");
    free(bytes);
}

Test(npy, bytes_after_the_data_are_refused_with_both_counts)
{
    expect_refusal(npy_file("{" F4 ROWS "'shape': (5,)}", six, sizeof six),
                   TARN_EFORMAT,
                   "goes on after its end: [5] of f4 takes 20 bytes after the header, "
                   "found 24");
    expect_refusal(npy_file("{" F4 ROWS "'shape': (0,)}", six, 1), TARN_EFORMAT,
                   "takes 0 bytes after the header, found 1");
}

Test(npy, FMT_11_a_changed_byte_among_the_first_ten_is_refused)
{
    size_t size;
    unsigned char *bytes = slurp(golden("rows_3x4"), &size);
    for (int i = 0; i < 10; i++)
        for (int change = 1; change < 256; change++) {
            /* Versions 2 and 3 would take the same bytes for a longer length. */
            bytes[i] ^= (unsigned char)change;
            dump(here("changed.npy"), bytes, size);
            expect_refusal(here("changed.npy"), TARN_EFORMAT, "read: ");
            bytes[i] ^= (unsigned char)change;
        }
    free(bytes);
}

Test(npy, FMT_11_other_files_are_refused_by_name)
{
    static const struct {
        const char *bytes, *words;
    } others[] = {
        {"PK\3\4 and so on", "this is a .npz archive, or another zip file: unpack it"},
        {"\x89PNG\r\n\x1a\n", "this is a PNG image"},
        {"\x89HDF\r\n\x1a\n", "this is an HDF5 file"},
        {"1.0, 2.0\n", "it begins with the bytes 31 2e 30 2c 20 32 2e 30"},
        {"x", "it begins with the bytes 78"},
        {"TARNRNN\n", "this is a saved state: load it with rnn.load"},
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        dump(here("other.npy"), others[i].bytes, strlen(others[i].bytes));
        expect_refusal(here("other.npy"), TARN_EFORMAT, others[i].words);
    }
}

/* Memory that was asked for would be TARN_ENOMEM here: none of it is there. */
Test(npy, a_hostile_header_costs_nothing)
{
    static const char *const shapes[] = {
        "(18446744073709551615,)",
        "(4294967296, 4294967296, 4294967296)",
        "(9223372036854775807, 2)",
        "(2305843009213693952, 8)",
        "(0, 18446744073709551615, 18446744073709551615)",
        "(4611686018427387904,)",
        "(1099511627776,)",
    };
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        char header[200];
        snprintf(header, sizeof header, "{" F4 ROWS "'shape': %s}", shapes[i]);
        expect_refusal(npy_file(header, six, 4), TARN_EFORMAT, "");
    }

    /* A header of 4 GiB, and one that is really there but has no reason to be. */
    dump(here("4.npy"), "\x93NUMPY\2\0\xff\xff\xff\xff{", 13);
    expect_refusal(here("4.npy"), TARN_EFORMAT,
                   "cut short inside the header: it takes 4294967295 bytes, found 1");
    static unsigned char large[(1 << 20) + 100] = "\x93NUMPY\2\0\1\0\x10\0{";
    dump(here("4.npy"), large, sizeof large);
    expect_refusal(here("4.npy"), TARN_EFORMAT,
                   "the header has 1048577 bytes, expected at most 1048576");
}

Test(npy, a_header_of_thousands_of_dimensions_is_refused_at_the_ninth)
{
    static char header[60000] = "{" F4 ROWS "'shape': (";
    const size_t used = strlen(header);
    for (size_t i = 0; i < 25000; i++) memcpy(header + used + 2 * i, "1,", 2);
    memcpy(header + used + 50000, ")}", 3);
    expect_refusal(npy_file(header, six, 4), TARN_EFORMAT, "more than 8 dimensions");
}
