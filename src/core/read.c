/* read.c: tells by its first bytes what a file holds, and reads it.
 *
 * Names are not looked at: a gzipped IDX file need not be called .gz. */
#include "core/read.h"
#include "core/idx.h"
#include "core/npy.h"
#include <string.h>

/* Files that people try, and what to do about them. */
static const struct {
    const char *start;
    size_t length;
    const char *hint;
} others[] = {
    {"PK", 2,
     "a .npz archive, or another zip file: unpack it, and read its .npy files"},
    {"\x89PNG", 4, "a PNG image; tarn writes such images, and does not read them"},
    {"\x89HDF", 4, "an HDF5 file"},
    {"BZh", 3, "packed by bzip2: unpack it first"},
    {"\xfd"
     "7zXZ",
     5, "packed by xz: unpack it first"},
    {"TARNRNN", 7, "a saved state: load it with rnn.load"},
};

static tarn_status refuse(tarn_context *ctx, const struct tarn_source *source,
                          const char *start, size_t length)
{
    char shown[3 * 8 + 1] = "";
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (length >= others[i].length &&
            memcmp(start, others[i].start, others[i].length) == 0)
            return tarn_fail(ctx, TARN_EFORMAT,
                             "%s: expected a .npy or IDX file, this is %s",
                             source->label.text, others[i].hint);
    for (size_t i = 0; i < length; i++)
        snprintf(shown + 3 * i, 4, " %02x", (unsigned char)start[i]);
    return tarn_fail(ctx, TARN_EFORMAT, "%s: neither a .npy nor an IDX file: %s%s",
                     source->label.text,
                     length > 0 ? "it begins with the bytes" : "it is empty (0 bytes)",
                     shown);
}

static bool starts(const char *start, size_t length, const void *magic, size_t size)
{
    return length >= size && memcmp(start, magic, size) == 0;
}

tarn_status tarn_read_source(tarn_context *ctx, struct tarn_source *source,
                             tarn_tensor **out)
{
    char start[8];
    size_t length = 0;
    tarn_status status = tarn_source_peek(ctx, source, start, sizeof start, &length);
    if (status != TARN_OK) return status;
    if (starts(start, length, tarn_npy_magic, sizeof tarn_npy_magic))
        return tarn_npy_read(ctx, source, out);
    if (starts(start, length, "\0\0", 2)) return tarn_idx_read(ctx, source, out);
    if (!starts(start, length, "\x1f\x8b", 2))
        return refuse(ctx, source, start, length);
    status = tarn_source_unpack(ctx, source);
    return status == TARN_OK ? tarn_idx_read(ctx, source, out) : status;
}

tarn_status tarn_read(tarn_context *ctx, const char *path, tarn_tensor **out)
{
    struct tarn_source source;
    tarn_status status = tarn_source_file(ctx, "read", path, &source);
    if (status != TARN_OK) return status;
    status = tarn_read_source(ctx, &source, out);
    tarn_source_close(&source);
    return status;
}
