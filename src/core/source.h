/* source.h: bytes that come one after the other: of a file, of memory, unpacked. Internal.
 *
 * - The size is known before a byte is taken, so that a reader can compare it with what a
 *   header promises and ask for memory afterwards. Of gzip data only a bound is known.
 * - Nothing of a file is held but one small buffer while unpacking. */
#ifndef TARN_SOURCE_H
#define TARN_SOURCE_H

#include "core/file.h"

struct tarn_source {
    const char *function;    /* that reads, for messages */
    struct tarn_label label; /* "function: name" */
    size_t size;  /* bytes in all; of packed data the most that there can be */
    size_t taken; /* bytes handed out so far */
    bool packed;
    int file;                   /* -1: the bytes are in memory */
    const unsigned char *bytes; /* in memory */
    size_t raw_size, raw_taken; /* of the file or the memory itself */
    struct tarn_unpacker *unpacker;
};

/* Opens a regular file. A folder, a pipe or a device is refused, and never waited for. */
tarn_status tarn_source_file(tarn_context *ctx, const char *function, const char *path,
                             struct tarn_source *source);

/* Takes bytes in memory, which must stay, for a file called `name`. */
struct tarn_source tarn_source_memory(const char *function, const char *name,
                                      const void *bytes, size_t size);

/* Copies the first bytes of the file, packed as they may be, and takes none. */
tarn_status tarn_source_peek(tarn_context *ctx, const struct tarn_source *source,
                             void *to, size_t count, size_t *got);

/* From now on gives what the file's gzip data unpack to, from their beginning.
 * TARN_EDEVICE in a build without zlib. */
tarn_status tarn_source_unpack(tarn_context *ctx, struct tarn_source *source);

/* Takes the next bytes: `got` of them, fewer than `count` only at the end. */
tarn_status tarn_source_take(tarn_context *ctx, struct tarn_source *source, void *to,
                             size_t count, size_t *got);

/* Fails unless every byte has been taken; of gzip data also checks the checksum. */
tarn_status tarn_source_end(tarn_context *ctx, struct tarn_source *source);

void tarn_source_close(struct tarn_source *source);

#endif
