/* kernels.h: the inner loops of the operations on tensors, by element type. Internal.
 *
 * kernels.c is compiled for float and for double. Operand 0 of a stretch is the output. */
#ifndef TARN_KERNELS_H
#define TARN_KERNELS_H

#include "core/walk.h"

struct tarn_kernels {
    tarn_kernel *to[2]; /* by tarn_dtype: copies and converts to that type */
};

extern const struct tarn_kernels tarn_kernels_f32, tarn_kernels_f64;

static inline const struct tarn_kernels *tarn_kernels_of(tarn_dtype dtype)
{
    return dtype == TARN_FLOAT32 ? &tarn_kernels_f32 : &tarn_kernels_f64;
}

#endif
