/* reverse.cu: x in the opposite order, through dynamic shared memory. */
__global__ void reverse(float *x)
{
    DYN_SHARED(float, s);
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}
