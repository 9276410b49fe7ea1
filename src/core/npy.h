/* npy.h: NumPy's file format .npy. Internal.
 *
 *     0   "\x93NUMPY"
 *     6   version: 1.0, 2.0 or 3.0
 *     8   length of the header, 2 bytes (1.0) or 4, lowest first
 *    10   header: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }, spaces, "\n"
 *     .   the elements
 *
 * 2.0 is for long headers, 3.0 for names in UTF-8; the elements are stored alike. */
#ifndef TARN_NPY_H
#define TARN_NPY_H

#include "core/stored.h"

enum { TARN_NPY_MAGIC = 6 };
extern const unsigned char tarn_npy_magic[TARN_NPY_MAGIC];

/* Reads an array from a source of which nothing has been taken. */
tarn_status tarn_npy_read(tarn_context *ctx, struct tarn_source *source,
                          tarn_tensor **out);

/* Parses the text of a header; `label` begins the messages. */
tarn_status tarn_npy_header(tarn_context *ctx, const char *label, const char *text,
                            size_t length, struct tarn_stored *stored);

#endif
