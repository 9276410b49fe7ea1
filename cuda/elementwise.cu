/* elementwise.cu: one pass over the elements of several tensors on a device: conversions,
 * functions of one element, arithmetic with broadcasting, where. Chapter 11.
 *
 * The counterpart of src/core/kernels.c and walk.c: strides may be anything, an extent that
 * repeats has stride 0. Thread: one element of the output, found from its position in
 * row-major order; neighbours write neighbours. Bytes: the inputs and the
 * output once; a view with other strides brings more sectors than it needs. */
#include "cuda/launch.cuh"

namespace
{

template <class T> __device__ inline T *find(const tarn_pass &p, int i, size_t position)
{
    ptrdiff_t offset = 0;
    for (int d = p.rank - 1; d >= 0; d--) {
        offset += static_cast<ptrdiff_t>(position % p.shape[d]) * p.stride[i][d];
        position /= p.shape[d];
    }
    return static_cast<T *>(p.base[i]) + offset;
}

template <class T>
__device__ inline T value_of(const tarn_pass &p, int i, size_t position)
{
    return p.base[i] ? *find<T>(p, i, position) : static_cast<T>(p.number[i]);
}

template <class T> __device__ inline T unary(int op, T x)
{
    switch (op) {
    case TARN_NEG: return -x;
    case TARN_EXP: return exp(x);
    case TARN_LOG: return log(x);
    case TARN_SQRT: return sqrt(x);
    case TARN_ABS: return fabs(x);
    case TARN_TANH: return tanh(x);
    case TARN_SIGMOID: return T(1) / (T(1) + exp(-x));
    case TARN_RELU: return x < T(0) ? T(0) : x; /* NaN goes through */
    default: return x > T(0) ? x : expm1(x);    /* elu */
    }
}

/* NaN on either side is NaN. */
template <class T> __device__ inline T lesser(T a, T b)
{
    return a < b || a != a ? a : b;
}

template <class T> __device__ inline T binary(int op, T a, T b)
{
    switch (op) {
    case TARN_ADD: return a + b;
    case TARN_SUB: return a - b;
    case TARN_MUL: return a * b;
    case TARN_DIV: return a / b;
    case TARN_POW: return pow(a, b);
    case TARN_MINIMUM: return lesser(a, b);
    case TARN_MAXIMUM: return -lesser(-a, -b);
    case TARN_EQ: return a == b;
    case TARN_LT: return a < b;
    case TARN_LE: return a <= b;
    case TARN_GT: return a > b;
    default: return a >= b;
    }
}

template <class From, class To> __global__ void run(tarn_pass p)
{
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= p.count) return;
    const From a = value_of<From>(p, 1, i);
    To &out = *find<To>(p, 0, i);
    switch (p.kind) {
    case TARN_PASS_CONVERT: out = static_cast<To>(a); break;
    case TARN_PASS_UNARY: out = static_cast<To>(unary(p.op, a)); break;
    case TARN_PASS_BINARY:
        out = static_cast<To>(binary(p.op, a, value_of<From>(p, 2, i)));
        break;
    case TARN_PASS_WHERE:
        out = static_cast<To>(a != From(0) ? value_of<From>(p, 2, i)
                                           : value_of<From>(p, 3, i));
        break;
    }
}

} // namespace

extern "C" tarn_status TARN_TABLE(run, pass)(tarn_context *ctx, const tarn_pass *given);

extern "C" tarn_status TARN_TABLE(run, pass)(tarn_context *ctx, const tarn_pass *given)
{
    constexpr unsigned threads = 256;
    const bool from32 = given->from == TARN_FLOAT32, to32 = given->to == TARN_FLOAT32;
    void (*const kernel)(tarn_pass) =
        from32 ? to32 ? run<float, float> : run<float, double>
        : to32 ? run<double, float>
               : run<double, double>;
    return launch(ctx, given->function, kernel, blocks_for(given->count, threads),
                  threads, 0, *given);
}
