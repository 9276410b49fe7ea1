/* stored.c: an array as a file stores it, and the tensor it becomes.
 *
 * A stored number is taken as its bits, lowest first whatever the order of the file's or
 * the machine's bytes, and then decoded by its type. Every decoding is exact: floats keep
 * their bits, NaN's among them, and a number that does not fit is refused. */
#include "core/stored.h"
#include "core/tensor.h"
#include <inttypes.h>
#include <string.h>

/* ---- Numbers ----------------------------------------------------------------------- */

static bool decode_f4(uint64_t bits, void *to)
{
    const uint32_t narrow = (uint32_t)bits;
    memcpy(to, &narrow, sizeof narrow);
    return true;
}

static bool decode_f8(uint64_t bits, void *to)
{
    memcpy(to, &bits, sizeof bits);
    return true;
}

/* float16 is sign 1, exponent 5, fraction 10 bits; float32 1, 8, 23. */
static bool decode_f2(uint64_t bits, void *to)
{
    const uint32_t sign = (uint32_t)(bits >> 15 & 1) << 31;
    const uint32_t exponent = (uint32_t)(bits >> 10 & 0x1f);
    const uint32_t fraction = (uint32_t)(bits & 0x3ff);
    uint32_t wide = exponent == 0x1f ? 0xff : exponent + 127 - 15;
    if (exponent > 0) return decode_f4(sign | wide << 23 | fraction << 13, to);

    /* A subnormal one is fraction 2^-24, and normal in float32. */
    const float magnitude = (float)fraction * 0x1p-24F;
    memcpy(&wide, &magnitude, sizeof wide);
    return decode_f4(sign | wide, to);
}

static bool decode_b1(uint64_t bits, void *to)
{
    *(float *)to = bits == 0 ? 0.0F : 1.0F;
    return bits <= 1;
}

static bool decode_u1(uint64_t bits, void *to)
{
    *(float *)to = (float)(uint8_t)bits;
    return true;
}

static bool decode_u2(uint64_t bits, void *to)
{
    *(float *)to = (float)(uint16_t)bits;
    return true;
}

static bool decode_u4(uint64_t bits, void *to)
{
    *(double *)to = (double)(uint32_t)bits;
    return true;
}

/* float64 has 53 bits: a whole number fits if its highest and lowest set bit are not
 * further apart. */
static bool decode_u8(uint64_t bits, void *to)
{
    uint64_t odd = bits;
    while (odd > 0 && odd % 2 == 0) odd /= 2;
    *(double *)to = (double)bits;
    return odd < (uint64_t)1 << 53;
}

static bool decode_i1(uint64_t bits, void *to)
{
    *(float *)to = (float)(int8_t)bits;
    return true;
}

static bool decode_i2(uint64_t bits, void *to)
{
    *(float *)to = (float)(int16_t)bits;
    return true;
}

static bool decode_i4(uint64_t bits, void *to)
{
    *(double *)to = (double)(int32_t)bits;
    return true;
}

static bool decode_i8(uint64_t bits, void *to)
{
    const bool negative = bits >> 63 != 0;
    const bool fits = decode_u8(negative ? 0 - bits : bits, to);
    if (negative) *(double *)to = -*(double *)to;
    return fits;
}

static const struct tarn_number numbers[] = {
    {"f2", 2, TARN_FLOAT32, decode_f2}, {"f4", 4, TARN_FLOAT32, decode_f4},
    {"f8", 8, TARN_FLOAT64, decode_f8}, {"i1", 1, TARN_FLOAT32, decode_i1},
    {"i2", 2, TARN_FLOAT32, decode_i2}, {"i4", 4, TARN_FLOAT64, decode_i4},
    {"i8", 8, TARN_FLOAT64, decode_i8}, {"u1", 1, TARN_FLOAT32, decode_u1},
    {"u2", 2, TARN_FLOAT32, decode_u2}, {"u4", 4, TARN_FLOAT64, decode_u4},
    {"u8", 8, TARN_FLOAT64, decode_u8}, {"b1", 1, TARN_FLOAT32, decode_b1},
};

const struct tarn_number *tarn_number_find(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (length == 2 && memcmp(name, numbers[i].name, 2) == 0) return &numbers[i];
    return NULL;
}

static uint64_t bits_of(const unsigned char *bytes, size_t size, bool big_endian)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < size; i++)
        bits = bits << 8 | bytes[big_endian ? i : size - 1 - i];
    return bits;
}

/* ---- Sizes ------------------------------------------------------------------------- */

/* The bytes that the elements take; fails if they, or the tensor's, can't be counted. */
static tarn_status count_bytes(tarn_context *ctx, const struct tarn_source *source,
                               const struct tarn_stored *stored, size_t *bytes)
{
    size_t count = 0;
    tarn_status status =
        tarn_shape_count(ctx, source->label.text, stored->rank, stored->shape, &count);
    if (status == TARN_OK && tarn_product(count, stored->number->size, bytes))
        return TARN_OK;
    return tarn_fail(
        ctx, TARN_EFORMAT,
        "%s: the header promises shape %s, more than any memory could hold",
        source->label.text, tarn_extents_text(stored->rank, stored->shape).text);
}

static tarn_status fail_count(tarn_context *ctx, const struct tarn_source *source,
                              const struct tarn_stored *stored, const char *what,
                              size_t expected, size_t found, const char *found_how)
{
    return tarn_fail(ctx, TARN_EFORMAT,
                     "%s: %s: %s of %s takes %zu bytes after the header, found %s%zu",
                     source->label.text, what,
                     tarn_extents_text(stored->rank, stored->shape).text,
                     stored->number->name, expected, found_how, found);
}

/* Compares the bytes that the elements take with those that are there. */
static tarn_status check_size(tarn_context *ctx, const struct tarn_source *source,
                              const struct tarn_stored *stored, size_t expected)
{
    const size_t found = source->size - source->taken;
    if (expected > found)
        return fail_count(ctx, source, stored, "cut short", expected, found,
                          source->packed ? "at most " : "");
    if (expected < found && !source->packed)
        return fail_count(ctx, source, stored, "goes on after its end", expected, found,
                          "");
    return TARN_OK;
}

/* ---- Elements ---------------------------------------------------------------------- */

/* The index of element `position` in the order of the file. */
static struct tarn_text index_text(const struct tarn_stored *stored, size_t position)
{
    size_t index[TARN_MAX_RANK] = {0};
    for (int i = 0; i < stored->rank; i++) {
        const int d = stored->fortran_order ? i : stored->rank - 1 - i;
        index[d] = position % stored->shape[d];
        position /= stored->shape[d];
    }
    return tarn_extents_text(stored->rank, index);
}

static tarn_status fail_value(tarn_context *ctx, const struct tarn_source *source,
                              const struct tarn_stored *stored, uint64_t bits,
                              size_t position)
{
    const struct tarn_text index = index_text(stored, position);
    const char kind = stored->number->name[0];
    if (kind == 'b')
        return tarn_fail(ctx, TARN_EFORMAT,
                         "%s: the value at %s (counted from 0) is the byte %" PRIu64
                         ", expected 0 or 1 in an array of bool",
                         source->label.text, index.text, bits);
    const bool negative = kind == 'i' && bits >> 63 != 0;
    return tarn_fail(ctx, TARN_EFORMAT,
                     "%s: the value at %s (counted from 0) is %s%" PRIu64
                     ", a whole number that float64 can't hold exactly",
                     source->label.text, index.text, negative ? "-" : "",
                     negative ? 0 - bits : bits);
}

/* Decodes the elements, in the order of the file, into memory of the tensor's type. */
static tarn_status read_elements(tarn_context *ctx, struct tarn_source *source,
                                 const struct tarn_stored *stored, size_t count,
                                 unsigned char *to)
{
    unsigned char buffer[1 << 14];
    const struct tarn_number *number = stored->number;
    const size_t at_a_time = sizeof buffer / number->size;
    for (size_t done = 0; done < count;) {
        /* Take as many as the buffer holds. */
        const size_t n = count - done < at_a_time ? count - done : at_a_time;
        size_t got = 0;
        tarn_status status =
            tarn_source_take(ctx, source, buffer, n * number->size, &got);
        if (status != TARN_OK) return status;
        if (got < n * number->size)
            return fail_count(ctx, source, stored, "cut short", count * number->size,
                              done * number->size + got, "");

        /* Decode them one by one. */
        const unsigned char *from = buffer;
        for (const size_t end = done + n; done < end; done++) {
            const uint64_t bits = bits_of(from, number->size, stored->big_endian);
            if (!number->decode(bits, to))
                return fail_value(ctx, source, stored, bits, done);
            from += number->size;
            to += tarn_dtype_size(number->dtype);
        }
    }
    return tarn_source_end(ctx, source);
}

/* Makes the row-major tensor from one whose dimensions stand in reverse. */
static tarn_status reverse_dimensions(tarn_context *ctx, tarn_tensor *reversed,
                                      tarn_tensor **out)
{
    int order[TARN_MAX_RANK];
    tarn_tensor *view = NULL;
    for (int d = 0; d < reversed->rank; d++) order[d] = reversed->rank - 1 - d;
    tarn_status status = tarn_permute(ctx, reversed, order, &view);
    if (status == TARN_OK) status = tarn_clone(ctx, view, view->dtype, out);
    tarn_tensor_free(view);
    return status;
}

tarn_status tarn_stored_read(tarn_context *ctx, struct tarn_source *source,
                             const struct tarn_stored *stored, tarn_tensor **out)
{
    /* Believe the header only as far as the file goes. */
    size_t bytes = 0, shape[TARN_MAX_RANK];
    tarn_status status = count_bytes(ctx, source, stored, &bytes);
    if (status == TARN_OK) status = check_size(ctx, source, stored, bytes);
    if (status != TARN_OK) return status;

    /* Read into a tensor in the order of the file: Fortran's order is row-major order of
     * the reversed dimensions. */
    const bool reverse = stored->fortran_order && stored->rank > 1;
    for (int d = 0; d < stored->rank; d++)
        shape[d] = stored->shape[reverse ? stored->rank - 1 - d : d];
    tarn_tensor *read = NULL;
    status = tarn_tensor_new(ctx, stored->number->dtype, stored->rank, shape, &read);
    if (status == TARN_OK)
        status = read_elements(ctx, source, stored, bytes / stored->number->size,
                               tarn_tensor_data(read));

    /* Turn it round if need be. */
    if (status == TARN_OK && reverse) {
        status = reverse_dimensions(ctx, read, out);
    } else if (status == TARN_OK) {
        *out = read;
        return TARN_OK;
    }
    tarn_tensor_free(read);
    return status;
}
