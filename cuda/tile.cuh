/* tile.cuh: squares of a matrix in shared memory, and their products in registers. Chapter 11.
 *
 * A block of 16 x 16 threads works on squares of 64 x 64 floats, one of 8 x 8 on 32 x 32
 * doubles: with A threads each way, a thread holds 4 x 4 entries of the product, rows
 * 4 (t / A) + u and columns t % A + A w. So A lanes read A neighbours of one operand (no two of
 * them in the same bank) and all the same entry of the other: 8 loads from shared memory for 16
 * multiply-adds.
 *
 * Rows of a square are one entry longer than they need to be: entries of one column then lie
 * in different banks. Tensor cores read squares in other ways, and have a square of their own
 * (products.cuh). */
#ifndef TARN_TILE_CUH
#define TARN_TILE_CUH

#include "cuda/launch.cuh"

namespace
{

template <class T> struct tile {
    static constexpr int R = 4; /* entries per thread, each way */
    static constexpr int across = sizeof(T) == 4 ? 16 : 8; /* threads, each way */
    static constexpr int side = across * R;
    static constexpr int pitch = side + 1;
    static constexpr int threads = across * across;
};

/* A square in shared memory; s(r, c) is an entry. */
template <class T> struct padded_square {
    T row[tile<T>::side][tile<T>::pitch];

    __device__ T &operator()(int r, int c) { return row[r][c]; }
    __device__ const T &operator()(int r, int c) const { return row[r][c]; }

    /* Where the x-th entry is that one of `size` neighbours has, who share a row. */
    __device__ static int of_team(int lane, int x, int size)
    {
        return lane * (tile<T>::side / size) + x;
    }
};

template <class T> using entries = T[tile<T>::R][tile<T>::R];

/* Row and column of entry (u, w) of this thread. */
template <class T> __device__ inline int row_of(int u)
{
    return static_cast<int>(threadIdx.x) / tile<T>::across * tile<T>::R + u;
}
template <class T> __device__ inline int column_of(int w)
{
    return static_cast<int>(threadIdx.x) % tile<T>::across + tile<T>::across * w;
}

/* Loads a square from row-major memory of the given width; what lies beyond `rows` and
 * `columns` is 0. `change` is applied to each entry: phi, for instance. */
template <class T, class Square, class Change>
__device__ inline void load(Square &to, const T *from, size_t width, size_t rows,
                            size_t columns, Change change)
{
    constexpr int side = tile<T>::side;
    for (int e = static_cast<int>(threadIdx.x); e < side * side;
         e += tile<T>::threads) {
        const int r = e / side, c = e % side;
        const bool there =
            static_cast<size_t>(r) < rows && static_cast<size_t>(c) < columns;
        to(r, c) =
            there
                ? change(from[static_cast<size_t>(r) * width + static_cast<size_t>(c)])
                : T(0);
    }
}

template <class T, class Square>
__device__ inline void load(Square &to, const T *from, size_t width, size_t rows,
                            size_t columns)
{
    load<T>(to, from, width, rows, columns, [](T x) { return x; });
}

//> region device_tile
/* Calls f(acc, left(x, row), right(x, column), x, u, w) for each entry and each
 * x < products. */
template <class T, class Left, class Right, class F>
__device__ inline void combine(entries<T> &acc, const int products, Left left,
                               Right right, F f)
{
    constexpr int R = tile<T>::R;
    for (int x = 0; x < products; x++) {
        T a[R], b[R];
        UNROLL
        for (int u = 0; u < R; u++)
            a[u] = left(x, row_of<T>(u)), b[u] = right(x, column_of<T>(u));
        UNROLL
        for (int u = 0; u < R; u++) {
            UNROLL
            for (int w = 0; w < R; w++) f(acc[u][w], a[u], b[w], x, u, w);
        }
    }
}
//< region device_tile

/* acc += sum over x < n of left(x, row) right(x, column). */
template <class T, class Left, class Right>
__device__ inline void multiply(entries<T> &acc, int n, Left left, Right right)
{
    combine<T>(acc, n, left, right,
               [](T &sum, T a, T b, int, int, int) { sum += a * b; });
}

/* One row of it, and one x: row += a right(x, column). */
template <class T, class Right>
__device__ inline void multiply_row(T (&row)[tile<T>::R], T a, int x, Right right)
{
    UNROLL
    for (int w = 0; w < tile<T>::R; w++) row[w] += a * right(x, column_of<T>(w));
}

/* The same under a causal mask: a sum over x <= row, or over row <= x < n. Entries that the
 * mask hides are not multiplied by 0 but left out, for they may be NaN; it is half the work. */
template <class T, class Left, class Right>
__device__ inline void multiply_until_row(entries<T> &acc, Left left, Right right)
{
    constexpr int R = tile<T>::R;
    const int first = row_of<T>(0);
    multiply<T>(acc, first + 1, left, right);
    UNROLL
    for (int u = 1; u < R; u++) {
        UNROLL
        for (int x = first + 1; x <= first + u; x++)
            multiply_row<T>(acc[u], left(x, first + u), x, right);
    }
}

template <class T, class Left, class Right>
__device__ inline void multiply_from_row(entries<T> &acc, int n, Left left, Right right)
{
    constexpr int R = tile<T>::R;
    const int first = row_of<T>(0), last = first + R - 1;
    UNROLL
    for (int u = 0; u < R - 1; u++) {
        UNROLL
        for (int x = first + u; x < last; x++)
            if (x < n) multiply_row<T>(acc[u], left(x, first + u), x, right);
    }
    multiply<T>(
        acc, n - last, [&](int x, int row) { return left(last + x, row); },
        [&](int x, int column) { return right(last + x, column); });
}

/* Calls f(u, w, row, column) for each entry of this thread. Registers of a GPU have no index, so
 * nvcc has to unroll the rows; gcc, told to, would no longer do four entries in one instruction. */
template <class T, class F> __device__ inline void each_entry(F f)
{
#ifdef __CUDACC__
#pragma unroll
#endif
    for (int u = 0; u < tile<T>::R; u++) {
        UNROLL
        for (int w = 0; w < tile<T>::R; w++) f(u, w, row_of<T>(u), column_of<T>(w));
    }
}

} // namespace
#endif
