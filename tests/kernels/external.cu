/* external.cu: dynamic shared memory in the words of CUDA. */
__global__ void external(float *x)
{
    extern __shared__ float row[];
    row[threadIdx.x] = x[threadIdx.x];
}
