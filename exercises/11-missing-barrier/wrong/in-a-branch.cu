/* The barrier stands where only some threads come to it. */
__global__ void running_sums(float *z, const float *k, int N, int C)
{
    SHARED(float, s, [256]);
    const int i = threadIdx.x, c = blockIdx.x, threads = blockDim.x;
    s[i] = i < N ? k[i * C + c] : 0;
    __syncthreads();
    for (int by = 1; by < threads; by *= 2) {
        float before = 0;
        if (i >= by) {
            before = s[i - by];
            __syncthreads();
        }
        s[i] += before;
        __syncthreads();
    }
    if (i < N) z[i * C + c] = s[i];
}
