/* idx.h: the file format IDX of the MNIST images. Internal.
 *
 *     0   two bytes 0
 *     2   type: 0x08 u1, 0x09 i1, 0x0b i2, 0x0c i4, 0x0d f4, 0x0e f8
 *     3   number of dimensions
 *     4   extents, 4 bytes each
 *     .   the elements, row-major
 *
 * All numbers have their highest byte first. Such files are often gzipped. */
#ifndef TARN_IDX_H
#define TARN_IDX_H

#include "core/stored.h"

/* Reads an array from a source of which nothing has been taken. */
tarn_status tarn_idx_read(tarn_context *ctx, struct tarn_source *source,
                          tarn_tensor **out);

#endif
