/* words.cu: words of CUDA beside those of threads and barriers; each result in an entry of y. */
#include <assert.h>

__global__ void numbers(float *y, int n)
{
    y[0] = min(n, blockDim.x); /* of an int and an unsigned */
    y[1] = max(2.5f, 1.0f);
    y[2] = max(-1, n);
    y[3] = min(2.0, NAN);
    y[4] = __popc(0xf0f0u) + __clz(1) + __ffs(8);
    y[5] = __int_as_float(__float_as_int(1.5f)) + __saturatef(-3.0f);
    y[6] = __float2int_rn(2.5f) + 10 * __float2int_rz(-2.7f);
    y[7] = __brev(1u) == 0x80000000u && __ldg(y) == y[0];
}

/* Each of 64 threads changes the same words. */
__global__ void atomics(float *y)
{
    SHARED(int, word, [9]);
    SHARED(unsigned, turns, );
    const int t = threadIdx.x;
    if (t < 9) word[t] = t == 6 ? -1 : 0;
    if (t == 0) turns = 0;
    __syncthreads();
    atomicAdd(&word[0], t);
    atomicSub(&word[1], 1);
    atomicMax(&word[2], t);
    atomicMin(&word[3], -t);
    atomicOr(&word[4], t);
    atomicXor(&word[5], t);
    atomicAnd(&word[6], ~t);
    if (atomicCAS(&word[7], 0, t + 1) == 0) word[8] = t + 1;
    atomicInc(&turns, 9);
    atomicAdd(&y[10], 0.5f);
    __syncthreads();
    if (t < 8) y[t] = word[t];
    if (t == 8) y[t] = word[8] == word[7];
    if (t == 9) y[t] = turns;
}

__global__ void sure(float *y, int n)
{
    assert(threadIdx.x < n); // NOT SO
    y[threadIdx.x] = 1;
}


__device__ float twice(float x)
{
    return 2 * x;
}

template <typename T> __global__ void doubled(T *x)
{
    x[threadIdx.x] = twice(x[threadIdx.x]);
}
