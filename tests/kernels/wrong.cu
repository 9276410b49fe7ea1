/* wrong.cu: kernels with one mistake each. */
__global__ void no_barrier(float *x)
{
    __shared__ float s[64];
    s[threadIdx.x] = 0;
    __syncthreads();
    s[threadIdx.x] = x[threadIdx.x];
    x[threadIdx.x] = s[63 - threadIdx.x]; // BUG no_barrier
}

__global__ void off_by_one(float *x, int n)
{
    const int i = threadIdx.x;
    if (i <= n) x[i] = 1; // BUG off_by_one
}

__global__ void shared_off_by_one(float *x)
{
    __shared__ float s[64];
    s[threadIdx.x + 1] = 1; // BUG shared_off_by_one
    __syncthreads();
    x[threadIdx.x] = s[63 - threadIdx.x];
}

__global__ void unwritten(float *x)
{
    __shared__ float s[64];
    x[threadIdx.x] = s[threadIdx.x]; // BUG unwritten
}

__global__ void never_meets(float *x)
{
    if (threadIdx.x < 32) __syncthreads(); // BUG never_meets
    x[threadIdx.x] = 1;
}
