/* npy_read.c: reads .npy files of versions 1.0 to 3.0. The format: npy.h. */
#include "core/npy.h"
#include "core/tensor.h"
#include <string.h>

const unsigned char tarn_npy_magic[TARN_NPY_MAGIC] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

/* Longer headers are refused: with at most 8 dimensions nothing real comes near. */
enum { LONGEST_HEADER = 1 << 20 };

/* Takes exactly `count` bytes of what comes before the elements. */
static tarn_status take_all(tarn_context *ctx, struct tarn_source *source, void *to,
                            size_t count)
{
    size_t got = 0;
    tarn_status status = tarn_source_take(ctx, source, to, count, &got);
    if (status != TARN_OK || got == count) return status;
    return tarn_fail(ctx, TARN_EFORMAT,
                     "%s: cut short inside the header: expected at least %zu bytes, "
                     "found %zu",
                     source->label.text, source->taken - got + count, source->taken);
}

/* Reads magic, version and the header's length. */
static tarn_status read_prologue(tarn_context *ctx, struct tarn_source *source,
                                 size_t *length)
{
    unsigned char fixed[TARN_NPY_MAGIC + 2], bytes[4] = {0};
    tarn_status status = take_all(ctx, source, fixed, sizeof fixed);
    if (status != TARN_OK) return status;
    const int major = fixed[TARN_NPY_MAGIC], minor = fixed[TARN_NPY_MAGIC + 1];
    if (memcmp(fixed, tarn_npy_magic, sizeof tarn_npy_magic) != 0)
        return tarn_fail(ctx, TARN_EFORMAT,
                         "%s: not a .npy file, the first 6 bytes are wrong",
                         source->label.text);
    if (major < 1 || major > 3 || minor != 0)
        return tarn_fail(ctx, TARN_EFORMAT,
                         "%s: .npy of version %d.%d, expected version 1.0, 2.0 or 3.0",
                         source->label.text, major, minor);
    status = take_all(ctx, source, bytes, major == 1 ? 2 : 4);
    *length = (size_t)bytes[0] | (size_t)bytes[1] << 8 | (size_t)bytes[2] << 16 |
              (size_t)bytes[3] << 24;
    return status;
}

tarn_status tarn_npy_read(tarn_context *ctx, struct tarn_source *source,
                          tarn_tensor **out)
{
    /* Read how long the header is, and compare that with the file. */
    size_t length = 0;
    tarn_status status = read_prologue(ctx, source, &length);
    if (status != TARN_OK) return status;
    if (length > source->size - source->taken)
        return tarn_fail(
            ctx, TARN_EFORMAT,
            "%s: cut short inside the header: it takes %zu bytes, found %zu",
            source->label.text, length, source->size - source->taken);
    if (length > LONGEST_HEADER)
        return tarn_fail(ctx, TARN_EFORMAT,
                         "%s: the header has %zu bytes, expected at most %d",
                         source->label.text, length, LONGEST_HEADER);

    /* Read the header, then what it describes. */
    struct tarn_stored stored;
    char *text = tarn_alloc(ctx, length, 1);
    if (text == NULL) return TARN_ENOMEM;
    status = take_all(ctx, source, text, length);
    if (status == TARN_OK)
        status = tarn_npy_header(ctx, source->label.text, text, length, &stored);
    tarn_release(text);
    return status == TARN_OK ? tarn_stored_read(ctx, source, &stored, out) : status;
}
