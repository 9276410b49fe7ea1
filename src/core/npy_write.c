/* npy_write.c: writes .npy files of version 1.0. The format: npy.h.
 *
 * Magic, version, length and header fill a multiple of 64 bytes, so that the elements can
 * be mapped into memory. They are written lowest byte first on every machine. */
#include "core/npy.h"
#include "core/tensor.h"
#include <string.h>

enum { PROLOGUE = TARN_NPY_MAGIC + 4, ALIGNMENT = 64, HEADER_ROOM = 320 };

/* Writes everything in front of the elements, and gives its length. The longest text has
 * 8 extents of 20 digits and stays below 256 bytes. */
static size_t put_header(const tarn_tensor *t, char header[HEADER_ROOM])
{
    /* Write the text: Python's tuple of one element needs its comma. */
    char *text = header + PROLOGUE;
    const size_t room = HEADER_ROOM - PROLOGUE;
    size_t used = (size_t)snprintf(
        text, room, "{'descr': '<f%zu', 'fortran_order': False, 'shape': (",
        tarn_dtype_size(t->dtype));
    for (int d = 0; d < t->rank; d++)
        used += (size_t)snprintf(text + used, room - used, "%s%zu", d > 0 ? ", " : "",
                                 t->shape[d]);
    used +=
        (size_t)snprintf(text + used, room - used, "%s), }", t->rank == 1 ? "," : "");

    /* Fill up with spaces, and end the line. */
    const size_t plain = PROLOGUE + used + 1;
    const size_t length = (plain + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    memset(text + used, ' ', length - plain);
    header[length - 1] = '\n';

    /* Put magic, version and length in front. */
    memcpy(header, tarn_npy_magic, TARN_NPY_MAGIC);
    header[TARN_NPY_MAGIC] = 1;
    header[TARN_NPY_MAGIC + 1] = 0;
    header[TARN_NPY_MAGIC + 2] = (char)((length - PROLOGUE) & 0xff);
    header[TARN_NPY_MAGIC + 3] = (char)((length - PROLOGUE) >> 8);
    return length;
}

static void put_element(const unsigned char *element, size_t size, unsigned char *to)
{
    uint32_t narrow = 0;
    uint64_t bits = 0;
    if (size == sizeof narrow) {
        memcpy(&narrow, element, sizeof narrow);
        bits = narrow;
    } else {
        memcpy(&bits, element, sizeof bits);
    }
    for (size_t i = 0; i < size; i++) to[i] = (unsigned char)(bits >> (8 * i));
}

/* Writes the elements of a contiguous tensor, one buffer after the other. */
static tarn_status put_elements(tarn_context *ctx, struct tarn_writer *writer,
                                const tarn_tensor *t)
{
    unsigned char buffer[1 << 14];
    const size_t size = tarn_dtype_size(t->dtype), count = tarn_tensor_numel(t);
    const unsigned char *element = tarn_tensor_data(t);
    tarn_status status = TARN_OK;
    for (size_t done = 0; done < count && status == TARN_OK;) {
        size_t n = 0;
        for (; n < sizeof buffer / size && done < count; n++, done++, element += size)
            put_element(element, size, buffer + n * size);
        status = tarn_writer_put(ctx, "save", writer, buffer, n * size);
    }
    return status;
}

static tarn_status write_file(tarn_context *ctx, const tarn_tensor *t, const char *path)
{
    char header[HEADER_ROOM];
    struct tarn_writer writer;
    tarn_status status = tarn_writer_open(ctx, "save", path, &writer);
    if (status != TARN_OK) return status;
    status = tarn_writer_put(ctx, "save", &writer, header, put_header(t, header));
    if (status == TARN_OK) status = put_elements(ctx, &writer, t);
    const tarn_status closed =
        tarn_writer_close(ctx, "save", &writer, status == TARN_OK);
    return status == TARN_OK ? closed : status;
}

tarn_status tarn_save(tarn_context *ctx, const tarn_tensor *t, const char *path)
{
    tarn_tensor *rows = NULL;
    tarn_status status = tarn_host_rows(ctx, t, &rows);
    if (status == TARN_OK) status = write_file(ctx, rows, path);
    tarn_tensor_free(rows);
    return status;
}
