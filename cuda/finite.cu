/* finite.cu: where arrays have numbers that are not finite. Chapter 11.
 *
 * Finite inputs whose result is not finite have overflowed: an error, never a NaN that nobody
 * expects (src/device_range.c). The arrays are those of all heads, and what is found is marked
 * head by head. Bytes: each array once, unless there is nothing to search. */
#include "cuda/launch.cuh"

namespace
{

constexpr unsigned threads = 128, entries_per_thread = 32;

/* Numbers of head h in one of the arrays. */
__device__ __host__ inline size_t numbers_of(const tarn_search &s, int array, size_t h)
{
    const tarn_searched &a = s.array[array];
    return (a.by_length && s.lengths ? size_t(s.lengths[h]) : a.rows) * a.width;
}

/* Block: 4,096 numbers of one head, in each array; neighbours read neighbours. */
template <class T> __global__ void mark_not_finite(tarn_search s, size_t pieces)
{
    const size_t h = blockIdx.x / pieces, piece = blockIdx.x % pieces;
    if (s.only && !s.only[h]) return;
    bool all_finite = true;
    for (int i = 0; i < s.count; i++) {
        const tarn_searched &a = s.array[i];
        const T *const x = static_cast<const T *>(a.x) + h * a.rows * a.width;
        const size_t n = numbers_of(s, i, h);
        const size_t first = piece * (threads * entries_per_thread);
        const size_t left = n > first ? n - first : 0;
        const size_t most = threads * entries_per_thread;
        const size_t end = first + (left < most ? left : most);
        for (size_t e = first + threadIdx.x; e < end; e += threads)
            all_finite &= isfinite(x[e]) != 0;
    }
    if (!all_finite) atomicMax(&s.found[h], 1);
}

/* Pieces of the longest array. */
size_t pieces_of(const tarn_search *s)
{
    size_t most = 1;
    for (int i = 0; i < s->count; i++) {
        const size_t n = s->array[i].rows * s->array[i].width;
        const size_t pieces = blocks_for(n, threads * entries_per_thread);
        if (pieces > most) most = pieces;
    }
    return most;
}

template <class T> tarn_status run(tarn_context *ctx, const tarn_search *s)
{
    const size_t pieces = pieces_of(s);
    return launch(ctx, "finite", mark_not_finite<T>, grid_side(s->heads * pieces),
                  threads, 0, *s, pieces);
}

} // namespace

extern "C" {
tarn_status TARN_TABLE(search, f32)(tarn_context *ctx, const tarn_search *s);
tarn_status TARN_TABLE(search, f64)(tarn_context *ctx, const tarn_search *s);
tarn_status TARN_TABLE(search, f32)(tarn_context *ctx, const tarn_search *s)
{
    return run<float>(ctx, s);
}
tarn_status TARN_TABLE(search, f64)(tarn_context *ctx, const tarn_search *s)
{
    return run<double>(ctx, s);
}
}
