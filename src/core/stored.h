/* stored.h: an array as a file stores it, and the tensor it becomes. Internal.
 *
 * The type alone decides what the tensor is, never the values:
 *
 *     float32   f2 f4   i1 u1 i2 u2   b1      (each fits exactly)
 *     float64   f8      i4 u4 i8 u8           (of i8 and u8 some values do not fit) */
#ifndef TARN_STORED_H
#define TARN_STORED_H

#include "core/source.h"

/* A type of stored numbers, by NumPy's name without the byte order: "f4". */
struct tarn_number {
    char name[3];
    unsigned char size; /* bytes of one */
    tarn_dtype dtype;   /* what its tensor holds */
    /* Writes the number to a float or a double; false: neither can hold it. */
    bool (*decode)(uint64_t bits, void *to);
};

/* The type of a name of `length` characters, or NULL. */
const struct tarn_number *tarn_number_find(const char *name, size_t length);

/* An array of which the header has been read. */
struct tarn_stored {
    const struct tarn_number *number;
    bool big_endian, fortran_order;
    int rank;
    size_t shape[TARN_MAX_RANK];
};

/* Reads the elements, all that is left of the source, into a fresh tensor. Too few or too
 * many bytes are refused with both counts, before any memory is taken for them. */
tarn_status tarn_stored_read(tarn_context *ctx, struct tarn_source *source,
                             const struct tarn_stored *stored, tarn_tensor **out);

#endif
