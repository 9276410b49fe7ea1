/* products.cuh: ways to multiply squares, for kernels that take any of them. Chapter 11.
 *
 *     plain_cores<T>        multiply and add, tile.cuh
 *     tensor_cores<tf32>    float only, factors rounded to 11 bits on the way in
 *     tensor_cores<bf16>    the same with 8 bits, twice as many factors at a time
 *
 * Tensor cores only where they are asked for. All have 16 entries a thread, of the same type;
 * where these lie in the square differs, and `each` tells. Sums stay float in either. Each
 * brings the square of shared memory that it reads without bank conflicts. */
#ifndef TARN_PRODUCTS_CUH
#define TARN_PRODUCTS_CUH

#include "cuda/mma.cuh"
#include "cuda/tile.cuh"

namespace
{

template <class T> struct plain_cores {
    using square = padded_square<T>;
    static constexpr int threads = tile<T>::threads;
    static constexpr int least_gpu = 0; /* any GPU has them */
    /* Blocks that must fit at a time; 0: ptxas decides, which spills doubles on some GPUs. */
    static constexpr int least_blocks = sizeof(T) == 4 ? 0 : 1;

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

/* ---- Tensor cores --------------------------------------------------------------------------
 *
 * The instruction has the lanes of a warp read 8 rows of 4 neighbours, of one factor, and 4
 * rows of 8 neighbours, of the other; and a square that is read as its transpose swaps these.
 * A pitch serves one of them (68 the first, 72 the second), so here rows have no gap: entry
 * (r, c) lies in column c ^ turn(r). The bits of r are handed out such that 4 rows, 8 rows and
 * 32 rows below each other lie in other banks. */
struct turned_square {
    float row[tile<float>::side][tile<float>::side];

    /* Bit by bit: 1 -> 8, 2 -> 16, 4 -> 4, 8 -> 1, 16 -> 2. */
    __device__ static int turn(int r) { return (r & 3) << 3 | (r & 4) | (r >> 3 & 3); }
    __device__ float &operator()(int r, int c) { return row[r][c ^ turn(r)]; }
    __device__ const float &operator()(int r, int c) const
    {
        return row[r][c ^ turn(r)];
    }

    /* Where the x-th entry is that one of `size` neighbours has, who share a row. */
    __device__ static int of_team(int lane, int x, int size) { return lane + x * size; }
};

#if TARN_HAS_MMA
/* Factors of one kind: how many steps of a sum one instruction makes, what a lane puts into a
 * register at step x, and the product. Which steps a register has may be chosen, as long as both
 * factors have the same: two of bf16 are 4 apart, so that lanes are neighbours in memory. */
struct tf32 {
    static constexpr int steps = 8;

    template <class Factor> __device__ static unsigned take(Factor factor, int x)
    {
        return to_tf32(factor(x));
    }
    __device__ static void multiply(float (&c)[4], const unsigned (&a)[4],
                                    const unsigned (&b)[2])
    {
        mma_tf32(c, a, b);
    }
};

struct bf16 {
    static constexpr int steps = 16;

    template <class Factor> __device__ static unsigned take(Factor factor, int x)
    {
        return to_bf16(factor(x), factor(x + 4));
    }
    __device__ static void multiply(float (&c)[4], const unsigned (&a)[4],
                                    const unsigned (&b)[2])
    {
        mma_bf16(c, a, b);
    }
};
#else
struct tf32;
struct bf16;
#endif

/* A warp has 16 rows and 32 columns of the square, four products of mma side by side. Of 8
 * columns the instruction gives a lane the neighbours 2 t and 2 t + 1; we call these t and
 * t + 4, and have the lane of the right factor that brings them take these. */
template <class Kind> struct tensor_cores {
    using square = turned_square;
    static constexpr int threads = tile<float>::threads;
    static constexpr int least_gpu = 80;
    static constexpr int least_blocks =
        1; /* at a time: with room for more, ptxas spills */

    __device__ static int row(int, int e)
    {
        const int t = static_cast<int>(threadIdx.x);
        return t / 32 % 4 * 16 + t % 32 / 4 + e / 2 * 8;
    }
    __device__ static int column(int u, int e)
    {
        const int t = static_cast<int>(threadIdx.x);
        return t / 128 * 32 + u * 8 + t % 4 + e % 2 * 4;
    }

    template <class F> __device__ static void each(F f)
    {
        UNROLL
        for (int u = 0; u < 4; u++) {
            UNROLL
            for (int e = 0; e < 4; e++) f(u, e, row(u, e), column(u, e));
        }
    }

    /* What is no product, or where there are no tensor cores: entry by entry, from this thread's
     * 2 rows and 8 columns. All lanes are at the same x, so their banks are those above. */
    template <class Left, class Right, class F>
    __device__ static void combine(entries<float> &acc, int n, Left left, Right right,
                                   F f)
    {
        for (int x = 0; x < n; x++) {
            float a[2], b[8];
            UNROLL
            for (int r = 0; r < 2; r++) a[r] = left(x, row(0, 2 * r));
            UNROLL
            for (int c = 0; c < 8; c++) b[c] = right(x, column(c / 2, c % 2));
            each([&](int u, int e, int, int) {
                f(acc[u][e], a[e / 2], b[2 * u + e % 2], x, u, e);
            });
        }
    }

    /* Reads up to 15 rows past n, which are 0 in squares that were loaded. */
    template <class Left, class Right>
    __device__ static void multiply(entries<float> &acc, int n, Left left, Right right)
    {
#if TARN_HAS_MMA
        const int thread = static_cast<int>(threadIdx.x), t = thread % 4;
        const int g = thread % 32 / 4, first = thread / 128 * 32 + g % 2 * 4 + g / 2;
        constexpr int half = Kind::steps / 2;
        for (int x = t; x < n + t; x += Kind::steps) {
            unsigned a[4], b[2];
            UNROLL
            for (int e = 0; e < 4; e++)
                a[e] = Kind::take([&](int y) { return left(y, row(0, e % 2 * 2)); },
                                  x + e / 2 * half);
            UNROLL
            for (int u = 0; u < 4; u++) {
                const auto from = [&](int y) { return right(y, first + u * 8); };
                b[0] = Kind::take(from, x), b[1] = Kind::take(from, x + half);
                Kind::multiply(acc[u], a, b);
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
        combine(
            acc, 16, [&](int x, int i) { return left(first + x, i); },
            [&](int x, int j) { return right(first + x, j); },
            [&](float &sum, float a, float b, int x, int u, int e) {
                if (first + x <= row(u, e)) sum += a * b;
            });
    }

    template <class Left, class Right>
    __device__ static void multiply_from_row(entries<float> &acc, int n, Left left,
                                             Right right)
    {
        const int first = first_row(), end = first + 16;
        combine(
            acc, n < end ? n - first : 16,
            [&](int x, int i) { return left(first + x, i); },
            [&](int x, int j) { return right(first + x, j); },
            [&](float &sum, float a, float b, int x, int u, int e) {
                if (first + x >= row(u, e)) sum += a * b;
            });
        multiply(
            acc, n - end, [&](int x, int i) { return left(end + x, i); },
            [&](int x, int j) { return right(end + x, j); });
    }
};

} // namespace
#endif
