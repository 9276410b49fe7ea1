/* readers.h: what must hold of the readers for any bytes whatever.
 *
 * The fuzz programs try bytes that nobody chose, and tests/test_corpus.c tries those that
 * were kept from them. Either way a broken promise ends the program. */
#ifndef TARN_TESTS_FUZZ_READERS_H
#define TARN_TESTS_FUZZ_READERS_H

#include "core/npy.h"
#include "core/read.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef HAVE_ZLIB
#include <zlib.h>
#define WITHOUT_ZLIB TARN_EFORMAT
#else
#define WITHOUT_ZLIB TARN_EDEVICE
#endif

typedef tarn_status reader(tarn_context *ctx, struct tarn_source *source,
                           tarn_tensor **out);

/* Each byte of a gzip file unpacks to at most 1032, and the smallest element has one. */
enum { MOST_ELEMENTS_A_BYTE = 1032 };

/* Ends the program; not an assert, which NDEBUG would take away. */
static inline void promise(bool kept, const char *what, const tarn_context *ctx)
{
    if (kept) return;
    fprintf(stderr, "broken promise: %s (last message: %s)\n", what, tarn_error(ctx));
    abort();
}

/* The bytes of a tensor, each of them looked at, to see that they are there. */
static inline size_t bytes_of(const tarn_tensor *t)
{
    const size_t count =
        tarn_tensor_numel(t) * (tarn_tensor_dtype(t) == TARN_FLOAT32 ? 4 : 8);
    const volatile unsigned char *bytes = tarn_tensor_data(t);
    for (size_t i = 0; i < count; i++) (void)bytes[i];
    return count;
}

/* Reads the bytes, and sees that the contract of tarn_read is kept. */
static inline tarn_status try_reader(tarn_context *ctx, reader *read, const void *bytes,
                                     size_t size, tarn_tensor **out)
{
    struct tarn_source source = tarn_source_memory("read", "bytes", bytes, size);
    tarn_raise(ctx, TARN_OK, "");
    tarn_status status = read(ctx, &source, out);
    tarn_source_close(&source);
    if (status == TARN_OK) {
        promise(*out != NULL, "success gives a tensor", ctx);
        promise(tarn_tensor_is_contiguous(*out), "it is contiguous", ctx);
        promise(tarn_tensor_numel(*out) <= size * MOST_ELEMENTS_A_BYTE,
                "no more elements than the bytes can hold", ctx);
        bytes_of(*out);
    } else {
        promise(*out == NULL, "a failure leaves the output alone", ctx);
        promise(status == TARN_EFORMAT || status == WITHOUT_ZLIB,
                "bad bytes are TARN_EFORMAT", ctx);
        promise(strncmp(tarn_error(ctx), "read: bytes: ", 13) == 0,
                "a message begins with function and path", ctx);
        promise(tarn_bytes(ctx) == 0, "a failure keeps no memory", ctx);
    }
    return status;
}

static inline void check_npy(tarn_context *ctx, const unsigned char *bytes, size_t size)
{
    tarn_tensor *t = NULL;
    struct tarn_stored stored;
    try_reader(ctx, tarn_npy_read, bytes, size, &t);
    tarn_tensor_free(t);

    /* The text of a header alone: so the parser is reached without a right length. */
    if (size > 0 && bytes[0] == '{')
        tarn_npy_header(ctx, "read: bytes", (const char *)bytes, size, &stored);
    promise(tarn_bytes(ctx) == 0, "nothing is left", ctx);
}

#ifdef HAVE_ZLIB
static inline unsigned char *pack(const unsigned char *bytes, size_t size,
                                  size_t *packed)
{
    z_stream stream = {.next_in = (unsigned char *)bytes, .avail_in = (uInt)size};
    deflateInit2(&stream, 1, Z_DEFLATED, 16 + 9, 1, Z_DEFAULT_STRATEGY);
    const size_t room = deflateBound(&stream, size);
    unsigned char *to = malloc(room);
    stream.next_out = to;
    stream.avail_out = (uInt)room;
    deflate(&stream, Z_FINISH);
    *packed = room - stream.avail_out;
    deflateEnd(&stream);
    return to;
}

/* The same bytes behind gzip must give the same answer. */
static inline void check_packed(tarn_context *ctx, const unsigned char *bytes,
                                size_t size, tarn_status expected,
                                const tarn_tensor *plain)
{
    size_t packed_size = 0;
    tarn_tensor *t = NULL;
    unsigned char *packed = pack(bytes, size, &packed_size);
    if (expected == TARN_OK) {
        struct tarn_source source =
            tarn_source_memory("read", "bytes", packed, packed_size);
        promise(tarn_read_source(ctx, &source, &t) == TARN_OK, "packed reads too", ctx);
        tarn_source_close(&source);
        promise(bytes_of(t) == bytes_of(plain) &&
                    memcmp(tarn_tensor_data(t), tarn_tensor_data(plain), bytes_of(t)) ==
                        0,
                "packed bytes give the same tensor", ctx);
    } else {
        promise(try_reader(ctx, tarn_read_source, packed, packed_size, &t) == expected,
                "packed bytes fail alike", ctx);
    }
    tarn_tensor_free(t);
    free(packed);
}
#endif

static inline void check_idx(tarn_context *ctx, const unsigned char *bytes, size_t size)
{
    tarn_tensor *t = NULL;
    const tarn_status status = try_reader(ctx, tarn_read_source, bytes, size, &t);
#ifdef HAVE_ZLIB
    if (size >= 2 && bytes[0] == 0 && bytes[1] == 0)
        check_packed(ctx, bytes, size, status, t);
#else
    (void)status;
#endif
    tarn_tensor_free(t);
    promise(tarn_bytes(ctx) == 0, "nothing is left", ctx);
}

#endif
