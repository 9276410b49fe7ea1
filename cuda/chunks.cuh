/* chunks.cuh: parallel in time, a sequence in chunks. Chapters 9 and 11.
 *
 * What the chunked rungs of prefix and of its gradient have in common:
 *
 *   sums     the sum of each chunk by itself, all chunks at once
 *   scan     the prefixes of these sums (or, backwards, what comes after each chunk)
 *   outputs  all chunks at once again, each from its own prefix
 *
 * A chunk is one square of tile.cuh, or several, one after the other. The state of a chunk is
 * [C, M] and then [C]; those of a head's chunks lie one after the other. */
#ifndef TARN_CHUNKS_CUH
#define TARN_CHUNKS_CUH

#include "cuda/products.cuh"
#include "cuda/walk.cuh"

namespace
{

/* How the sequences of all heads are cut. */
struct chunks {
    size_t heads, N, C, M;
    size_t length, count;   /* rows of a chunk, chunks of a head */
    const int64_t *lengths; /* rows that exist, or NULL */
};

template <class T> chunks chunks_of(const tarn_span *s, unsigned squares)
{
    const size_t length = tile<T>::side * squares;
    return {s->heads, s->N, s->C, s->M, length, (s->N + length - 1) / length, nullptr};
}

__device__ __host__ inline size_t state_size(const chunks &d)
{
    return d.C * d.M + d.C;
}
inline size_t states_size(const chunks &d)
{
    return d.heads * d.count * state_size(d);
}

/* Which chunk a block has: blockIdx.x counts those of all heads. */
struct own {
    size_t first, rows; /* its first row, counted over all heads, and how many */
};
__device__ inline own own_chunk(const chunks &d)
{
    const size_t h = blockIdx.x / d.count, start = blockIdx.x % d.count * d.length;
    const size_t N = d.lengths ? size_t(d.lengths[h]) : d.N;
    const size_t left = N > start ? N - start : 0;
    return {h * d.N + start, left < d.length ? left : d.length};
}

/* What becomes of an entry of k on its way into shared memory: nothing, it is a feature. */
template <class T> struct features_as_they_are {
    static constexpr bool fused = false;

    __device__ T operator()(T x) const { return x; }
};

//> region chunk_sums
/* The sum of each chunk by itself: S += k_i v_i^T, z += w_i k_i (w NULL: 1).
 * Block: one square of S, of one chunk. Sums have two levels, one square of
 * rows and all of them. */
template <class T, class P, class Map>
__global__ void __launch_bounds__(P::threads, Map::fused ? 1 : P::least_blocks)
    chunk_sums(chunks d, Map map, const T *k, const T *v, const T *w, T *states)
{
    SHARED(typename P::square, ks);
    SHARED(typename P::square, vs);
    constexpr size_t L = tile<T>::side;
    const size_t t = threadIdx.x, c0 = blockIdx.y * L, m0 = blockIdx.z * L;
    const own chunk = own_chunk(d);
    entries<T> S = {}, S_part = {};
    T z = 0, z_part = 0;
    for (size_t start = 0; start < chunk.rows; start += L) {
        const size_t first = chunk.first + start, left = chunk.rows - start;
        const size_t rows = left < L ? left : L;
        if (start) __syncthreads();
        load<T>(ks, k + first * d.C + c0, d.C, rows, d.C - c0, map);
        load<T>(vs, v + first * d.M + m0, d.M, rows, d.M - m0);
        __syncthreads();
        P::multiply(
            S_part, int(rows), [&](int i, int c) { return ks(i, c); },
            [&](int i, int m) { return vs(i, m); });
        P::each([&](int u, int n, int, int) { carry(S_part[u][n], S[u][n]); });
        if (m0 > 0 || t >= L) continue;
        for (size_t i = 0; i < rows; i++)
            z_part += ks(int(i), int(t)) * (w ? w[first + i] : T(1));
        carry(z_part, z);
    }
    T *const state = states + blockIdx.x * state_size(d);
    P::each([&](int u, int n, int c, int m) {
        if (c0 + c < d.C && m0 + m < d.M)
            state[(c0 + c) * d.M + m0 + m] = S[u][n] + S_part[u][n];
    });
    const bool of_z = m0 == 0 && t < L && c0 + t < d.C;
    if (of_z) state[d.C * d.M + c0 + t] = z + z_part;
}
//< region chunk_sums

/* Entry e of a head's S and z, taken as one array; NULL where there is none. */
template <class T>
__device__ inline T *entry_of(const chunks &d, T *S, T *z, size_t h, size_t e)
{
    const size_t in_S = d.C * d.M;
    if (e < in_S) return S ? S + h * in_S + e : nullptr;
    return z ? z + h * d.C + e - in_S : nullptr;
}

//> region scan_chunks
/* From the sum of each chunk to the sum of all before it, or behind it. One
 * thread per entry of the state; totals are exact to the last carry, whatever
 * the number of chunks. Begins with the state `from` and leaves the whole sum
 * in `to`; any of their arrays may be NULL. */
template <class T>
__global__ void scan_chunks(chunks d, bool backwards, levels<const T> from,
                            levels<T> to, T *states)
{
    const size_t per_head = (state_size(d) + blockDim.x - 1) / blockDim.x;
    const size_t h = blockIdx.x / per_head;
    const size_t e = blockIdx.x % per_head * blockDim.x + threadIdx.x;
    if (e >= state_size(d)) return;
    const T *start = entry_of(d, from.S, from.z, h, e);
    const T *start_part = entry_of(d, from.S_part, from.z_part, h, e);
    T total = start ? *start : T(0), part = start_part ? *start_part : T(0);
    carry(part, total);
    for (size_t n = 0; n < d.count; n++) {
        const size_t chunk = h * d.count + (backwards ? d.count - 1 - n : n);
        T &state = states[chunk * state_size(d) + e];
        const T sum = state;
        state = total + part;
        part += sum;
        carry(part, total);
    }
    T *const end = entry_of(d, to.S, to.z, h, e);
    T *const end_part = entry_of(d, to.S_part, to.z_part, h, e);
    if (end) *end = end_part ? total : total + part;
    if (end_part) *end_part = part;
}
//< region scan_chunks

/* ---- Their launches -------------------------------------------------------------------- */

template <class T, class P, class Map = features_as_they_are<T>>
tarn_status sum_chunks(tarn_context *ctx, const chunks &d, const T *k, const T *v,
                       const T *w, T *states, Map map = {})
{
    constexpr unsigned L = tile<T>::side;
    const size_t blocks = d.heads * d.count;
    if (blocks == 0) return TARN_OK;
    return launch(ctx, "chunk_sums", chunk_sums<T, P, Map>,
                  dim3(grid_side(blocks), blocks_for(d.C, L), blocks_for(d.M, L)),
                  tile<T>::threads, 0, d, map, k, v, w, states);
}

template <class T>
tarn_status scan(tarn_context *ctx, const chunks &d, bool backwards,
                 levels<const T> from, levels<T> to, T *states)
{
    constexpr unsigned threads = 256;
    const size_t blocks = d.heads * blocks_for(state_size(d), threads);
    if (blocks == 0) return TARN_OK;
    return launch(ctx, "scan_chunks", scan_chunks<T>, grid_side(blocks), threads, 0, d,
                  backwards, from, to, states);
}

//> region chunk_outputs
/* out = (tril(Q K^T) V + Q S) / den. Block: the rows of one chunk, one square
 * of columns. The products over c come square by square, each square of q used
 * twice. The denominators go to `dens` if somebody asks. */
template <class T, class P>
__global__ void __launch_bounds__(P::threads, P::least_blocks)
    chunk_outputs(chunks d, const T *q, const T *k, const T *v, const T *before,
                  const T *eps_row, T eps, T *out, T *dens)
{
    SHARED(typename P::square, qs); /* q, at the end Q K^T */
    SHARED(typename P::square, bs); /* k, S, v in turn */
    SHARED(T, den, [tile<T>::side]);
    constexpr int L = tile<T>::side;
    const int t = static_cast<int>(threadIdx.x);
    const own chunk = own_chunk(d);
    const size_t first = chunk.first, rows = chunk.rows;
    const size_t m0 = blockIdx.y * size_t(L);
    const T *S = before + blockIdx.x * state_size(d), *z = S + d.C * d.M;
    entries<T> a = {}, o = {};
    const bool exists = size_t(t) < rows;
    if (t < L) den[t] = 0;
    for (size_t c0 = 0; c0 < d.C; c0 += L) {
        const int width = static_cast<int>(d.C - c0 < L ? d.C - c0 : L);
        load<T>(qs, q + first * d.C + c0, d.C, rows, d.C - c0);
        load<T>(bs, k + first * d.C + c0, d.C, rows, d.C - c0);
        __syncthreads();
        P::multiply(
            a, width, [&](int c, int i) { return qs(i, c); },
            [&](int c, int j) { return bs(j, c); });
        if (t < L)
            for (int c = 0; c < width; c++) den[t] += qs(t, c) * z[c0 + c];
        __syncthreads();
        load<T>(bs, S + c0 * d.M + m0, d.M, d.C - c0, d.M - m0);
        __syncthreads();
        P::multiply(
            o, width, [&](int c, int i) { return qs(i, c); },
            [&](int c, int m) { return bs(c, m); });
        __syncthreads();
    }
    P::each([&](int u, int w, int i, int j) { qs(i, j) = a[u][w]; });
    load<T>(bs, v + first * d.M + m0, d.M, rows, d.M - m0);
    __syncthreads();
    if (exists) {
        T sum = den[t];
        for (int j = 0; j <= t; j++) sum += qs(t, j);
        den[t] = denominator(sum, eps_of(eps_row, eps, first + t));
    }
    P::multiply_until_row(
        o, [&](int j, int i) { return qs(i, j); },
        [&](int j, int m) { return bs(j, m); });
    __syncthreads();
    if (dens && m0 == 0 && exists) dens[first + t] = den[t];
    P::each([&](int u, int w, int i, int m) {
        if (size_t(i) < rows && m0 + m < d.M)
            out[(first + i) * d.M + m0 + m] = divided(o[u][w], den[i]);
    });
}
//< region chunk_outputs

/* The launch of the last phase; `out` and dens [heads, N]. */
template <class T, class P = plain_cores<T>>
tarn_status output_chunks(const tarn_span *s, const chunks &d, const T *states, T *out,
                          T *dens)
{
    const size_t blocks = d.heads * d.count;
    const arrays<T> a = arrays_in<T>(s);
    if (blocks == 0) return TARN_OK;
    return launch(s->ctx, "chunk_outputs", chunk_outputs<T, P>,
                  dim3(grid_side(blocks), blocks_for(d.M, tile<T>::side)),
                  tile<T>::threads, 0, d, a.q, a.k, a.v, states, a.eps_row, a.eps, out,
                  dens);
}

} // namespace
#endif
