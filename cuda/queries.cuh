/* queries.cuh: queries of any size, made ready for a softmax. Chapters 1 and 11.
 *
 * What pairs.cuh needs of a query before it meets a key: divided by a power of two if products
 * with it could leave the range, and its gain. */
#ifndef TARN_QUERIES_CUH
#define TARN_QUERIES_CUH

#include "cuda/pairs.cuh"

namespace
{

/* Lanes that share a row. */
constexpr unsigned lanes_per_query = 8;

/* The exponent of the power of two that a query is divided by: then no sum of C products with
 * finite keys leaves the range. 0 for ordinary queries, and where one has Inf. */
template <class T> __device__ inline int excess(T largest, size_t C)
{
    constexpr int spare = sizeof(T) == sizeof(float) ? 30 : 250;
    int size = 0, width = 0;
    if (!isfinite(largest)) return 0;
    frexp(double(largest), &size);
    frexp(double(C), &width);
    return size > spare ? size + width : 0;
}

/* |scale| times that power, within the range: neither Inf nor 0, for 0 times Inf is NaN. */
template <class T> __device__ inline T gain_under(T scale, int exponent)
{
    const double gain = ldexp(fabs(double(scale)), exponent),
                 most = -double(lowest<T>());
    const double least =
        sizeof(T) == sizeof(float) ? 1.1754943508222875e-38 : 2.2250738585072014e-308;
    if (scale == T(0)) return 1;
    return T(gain > most ? most : gain < least ? least : gain);
}

/* 8 lanes per row; q is read twice and written once. With scale 0 all scores are 0, and so are the queries. */
template <class T> __global__ void divide_queries(pairs<T> p, T *scored, T *gain)
{
    const unsigned lane = threadIdx.x % lanes_per_query;
    const size_t row =
        (blockIdx.x * size_t(blockDim.x) + threadIdx.x) / lanes_per_query;
    const bool there = row < p.heads * p.N_q;
    const T *const q = p.q + row * p.C;
    T largest = 0;
    for (size_t c = lane; there && c < p.C; c += lanes_per_query)
        largest = larger(largest, T(fabs(q[c])));
    for (int step = 1; step < int(lanes_per_query); step *= 2)
        largest = larger(largest, __shfl_xor_sync(~0u, largest, step));
    const int exponent = excess(largest, p.C);
    const T factor = p.scale == T(0) ? T(0) : T(ldexp(1.0, -exponent));
    for (size_t c = lane; there && c < p.C; c += lanes_per_query)
        scored[row * p.C + c] = q[c] * factor;
    if (there && lane == 0) gain[row] = gain_under(p.scale, exponent);
}

/* Numbers of memory that queries made ready take. */
inline size_t ready_entries(const tarn_span *s)
{
    return s->by == TARN_SOFTMAX ? s->heads * s->N_q * (s->C + 1) : 0;
}

/* Makes p ready; memory for ready_entries. */
template <class T> tarn_status make_ready(const tarn_span *s, pairs<T> &p, T *memory)
{
    constexpr unsigned threads = 256;
    const size_t rows = p.heads * p.N_q;
    if (s->by != TARN_SOFTMAX || rows == 0) return TARN_OK;
    T *const scored = memory, *const gain = memory + rows * p.C;
    const tarn_status status = launch(s->ctx, "divide_queries", divide_queries<T>,
                                      blocks_for(rows, threads / lanes_per_query),
                                      threads, 0, p, scored, gain);
    p.scored = scored, p.gain = gain;
    return status;
}

} // namespace
#endif
