/* scale.cu: y = a x, one thread an element; the words of CUDA as a course writes them. */
#include <cuda_runtime.h>

__global__ void scale(float *y, const float *x, int n, float a)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i];
}

/* The same for any type, with every kind of number among the arguments. */
template <class T>
__global__ void mix(T *y, const T *__restrict__ x, unsigned n, size_t from, long by,
                    double a, bool negate)
{
    const size_t i = from + size_t(by) * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) y[i] = T(negate ? -a : a) * x[i];
}

extern "C" __global__ void nothing() {}

/* A name that tarn's own headers have as well. */
__global__ void update(float *x)
{
    x[threadIdx.x] += 1;
}
