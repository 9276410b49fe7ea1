/* file.h: files whole: read into memory, or written beside the target and renamed. Internal.
 *
 * - Reading never trusts a size in the file: memory is taken only for bytes that exist.
 * - Writing goes to a temporary file beside the target, which is flushed to the disk and
 *   renamed. After an error the old file is still there, whole, and the temporary one is
 *   not; after a crash the old file is whole.
 * - A path that is a link means the file behind it. A new file has the permissions of any
 *   new file (umask); one that is replaced keeps its own. A file that may not be written
 *   to is not replaced either. */
#ifndef TARN_FILE_H
#define TARN_FILE_H

#include "core/context.h"
#include <stdio.h>

/* "function: path", how each message about a file begins; of a long path only the end. */
struct tarn_label {
    char text[256];
};
struct tarn_label tarn_file_label(const char *function, const char *path);

/* Reads a whole file (a regular one: a directory is refused by name) into fresh memory. */
tarn_status tarn_file_read(tarn_context *ctx, const char *function, const char *path,
                           unsigned char **bytes, size_t *size);

/* A file being written. */
struct tarn_writer {
    FILE *file;
    char *path, *temporary; /* no temporary: a device, written to directly */
};
tarn_status tarn_writer_open(tarn_context *ctx, const char *function, const char *path,
                             struct tarn_writer *writer);
/* Writes bytes, and fails with the system's reason; the caller closes with keep = false. */
tarn_status tarn_writer_put(tarn_context *ctx, const char *function,
                            struct tarn_writer *writer, const void *bytes,
                            size_t count);
/* Flushes, checks and renames, or with keep = false removes the temporary file. */
tarn_status tarn_writer_close(tarn_context *ctx, const char *function,
                              struct tarn_writer *writer, bool keep);

#endif
