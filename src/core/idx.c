/* idx.c: reads IDX files. The format: idx.h. */
#include "core/idx.h"
#include "core/tensor.h"

/* The numbers that a type code stands for, NULL if none. */
static const struct tarn_number *number_of(unsigned char code)
{
    static const char *const names[] = {[0x08] = "u1", [0x09] = "i1", [0x0b] = "i2",
                                        [0x0c] = "i4", [0x0d] = "f4", [0x0e] = "f8"};
    if (code >= sizeof names / sizeof names[0] || names[code] == NULL) return NULL;
    return tarn_number_find(names[code], 2);
}

static tarn_status fail_short(tarn_context *ctx, const struct tarn_source *source,
                              size_t expected)
{
    return tarn_fail(
        ctx, TARN_EFORMAT,
        "%s: cut short inside the IDX header: it takes %zu bytes, found %zu",
        source->label.text, expected, source->taken);
}

static tarn_status check_start(tarn_context *ctx, const struct tarn_source *source,
                               const unsigned char start[4])
{
    if (start[0] != 0 || start[1] != 0)
        return tarn_fail(ctx, TARN_EFORMAT,
                         "%s: not an IDX file, it begins with the bytes %02x %02x, "
                         "expected 00 00",
                         source->label.text, start[0], start[1]);
    if (number_of(start[2]) == NULL)
        return tarn_fail(ctx, TARN_EFORMAT,
                         "%s: the IDX type is 0x%02x, expected 0x08 (u1), 0x09 (i1), "
                         "0x0b (i2), 0x0c (i4), 0x0d (f4) or 0x0e (f8)",
                         source->label.text, start[2]);
    if (start[3] < 1 || start[3] > TARN_MAX_RANK)
        return tarn_fail(ctx, TARN_EFORMAT,
                         "%s: the IDX header says %d dimensions, expected 1 to %d",
                         source->label.text, start[3], TARN_MAX_RANK);
    return TARN_OK;
}

tarn_status tarn_idx_read(tarn_context *ctx, struct tarn_source *source,
                          tarn_tensor **out)
{
    /* Read type and number of dimensions. */
    unsigned char start[4], extents[4 * TARN_MAX_RANK];
    size_t got = 0;
    tarn_status status = tarn_source_take(ctx, source, start, sizeof start, &got);
    if (status != TARN_OK) return status;
    if (got < sizeof start) return fail_short(ctx, source, sizeof start);
    status = check_start(ctx, source, start);
    if (status != TARN_OK) return status;

    /* Read the extents. */
    struct tarn_stored stored = {
        .number = number_of(start[2]), .big_endian = true, .rank = start[3]};
    const size_t size = 4 * (size_t)stored.rank;
    status = tarn_source_take(ctx, source, extents, size, &got);
    if (status != TARN_OK) return status;
    if (got < size) return fail_short(ctx, source, sizeof start + size);
    for (int d = 0; d < stored.rank; d++)
        for (int i = 0; i < 4; i++)
            stored.shape[d] = stored.shape[d] << 8 | extents[4 * d + i];
    return tarn_stored_read(ctx, source, &stored, out);
}
