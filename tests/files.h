/* files.h: what the tests of files share: a folder of their own, and whole files in it.
 *
 * After each test the folder holds no temporary file, no file is left open, and no memory
 * is held; the folder goes. */
#ifndef TARN_TESTS_FILES_H
#define TARN_TESTS_FILES_H

#include "attention.h"
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH = 512 };

static tarn_context *ctx;
static char scratch[] = "/tmp/tarn-test-XXXXXX";
static int open_before; /* files */

static inline int count_open_files(void)
{
    int count = 0;
    for (int file = 0; file < 256; file++) count += lseek(file, 0, SEEK_CUR) != -1;
    return count;
}

static inline void begin_files(void)
{
    cr_assert_eq(tarn_context_new(&ctx), TARN_OK);
    cr_assert_not_null(mkdtemp(scratch));
    open_before = count_open_files();
}

static inline void end_files(void)
{
    cr_assert_eq(count_open_files(), open_before, "a file is left open");
    cr_assert_eq(tarn_bytes(ctx), 0, "%zu bytes are left", tarn_bytes(ctx));
    tarn_context_free(ctx);
    DIR *entries = opendir(scratch);
    char path[PATH];
    for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        cr_assert(strncmp(entry->d_name, ".tarn-", 6) != 0, "%s is left",
                  entry->d_name);
        snprintf(path, sizeof path, "%s/%s", scratch, entry->d_name);
        if (unlink(path) != 0) rmdir(path);
    }
    closedir(entries);
    rmdir(scratch);
}

/* As root every file may be read, written and replaced: be somebody else for a while, to
 * see a refusal, and before anything that a mistake could do to a device. */
static inline void become_nobody(void)
{
    cr_assert_eq(chmod(scratch, 0777), 0);
    if (geteuid() == 0) cr_assert_eq(seteuid(65534), 0);
}

static inline void become_oneself(void)
{
    cr_assert_eq(seteuid(getuid()), 0);
}

/* The path of a file in the scratch folder, good for the next three calls. */
static inline const char *here(const char *name)
{
    static char paths[4][PATH];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(paths[turn], PATH, "%s/%s", scratch, name);
    return paths[turn];
}

/* The path of a file in the source's folder of tests. */
static inline const char *in_tests(const char *name)
{
    static char path[2 * PATH];
    const char *source = getenv("srcdir");
    snprintf(path, sizeof path, "%s/tests/%s", source ? source : ".", name);
    return path;
}

static inline void dump(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    cr_assert_not_null(file, "%s", path);
    cr_assert_eq(fwrite(bytes, 1, size, file), size);
    cr_assert_eq(fclose(file), 0);
}

/* Reads a whole file; the caller frees it. */
static inline unsigned char *slurp(const char *path, size_t *size)
{
    enum { ROOM = 1 << 20 };
    unsigned char *bytes = malloc(ROOM);
    FILE *file = fopen(path, "rb");
    cr_assert_not_null(file, "%s", path);
    *size = fread(bytes, 1, ROOM, file);
    cr_assert_lt(*size, ROOM);
    fclose(file);
    return bytes;
}

static inline void expect_same_files(const char *a, const char *b)
{
    size_t size_a, size_b;
    unsigned char *bytes_a = slurp(a, &size_a), *bytes_b = slurp(b, &size_b);
    cr_assert_eq(size_a, size_b, "%s has %zu bytes, %s has %zu", a, size_a, b, size_b);
    cr_assert_eq(memcmp(bytes_a, bytes_b, size_a), 0, "%s differs from %s", a, b);
    free(bytes_a);
    free(bytes_b);
}

/* The last message has these words in it. */
static inline void expect_words(const char *words)
{
    cr_assert_not_null(strstr(tarn_error(ctx), words), "\"%s\" is not in \"%s\"", words,
                       tarn_error(ctx));
}

/* tarn_read refuses the file with this status, naming it, and gives no tensor. */
static inline void expect_refusal(const char *path, tarn_status status,
                                  const char *words)
{
    tarn_tensor *t = NULL;
    cr_assert_eq(tarn_read(ctx, path, &t), status, "%s, expected \"%s\": \"%s\"", path,
                 words, tarn_error(ctx));
    cr_assert_null(t);
    expect_words(path);
    expect_words(words);
}

static inline tarn_tensor *read_tensor(const char *path)
{
    tarn_tensor *t = NULL;
    OK(tarn_read(ctx, path, &t));
    cr_assert(tarn_tensor_is_contiguous(t));
    return t;
}

static inline void expect_shape(const tarn_tensor *t, int rank, const size_t *shape)
{
    cr_assert_eq(tarn_tensor_rank(t), rank);
    for (int d = 0; d < rank; d++)
        cr_assert_eq(tarn_tensor_shape(t)[d], shape[d], "extent %d is %zu, not %zu", d,
                     tarn_tensor_shape(t)[d], shape[d]);
}

/* The elements are these numbers exactly: NaN for NaN, and zeros of the same sign. */
static inline void expect_exactly(const tarn_tensor *t, size_t count,
                                  const double *expected)
{
    cr_assert_eq(tarn_tensor_numel(t), count);
    for (size_t i = 0; i < count; i++) {
        const double got = flat(t, i);
        cr_assert(isnan(expected[i])
                      ? isnan(got)
                      : got == expected[i] && !signbit(got) == !signbit(expected[i]),
                  "element %zu is %.17g, expected %.17g", i, got, expected[i]);
    }
}

#endif
