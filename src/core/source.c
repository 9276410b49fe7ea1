/* source.c: bytes that come one after the other: of a file, of memory, unpacked. */
#include "core/source.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef HAVE_ZLIB
#include <zlib.h>
#endif

/* ---- Files and memory -------------------------------------------------------------- */

/* Bytes that are read at a time, between two looks at the interrupt flag. */
enum { STRETCH = 1 << 20 };

static tarn_status fail_to_read(tarn_context *ctx, const struct tarn_source *source,
                                const char *reason)
{
    return tarn_fail(ctx, TARN_EIO, "%s: can't read: %s", source->label.text, reason);
}

static tarn_status check_kind(tarn_context *ctx, struct tarn_source *source)
{
    struct stat found;
    if (fstat(source->file, &found) != 0)
        return fail_to_read(ctx, source, strerror(errno));
    if (S_ISDIR(found.st_mode)) return fail_to_read(ctx, source, strerror(EISDIR));
    if (!S_ISREG(found.st_mode))
        return fail_to_read(ctx, source,
                            "it is a pipe, a socket or a device, expected a file");
    source->raw_size = (size_t)found.st_size;
    source->size = source->raw_size;
    return TARN_OK;
}

tarn_status tarn_source_file(tarn_context *ctx, const char *function, const char *path,
                             struct tarn_source *source)
{
    /* O_NONBLOCK: opening a pipe that nobody writes to would wait for ever. */
    *source = tarn_source_memory(function, path, NULL, 0);
    source->file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (source->file < 0) return fail_to_read(ctx, source, strerror(errno));
    tarn_status status = check_kind(ctx, source);
    if (status != TARN_OK) tarn_source_close(source);
    return status;
}

struct tarn_source tarn_source_memory(const char *function, const char *name,
                                      const void *bytes, size_t size)
{
    return (struct tarn_source){.function = function,
                                .label = tarn_file_label(function, name),
                                .size = size,
                                .file = -1,
                                .bytes = bytes,
                                .raw_size = size};
}

/* Copies up to `count` bytes that lie `at` bytes after the beginning. */
static tarn_status copy_raw(tarn_context *ctx, const struct tarn_source *source,
                            size_t at, void *to, size_t count, size_t *got)
{
    unsigned char *next = to;
    *got = 0;
    if (count > source->raw_size - at) count = source->raw_size - at;
    while (*got < count) {
        tarn_status status = tarn_poll(ctx, source->function);
        if (status != TARN_OK) return status;
        size_t n = count - *got < STRETCH ? count - *got : STRETCH;
        ssize_t came = (ssize_t)n;
        if (source->file < 0)
            memcpy(next + *got, source->bytes + at + *got, n);
        else
            came = pread(source->file, next + *got, n, (off_t)(at + *got));
        if (came < 0 && errno == EINTR) continue;
        if (came < 0) return fail_to_read(ctx, source, strerror(errno));
        if (came == 0) break; /* somebody has made the file shorter since */
        *got += (size_t)came;
    }
    return TARN_OK;
}

static tarn_status take_raw(tarn_context *ctx, struct tarn_source *source, void *to,
                            size_t count, size_t *got)
{
    tarn_status status = copy_raw(ctx, source, source->raw_taken, to, count, got);
    source->raw_taken += *got;
    return status;
}

tarn_status tarn_source_peek(tarn_context *ctx, const struct tarn_source *source,
                             void *to, size_t count, size_t *got)
{
    return copy_raw(ctx, source, 0, to, count, got);
}

/* ---- Unpacking --------------------------------------------------------------------- */

#ifdef HAVE_ZLIB

struct tarn_unpacker {
    z_stream stream;
    bool inside; /* a member has begun and its checksum has not come yet */
    unsigned char input[1 << 14];
};

/* Deflate codes at most 258 bytes in 2 bits. */
enum { LARGEST_RATIO = 258 * 8 / 2 };

static void *zlib_alloc(void *ctx, unsigned count, unsigned size)
{
    return tarn_alloc(ctx, count, size);
}

static void zlib_free(void *ctx, void *memory)
{
    (void)ctx;
    tarn_release(memory);
}

tarn_status tarn_source_unpack(tarn_context *ctx, struct tarn_source *source)
{
    struct tarn_unpacker *unpacker = tarn_alloc(ctx, 1, sizeof *unpacker);
    if (unpacker == NULL) return TARN_ENOMEM;
    unpacker->stream =
        (z_stream){.zalloc = zlib_alloc, .zfree = zlib_free, .opaque = ctx};
    unpacker->inside = false;
    if (inflateInit2(&unpacker->stream, 16 + MAX_WBITS) != Z_OK) {
        tarn_release(unpacker);
        return TARN_ENOMEM;
    }
    source->packed = true;
    source->unpacker = unpacker;
    source->taken = 0;
    source->raw_taken = 0;
    if (!tarn_product(source->raw_size, LARGEST_RATIO, &source->size))
        source->size = SIZE_MAX;
    return TARN_OK;
}

static void end_unpacking(struct tarn_source *source)
{
    if (source->unpacker != NULL) inflateEnd(&source->unpacker->stream);
    tarn_release(source->unpacker);
    source->unpacker = NULL;
}

static tarn_status refill(tarn_context *ctx, struct tarn_source *source)
{
    struct tarn_unpacker *unpacker = source->unpacker;
    size_t got = 0;
    tarn_status status =
        take_raw(ctx, source, unpacker->input, sizeof unpacker->input, &got);
    unpacker->stream.next_in = unpacker->input;
    unpacker->stream.avail_in = (uInt)got;
    return status;
}

/* Unpacks until the output is full or the input used up; members may follow each other. */
static tarn_status inflate_some(tarn_context *ctx, struct tarn_source *source)
{
    struct tarn_unpacker *unpacker = source->unpacker;
    unpacker->inside = true;
    const int code = inflate(&unpacker->stream, Z_NO_FLUSH);
    if (code == Z_STREAM_END) {
        unpacker->inside = false;
        inflateReset(&unpacker->stream);
    }
    if (code == Z_OK || code == Z_STREAM_END) return TARN_OK;
    if (code == Z_MEM_ERROR) return TARN_ENOMEM;
    return tarn_fail(ctx, TARN_EFORMAT, "%s: damaged gzip data before byte %zu: %s",
                     source->label.text, source->raw_taken - unpacker->stream.avail_in,
                     unpacker->stream.msg != NULL ? unpacker->stream.msg
                                                  : zError(code));
}

static tarn_status take_unpacked(tarn_context *ctx, struct tarn_source *source,
                                 void *to, size_t count, size_t *got)
{
    z_stream *stream = &source->unpacker->stream;
    tarn_status status = TARN_OK;
    *got = 0;
    while (status == TARN_OK && *got < count) {
        if (stream->avail_in == 0) status = refill(ctx, source);
        if (status != TARN_OK || stream->avail_in == 0) break;
        const size_t n = count - *got < STRETCH ? count - *got : STRETCH;
        stream->next_out = (unsigned char *)to + *got;
        stream->avail_out = (uInt)n;
        status = inflate_some(ctx, source);
        *got += n - stream->avail_out;
    }
    return status;
}

static bool ends_early(const struct tarn_source *source)
{
    return source->unpacker != NULL && source->unpacker->inside;
}

#else

tarn_status tarn_source_unpack(tarn_context *ctx, struct tarn_source *source)
{
    return tarn_fail(ctx, TARN_EDEVICE,
                     "%s: the file is gzipped, and this tarn was built without zlib: "
                     "unpack the file first, with gunzip",
                     source->label.text);
}

static void end_unpacking(struct tarn_source *source)
{
    (void)source;
}

static tarn_status take_unpacked(tarn_context *ctx, struct tarn_source *source,
                                 void *to, size_t count, size_t *got)
{
    return take_raw(ctx, source, to, count, got);
}

static bool ends_early(const struct tarn_source *source)
{
    (void)source;
    return false;
}

#endif

/* ---- Either ------------------------------------------------------------------------ */

tarn_status tarn_source_take(tarn_context *ctx, struct tarn_source *source, void *to,
                             size_t count, size_t *got)
{
    tarn_status status = source->packed ? take_unpacked(ctx, source, to, count, got)
                                        : take_raw(ctx, source, to, count, got);
    source->taken += *got;
    return status;
}

tarn_status tarn_source_end(tarn_context *ctx, struct tarn_source *source)
{
    unsigned char extra = 0;
    const size_t taken = source->taken;
    size_t got = 0;
    tarn_status status = tarn_source_take(ctx, source, &extra, 1, &got);
    if (status != TARN_OK) return status;
    if (got > 0)
        return tarn_fail(ctx, TARN_EFORMAT, "%s: more than the expected %zu bytes",
                         source->label.text, taken);
    if (ends_early(source))
        return tarn_fail(ctx, TARN_EFORMAT,
                         "%s: cut short: %zu bytes unpacked as expected, but the "
                         "checksum at the end of the gzip data is missing",
                         source->label.text, taken);
    return TARN_OK;
}

void tarn_source_close(struct tarn_source *source)
{
    end_unpacking(source);
    if (source->file >= 0) close(source->file);
    source->file = -1;
}
