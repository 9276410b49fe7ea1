/* file.c: files whole: read into memory, or written beside the target and renamed.
 *
 * A path takes one of three ways through tarn_writer_open:
 *
 *     nothing there, or a file   -->  .tarn-<process>-<n> in the same folder, later renamed
 *     a character device         -->  written to directly: /dev/full is not to be replaced
 *     a folder, a pipe, ...      -->  refused by name */
#include "core/file.h"
#include "core/source.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Other files that may have our temporary name before we give up. */
enum { TEMPORARY_NAMES = 1000 };

struct tarn_label tarn_file_label(const char *function, const char *path)
{
    struct tarn_label label;
    const size_t length = strlen(path), room = 200;
    const char *from = length > room ? path + length - room : path;
    snprintf(label.text, sizeof label.text, "%.40s: %s%s", function,
             length > room ? "..." : "", from);
    return label;
}

/* ---- Reading ----------------------------------------------------------------------- */

tarn_status tarn_file_read(tarn_context *ctx, const char *function, const char *path,
                           unsigned char **bytes, size_t *size)
{
    struct tarn_source source;
    size_t got = 0;
    tarn_status status = tarn_source_file(ctx, function, path, &source);
    if (status != TARN_OK) return status;
    unsigned char *content = tarn_alloc(ctx, source.size, 1);
    status = content == NULL
                 ? TARN_ENOMEM
                 : tarn_source_take(ctx, &source, content, source.size, &got);
    tarn_source_close(&source);
    if (status != TARN_OK) {
        tarn_release(content);
        return status;
    }
    *bytes = content;
    *size = got;
    return TARN_OK;
}

/* ---- Writing ----------------------------------------------------------------------- */

/* Fails with what errno says. */
static tarn_status fail_to_write(tarn_context *ctx, const char *function,
                                 const char *path)
{
    const char *reason = strerror(errno);
    return tarn_fail(ctx, TARN_EIO, "%s: can't write: %s",
                     tarn_file_label(function, path).text, reason);
}

static void forget(struct tarn_writer *writer)
{
    tarn_release(writer->path);
    tarn_release(writer->temporary);
    *writer = (struct tarn_writer){0};
}

static char *copy_text(tarn_context *ctx, const char *text)
{
    const size_t size = strlen(text) + 1;
    char *copy = tarn_alloc(ctx, size, 1);
    if (copy != NULL) memcpy(copy, text, size);
    return copy;
}

/* True if the bytes would land below the folder that writing is confined to, if it is.
 * `target` is the file that is there, without links; else the path's folder counts. */
static bool may_write(const tarn_context *ctx, const char *path, const char *target)
{
    char folder[PATH_MAX] = ".", real[PATH_MAX];
    if (ctx->write_below == NULL) return true;
    if (target == NULL) {
        const char *slash = strrchr(path, '/');
        const int length = slash ? (int)(slash - path) + 1 : 0;
        if (slash) snprintf(folder, sizeof folder, "%.*s", length, path);
        target = realpath(folder, real);
    }
    const size_t root = strlen(ctx->write_below);
    return target && strncmp(target, ctx->write_below, root) == 0 &&
           (target[root] == '/' || target[root] == '\0' || root == 1);
}

/* Finds what is at the path: mode 0 for nothing, else type and permissions, and its own
 * name without links. Fails for what can't be replaced by a file or written like one. */
static tarn_status look(tarn_context *ctx, const char *function, const char *path,
                        mode_t *mode, char target[PATH_MAX])
{
    struct stat found = {0};
    if (stat(path, &found) != 0 && errno != ENOENT)
        return fail_to_write(ctx, function, path);
    *mode = found.st_mode;
    if (*mode != 0 && (realpath(path, target) == NULL ||
                       faccessat(AT_FDCWD, target, W_OK, AT_EACCESS) != 0))
        return fail_to_write(ctx, function, path);
    errno = EISDIR;
    if (S_ISDIR(*mode)) return fail_to_write(ctx, function, path);
    if (!may_write(ctx, path, *mode != 0 ? target : NULL))
        return tarn_fail(ctx, TARN_EIO, "%s: can't write: it is outside of %s",
                         tarn_file_label(function, path).text, ctx->write_below);
    if (*mode == 0 || S_ISREG(*mode) || S_ISCHR(*mode)) return TARN_OK;
    return tarn_fail(ctx, TARN_EIO,
                     "%s: can't write: it is a pipe, a socket or a block device, "
                     "expected a file",
                     tarn_file_label(function, path).text);
}

/* Opens a file of a new name in the target's folder. O_EXCL: no other process, thread or
 * waiting link has that name. */
static int open_temporary(struct tarn_writer *writer, size_t room)
{
    const char *slash = strrchr(writer->path, '/');
    const int folder = slash ? (int)(slash - writer->path) + 1 : 0;
    int file = -1;
    errno = EEXIST;
    for (int n = 0; n < TEMPORARY_NAMES && file < 0 && errno == EEXIST; n++) {
        snprintf(writer->temporary, room, "%.*s.tarn-%ld-%d", folder, writer->path,
                 (long)getpid(), n);
        file = open(writer->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    }
    return file;
}

tarn_status tarn_writer_open(tarn_context *ctx, const char *function, const char *path,
                             struct tarn_writer *writer)
{
    /* Decide where the bytes go first. */
    char target[PATH_MAX];
    mode_t mode = 0;
    *writer = (struct tarn_writer){0};
    tarn_status status = look(ctx, function, path, &mode, target);
    if (status != TARN_OK) return status;
    const bool device = S_ISCHR(mode);
    const size_t room = strlen(path) + PATH_MAX;
    writer->path = copy_text(ctx, mode == 0 ? path : target);
    writer->temporary = device ? NULL : tarn_alloc(ctx, room, 1);
    if (writer->path == NULL || (!device && writer->temporary == NULL)) {
        forget(writer);
        return TARN_ENOMEM;
    }

    /* Open it, with the permissions of the file that it will replace. */
    const int file = device ? open(writer->path, O_WRONLY | O_NOCTTY | O_CLOEXEC)
                            : open_temporary(writer, room);
    const bool ready =
        file >= 0 && (device || mode == 0 || fchmod(file, mode & 07777) == 0);
    writer->file = ready ? fdopen(file, "wb") : NULL;
    if (writer->file != NULL) return TARN_OK;

    /* Say why not, and leave nothing behind. */
    status = fail_to_write(ctx, function, path);
    if (file >= 0) {
        close(file);
        if (!device) unlink(writer->temporary);
    }
    forget(writer);
    return status;
}

tarn_status tarn_writer_put(tarn_context *ctx, const char *function,
                            struct tarn_writer *writer, const void *bytes, size_t count)
{
    tarn_status status = tarn_poll(ctx, function);
    if (status == TARN_OK && count > 0 && fwrite(bytes, count, 1, writer->file) != 1)
        status = fail_to_write(ctx, function, writer->path);
    return status;
}

/* Brings every byte to the disk. A write that failed before stays a failure. */
static bool flush(struct tarn_writer *writer)
{
    errno = EIO;
    if (ferror(writer->file) || fflush(writer->file) != 0) return false;
    return writer->temporary == NULL || fsync(fileno(writer->file)) == 0;
}

tarn_status tarn_writer_close(tarn_context *ctx, const char *function,
                              struct tarn_writer *writer, bool keep)
{
    tarn_status status = TARN_OK;
    if (keep && !flush(writer)) status = fail_to_write(ctx, function, writer->path);
    if (fclose(writer->file) != 0 && keep && status == TARN_OK)
        status = fail_to_write(ctx, function, writer->path);
    if (writer->temporary != NULL && keep && status == TARN_OK &&
        rename(writer->temporary, writer->path) != 0)
        status = fail_to_write(ctx, function, writer->path);
    if (writer->temporary != NULL && (!keep || status != TARN_OK))
        unlink(writer->temporary);
    forget(writer);
    return status;
}
