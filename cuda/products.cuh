/* products.cuh: two ways to multiply squares, for kernels that take either. Chapter 11.
 *
 *     plain_cores<T>   multiply and add, tile.cuh
 *     tensor_cores     float only, rounded to tf32 on the way in: only when it is asked for
 *
 * Both have 16 entries a thread (4 of doubles) of the same type; where these lie in the square
 * differs, and `each` tells. Sums stay float in either. */
#ifndef TARN_PRODUCTS_CUH
#define TARN_PRODUCTS_CUH

#include "cuda/mma.cuh"
#include "cuda/tile.cuh"

namespace
{

template <class T> struct plain_cores {
    static constexpr int least_gpu = 0; /* any GPU has them */

    /* Row of entry (u, w) of this thread. */
    __device__ static int row(int u, int) { return row_of<T>(u); }

    template <class F> __device__ static void each(F f) { each_entry<T>(f); }

    template <class Left, class Right>
    __device__ static void multiply(entries<T> &acc, int n, Left left, Right right)
    {
        ::multiply<T>(acc, n, left, right);
    }

    template <class Left, class Right>
    __device__ static void multiply_until_row(entries<T> &acc, Left left, Right right)
    {
        ::multiply_until_row<T>(acc, left, right);
    }

    template <class Left, class Right>
    __device__ static void multiply_from_row(entries<T> &acc, int n, Left left,
                                             Right right)
    {
        ::multiply_from_row<T>(acc, n, left, right);
    }

    template <class Left, class Right, class F>
    __device__ static void combine(entries<T> &acc, int n, Left left, Right right, F f)
    {
        ::combine<T>(acc, n, left, right, f);
    }
};

/* A warp has 16 rows and 32 columns of the square, four products of mma side by side. */
struct tensor_cores {
    static constexpr int least_gpu = 80;

    __device__ static int row(int, int e)
    {
        const int t = static_cast<int>(threadIdx.x);
        return t / 32 % 4 * 16 + t % 32 / 4 + e / 2 * 8;
    }
    __device__ static int column(int u, int e)
    {
        const int t = static_cast<int>(threadIdx.x);
        return t / 128 * 32 + u * 8 + t % 4 * 2 + e % 2;
    }

    template <class F> __device__ static void each(F f)
    {
#pragma unroll
        for (int u = 0; u < 4; u++)
#pragma unroll
            for (int e = 0; e < 4; e++) f(u, e, row(u, e), column(u, e));
    }

    /* What is no product, or no tf32 is there for: entry by entry. */
    template <class Left, class Right, class F>
    __device__ static void combine(entries<float> &acc, int n, Left left, Right right,
                                   F f)
    {
        for (int x = 0; x < n; x++)
            each([&](int u, int e, int i, int j) {
                f(acc[u][e], left(x, i), right(x, j), x, u, e);
            });
    }

    /* Reads up to 7 rows past n, which are 0 in squares that were loaded. */
    template <class Left, class Right>
    __device__ static void multiply(entries<float> &acc, int n, Left left, Right right)
    {
#if TARN_HAS_TF32
        const int thread = static_cast<int>(threadIdx.x), t = thread % 4;
        const int first = thread / 128 * 32 + thread % 32 / 4;
        for (int x = 0; x < n; x += 8) {
            unsigned a[4], b[2];
#pragma unroll
            for (int e = 0; e < 4; e++)
                a[e] = to_tf32(left(x + t + e / 2 * 4, row(0, e % 2 * 2)));
#pragma unroll
            for (int u = 0; u < 4; u++) {
                b[0] = to_tf32(right(x + t, first + u * 8));
                b[1] = to_tf32(right(x + t + 4, first + u * 8));
                mma_16x8x8(acc[u], a, b);
            }
        }
#else
        combine(acc, n, left, right,
                [](float &sum, float a, float b, int, int, int) { sum += a * b; });
#endif
    }

    /* Under a causal mask: one by one for x among this warp's 16 rows, which the mask cuts
     * through, and by tensor cores before or behind them. */
    __device__ static int first_row()
    {
        return static_cast<int>(threadIdx.x) / 32 % 4 * 16;
    }

    template <class Left, class Right>
    __device__ static void multiply_until_row(entries<float> &acc, Left left,
                                              Right right)
    {
        const int first = first_row();
        multiply(acc, first, left, right);
        each([&](int u, int e, int i, int j) {
            for (int x = first; x <= i; x++) acc[u][e] += left(x, i) * right(x, j);
        });
    }

    template <class Left, class Right>
    __device__ static void multiply_from_row(entries<float> &acc, int n, Left left,
                                             Right right)
    {
        const int end = first_row() + 16, last = end < n ? end : n;
        each([&](int u, int e, int i, int j) {
            for (int x = i; x < last; x++) acc[u][e] += left(x, i) * right(x, j);
        });
        multiply(
            acc, n - end, [&](int x, int i) { return left(end + x, i); },
            [&](int x, int j) { return right(end + x, j); });
    }
};

} // namespace
#endif
