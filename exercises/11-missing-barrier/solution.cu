/* A barrier is missing. Chapter 11, eq 11; one line.
 *
 * z[i][c] becomes k[0][c] + .. + k[i][c]: each block has a column c, each thread a token i. In
 * round after round every thread adds what stands 1, 2, 4, .. places before it. The kernel is
 * right on some days: two threads use one element of s with no barrier between them. */
__global__ void running_sums(float *z, const float *k, int N, int C)
{
    SHARED(float, s, [256]);
    const int i = threadIdx.x, c = blockIdx.x, threads = blockDim.x;
    //> todo
    //: s[i] = i < N ? k[i * C + c] : 0;
    //: __syncthreads();
    //: for (int by = 1; by < threads; by *= 2) {
    //:     const float before = i >= by ? s[i - by] : 0;
    //:     s[i] += before;
    //:     __syncthreads();
    //: }
    s[i] = i < N ? k[i * C + c] : 0;
    __syncthreads();
    for (int by = 1; by < threads; by *= 2) {
        const float before = i >= by ? s[i - by] : 0;
        __syncthreads();
        s[i] += before;
        __syncthreads();
    }
    //< todo
    if (i < N) z[i * C + c] = s[i];
}
