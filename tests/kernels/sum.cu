/* sum.cu: the sum of x, each block by shuffles and a row of shared memory. */
__global__ void sum(double *out, const double *x, int n)
{
    SHARED(double, of_warp, [32]);
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    double mine = i < n ? x[i] : 0;
    for (int by = 16; by > 0; by /= 2) mine += __shfl_down_sync(~0u, mine, by);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = mine;
    __syncthreads();
    if (threadIdx.x > 0) return;
    for (unsigned w = 1; w < blockDim.x / 32; w++) mine += of_warp[w];
    atomicAdd(out, mine);
}
