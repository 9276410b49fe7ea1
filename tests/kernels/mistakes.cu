/* mistakes.cu: kernels with one mistake each, at the line that says BUG, for blocks of 64
 * threads; tests/lua/kernel_mistakes.lua has what is said of them. */
#include <assert.h>

__device__ float counted;
float of_the_host = 1;

__global__ void sound(float *x, int n)
{
    float4 v = *reinterpret_cast<const float4 *>(x), w;
    w = v;
    assert(n == 64);
    if (threadIdx.x == 0) counted = w.x + float(max(n, 3) - n) + float(__popc(7) - 3);
    __syncthreads();
    x[threadIdx.x] = counted;
}

// ---- races

__global__ void tree_without_barriers(float *x, int n)
{
    SHARED(float, s, [64]);
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    for (int half = n / 2; half > 0; half /= 2)
        if (threadIdx.x < half) s[threadIdx.x] += s[threadIdx.x + half]; // BUG
    if (threadIdx.x == 0) x[0] = s[0];
}

__global__ void sum_of_blocks(float *x, int)
{
    if (threadIdx.x == 0) x[0] += x[blockIdx.x]; // BUG
}

// ---- where there is nothing

__global__ void before_the_array(float *x, int n)
{
    SHARED(float, s, [64]);
    s[threadIdx.x] = x[int(threadIdx.x) - n / 64]; // BUG
}

__global__ void before_fixed_shared(float *x, int n)
{
    SHARED(float, s, [64]);
    SHARED(float, next, [64]);
    s[threadIdx.x] = next[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = s[int(threadIdx.x) - n / 64] + next[threadIdx.x]; // BUG
}

__global__ void before_dynamic_shared(float *x, int n)
{
    DYN_SHARED(float, s);
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = s[int(threadIdx.x) - n / 64]; // BUG
}

__global__ void copy_from_past_the_end(float *x, int)
{
    DYN_SHARED(float, s);
    cp_async16(&s[4 * threadIdx.x], &x[4 * threadIdx.x]); // BUG
    cp_commit();
    cp_wait<0>();
}

__device__ float *kept;

__global__ void after_free(float *x, int n)
{
    if (n == 64 && threadIdx.x == 0) kept = x;
    __syncthreads();
    if (n != 64) x[threadIdx.x] = kept[threadIdx.x]; // BUG
}

__global__ void variable_of_the_host(float *x, int)
{
    if (threadIdx.x == 0) of_the_host += 1; // BUG
    x[threadIdx.x] = of_the_host;
}

__global__ void counts_from_nothing(float *x, int)
{
    SHARED(float, s, [8]);
    atomicAdd(&s[threadIdx.x % 8], x[threadIdx.x]); // BUG
}

// ---- addresses

__global__ void four_at_once(float *x, int n)
{
    const float4 v = *reinterpret_cast<const float4 *>(x + n % 63); // BUG
    x[threadIdx.x] = v.x + v.w;
}

__global__ void two_at_once(float *x, int n)
{
    reinterpret_cast<float2 *>(x + n % 63)[0] = make_float2(1, 2); // BUG
}

__global__ void as_double(float *x, int n)
{
    *reinterpret_cast<double *>(x + n % 63) = 1; // BUG
}

// ---- too much

__global__ void much_fixed_shared(float *x, int)
{
    SHARED(float, s, [12289]); // BUG
    s[threadIdx.x] = x[threadIdx.x];
}

__global__ void much_plain_shared(float *x, int)
{
    __shared__ float s[12289];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = s[63 - threadIdx.x];
}

__global__ void much_local(float *x, int n)
{
    volatile float a[40000]; // a second stack and a half
    for (int i = 0; i < n; i++) a[i] = x[i];
    x[threadIdx.x] = a[n - 1];
}

__device__ __noinline__ float deeper(const volatile float *above, int n)
{
    volatile float here[100];
    here[n % 100] = above[0];
    return n == 0 ? here[0] : deeper(here, n + 1) + here[1];
}
__global__ void recursion(float *x, int)
{
    x[threadIdx.x] = deeper(x, 1);
}

// ---- the end

__global__ void assertion(float *x, int n)
{
    assert(x[threadIdx.x] > n); // BUG
}

__global__ void trap(float *, int)
{
    if (threadIdx.x == 3) __trap(); // BUG
}

__global__ void builtin_trap(float *, int)
{
    if (threadIdx.x == 3) __builtin_trap(); // BUG
}

__global__ void quotient(float *x, int n)
{
    x[threadIdx.x] = float(100 / (n - 64)); // BUG
}

__global__ void barrier_in_a_branch(float *x, int n)
{
    if (threadIdx.x < n - 20) {
        x[threadIdx.x] += 1;
        __syncthreads(); // BUG
    }
}

__global__ void lanes_left_out(float *x, int)
{
    SHARED(float, s, [64]);
    s[threadIdx.x] = x[threadIdx.x];
    __syncwarp(0x0000ffff); // BUG
    x[threadIdx.x] = s[threadIdx.x ^ 1];
}
