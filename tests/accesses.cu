/* accesses.cu: kernels whose accesses cost what one can count by hand; each line of interest
 * says COST and its name. One warp of 32 threads a block. */
#include "accesses.h"
#include "cuda/launch.cuh"

namespace
{

__device__ inline unsigned me()
{
    return threadIdx.x;
}

/* Lanes read a column of a matrix whose rows are `pitch` floats long. */
__global__ void column(float *out, unsigned pitch)
{
    DYN_SHARED(float, s);
    for (unsigned i = me(); i < 32 * pitch; i += 32) s[i] = float(i); // COST row
    __syncthreads();
    out[me()] = s[me() * pitch]; // COST column
}

__global__ void same_word(float *out)
{
    DYN_SHARED(float, s);
    s[me()] = 1;
    __syncthreads();
    out[me()] = s[7]; // COST same_word
}

__global__ void doubles(float *out)
{
    DYN_SHARED(double, s);
    s[me()] = 1; // COST doubles
    out[me()] = float(s[me()]);
}

__global__ void stride(float *out, unsigned step)
{
    out[me() * step] = 1; // COST stride
}

/* Half of the lanes, ten times. */
__global__ void half_of_them(float *out)
{
    if (me() < 16)
        for (int i = 0; i < 10; i++) atomicAdd(&out[me()], 1.0f); // COST half_of_them
}

} // namespace

extern "C" {

tarn_status accesses_column(tarn_context *ctx, float *out, unsigned pitch)
{
    return launch(ctx, "column", column, 1, 32, 32 * pitch * sizeof(float), out, pitch);
}
tarn_status accesses_same_word(tarn_context *ctx, float *out, unsigned)
{
    return launch(ctx, "same_word", same_word, 1, 32, 128, out);
}
tarn_status accesses_doubles(tarn_context *ctx, float *out, unsigned)
{
    return launch(ctx, "doubles", doubles, 1, 32, 256, out);
}
tarn_status accesses_stride(tarn_context *ctx, float *out, unsigned step)
{
    return launch(ctx, "stride", stride, 1, 32, 0, out, step);
}
tarn_status accesses_half_of_them(tarn_context *ctx, float *out, unsigned blocks)
{
    return launch(ctx, "half_of_them", half_of_them, blocks, 32, 0, out);
}
}
