/* transpose.cu: out = transpose of in [rows, columns], by tiles of 16 x 16 in shared memory. */
#include "tile.cuh"

__global__ void __launch_bounds__(TILE * TILE)
    transpose(float *out, const float *in, int rows, int columns)
{
    __shared__ float tile[TILE][TILE + 1];
    int i = blockIdx.y * TILE + threadIdx.y, j = blockIdx.x * TILE + threadIdx.x;
    if (i < rows && j < columns) tile[threadIdx.y][threadIdx.x] = in[i * columns + j];
    __syncthreads();
    i = blockIdx.y * TILE + threadIdx.x, j = blockIdx.x * TILE + threadIdx.y;
    if (i < rows && j < columns) out[j * rows + i] = tile[threadIdx.x][threadIdx.y];
}
