/* external.cu: dynamic shared memory in the words of CUDA. */
__global__ void external(float *x)
{
    extern __shared__ float row[];
    row[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = row[blockDim.x - 1 - threadIdx.x];
}

template <class T> __global__ void aligned(T *x)
{
    extern __shared__ __align__(16) unsigned char bytes[];
    T *row = reinterpret_cast<T *>(bytes);
    row[threadIdx.x] = 2 * x[threadIdx.x];
    x[threadIdx.x] = row[threadIdx.x];
}
