/* row_terms.cuh: where every gradient begins, row by row. Chapters 6 and 11.
 *
 *     Gn_i = dout_i / den_i     gd_i = -(Gn_i . out_i) */
#ifndef TARN_ROW_TERMS_CUH
#define TARN_ROW_TERMS_CUH

#include "cuda/sums.cuh"

namespace
{

/* Gn_i and gd_i of each row, from its output (which Gn holds at first) and its denominator.
 * 8 lanes per row; 3 arrays of M columns, a division and two flops an entry. */
template <class T>
__global__ void row_terms(size_t rows, size_t M, const T *dout, const T *dens, T *Gn,
                          T *gd)
{
    constexpr unsigned per_row = 8;
    const unsigned lane = threadIdx.x % per_row;
    const size_t i = (blockIdx.x * size_t(blockDim.x) + threadIdx.x) / per_row;
    const T den = i < rows ? dens[i] : T(0);
    T sum = 0;
    for (size_t m = lane; i < rows && m < M; m += per_row) {
        const T out = Gn[i * M + m], g = divided(dout[i * M + m], den);
        sum -= g * out;
        Gn[i * M + m] = g;
    }
    for (int step = 1; step < int(per_row); step *= 2)
        sum += __shfl_xor_sync(~0u, sum, step);
    if (i < rows && lane == 0) gd[i] = sum;
}

template <class T>
tarn_status find_row_terms(tarn_context *ctx, size_t rows, size_t M, const T *dout,
                           const T *dens, T *Gn, T *gd)
{
    constexpr unsigned threads = 256, rows_per_block = threads / 8;
    if (rows == 0) return TARN_OK;
    return launch(ctx, "row_terms", row_terms<T>, blocks_for(rows, rows_per_block),
                  threads, 0, rows, M, dout, dens, Gn, gd);
}

} // namespace
#endif
