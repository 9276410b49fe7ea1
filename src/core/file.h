/* file.h: whole files in, whole files out. Internal.
 *
 * - Reading never trusts a size in the file: memory is taken only for bytes that exist.
 * - Writing goes to a temporary file beside the target, is flushed and renamed: after an
 *   error, or a crash, the old file is still there and the temporary one is not. */
#ifndef TARN_FILE_H
#define TARN_FILE_H

#include "context.h"
#include <stdio.h>

/* Reads a whole file (a regular one: a directory is refused by name) into fresh memory. */
tarn_status tarn_file_read(tarn_context *ctx, const char *function, const char *path,
                           unsigned char **bytes, size_t *size);

/* A file being written. */
struct tarn_writer {
    FILE *file;
    char *path, *temporary;
};
tarn_status tarn_writer_open(tarn_context *ctx, const char *function, const char *path,
                             struct tarn_writer *writer);
/* Flushes, checks and renames, or with keep = false removes the temporary file. */
tarn_status tarn_writer_close(tarn_context *ctx, const char *function,
                              struct tarn_writer *writer, bool keep);

#endif
