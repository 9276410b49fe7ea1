/* accesses.h: the kernels of accesses.cu, instrumented. */
#ifndef TARN_TESTS_ACCESSES_H
#define TARN_TESTS_ACCESSES_H

#include "tarn.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Each has one number that the pattern depends on. */
tarn_status accesses_column(tarn_context *ctx, float *out, unsigned pitch);
tarn_status accesses_same_word(tarn_context *ctx, float *out, unsigned nothing);
tarn_status accesses_doubles(tarn_context *ctx, float *out, unsigned nothing);
tarn_status accesses_stride(tarn_context *ctx, float *out, unsigned step);
tarn_status accesses_half_of_them(tarn_context *ctx, float *out, unsigned blocks);

#ifdef __cplusplus
}
#endif
#endif
