/* prefix.cu: stage 3 on a device, causal attention as a prefix sum. Chapters 9 and 11.
 *
 *     S_i = sum_{j<=i} phi(k_j) v_j^T      z_i = sum_{j<=i} phi(k_j)      (eqs 10, 11)
 *     out_i = phi(q_i)^T S_i / (phi(q_i)^T z_i + eps)                     (eq 12)
 *
 * The ladder:
 *
 *   k1  one thread per column of the state walks through time: the equations as they stand
 *       (walk.cuh). Parallel over heads and columns only; a GPU is nearly idle.
 *   k2  parallel in time, in three phases: the sum of each chunk by itself, the prefixes of
 *       these sums, then the outputs of all chunks at once, each from its own prefix and a
 *       small masked attention inside. Everything is products of squares (tile.cuh).
 *
 * q and k are features. */
#include "cuda/sums.cuh"
#include "cuda/tile.cuh"
#include "cuda/walk.cuh"

namespace
{

/* ---- k2: three phases ------------------------------------------------------------------------
 *
 * A chunk is as many tokens as a square has rows. The state of a chunk is [C, M] and then [C];
 * that of a head's chunks one after the other. Traffic, in arrays of N rows: phase 1 reads k
 * and v, phase 2 reads and writes a state per chunk (with C = M = L as much as k or v), phase
 * 3 reads q, k, v and a state and writes out: 10 passes where 4 would be the least. */

/* What the kernels of k2 are told. */
struct chunks {
    size_t heads, N, C, M, count; /* count: chunks of a head */
};

__device__ __host__ inline size_t state_size(const chunks &d)
{
    return d.C * d.M + d.C;
}

template <class T> chunks chunks_of(const tarn_span *s)
{
    constexpr size_t L = tile<T>::side;
    return {s->heads, s->N, s->C, s->M, (s->N + L - 1) / L};
}

/* Which chunk a block has: blockIdx.x counts those of all heads. */
template <class T> struct own {
    size_t first, rows; /* its first row, counted over all heads, and how many */
};
template <class T> __device__ inline own<T> own_chunk(const chunks &d)
{
    constexpr size_t L = tile<T>::side;
    const size_t h = blockIdx.x / d.count, start = blockIdx.x % d.count * L;
    return {h * d.N + start, d.N - start < L ? d.N - start : L};
}

//> region prefix_k2_sums
/* Phase 1: the sum of each chunk by itself. Block: one square of S, of one chunk. */
template <class T>
__global__ void __launch_bounds__(256)
    chunk_sums(chunks d, const T *k, const T *v, T *states)
{
    SHARED(T, ks, [tile<T>::side][tile<T>::pitch]);
    SHARED(T, vs, [tile<T>::side][tile<T>::pitch]);
    constexpr int L = tile<T>::side;
    const int t = static_cast<int>(threadIdx.x);
    const size_t c0 = blockIdx.y * size_t(L), m0 = blockIdx.z * size_t(L);
    const own<T> chunk = own_chunk<T>(d);
    load<T>(ks, k + chunk.first * d.C + c0, d.C, chunk.rows, d.C - c0);
    load<T>(vs, v + chunk.first * d.M + m0, d.M, chunk.rows, d.M - m0);
    __syncthreads();
    entries<T> sum = {};
    multiply<T>(
        sum, L, [&](int i, int c) { return ks[i][c]; },
        [&](int i, int m) { return vs[i][m]; });
    T *S = states + blockIdx.x * state_size(d), *z = S + d.C * d.M;
    each_entry<T>([&](int u, int w, int c, int m) {
        if (c0 + c < d.C && m0 + m < d.M) S[(c0 + c) * d.M + m0 + m] = sum[u][w];
    });
    if (m0 > 0 || t >= L || c0 + t >= d.C) return;
    T total = 0;
    for (int i = 0; i < L; i++) total += ks[i][t];
    z[c0 + t] = total;
}
//< region prefix_k2_sums

//> region prefix_k2_scan
/* Phase 2: from the sum of each chunk to the sum of all before it. One thread per entry of the
 * state; totals are exact to the last carry, whatever the number of chunks. */
template <class T> __global__ void scan_chunks(chunks d, T *states, levels<T> all)
{
    const size_t per_head = (state_size(d) + blockDim.x - 1) / blockDim.x;
    const size_t h = blockIdx.x / per_head;
    const size_t e = blockIdx.x % per_head * blockDim.x + threadIdx.x, in_S = d.C * d.M;
    if (e >= state_size(d)) return;
    const levels<T> s = levels_of(all, h, d.C, d.M);
    T &last = e < in_S ? s.S[e] : s.z[e - in_S];
    T &last_part = e < in_S ? s.S_part[e] : s.z_part[e - in_S];
    T total = last, part = last_part;
    carry(part, total);
    for (size_t n = h * d.count; n < (h + 1) * d.count; n++) {
        T &state = states[n * state_size(d) + e];
        const T sum = state;
        state = total + part;
        part += sum;
        carry(part, total);
    }
    last = total, last_part = part;
}
//< region prefix_k2_scan

//> region prefix_k2_outputs
/* Phase 3: out = (tril(Q K^T) V + Q S) / den. Block: the rows of one chunk, one square of
 * columns. The products over c come square by square, each square of q used twice. */
template <class T>
__global__ void __launch_bounds__(256)
    chunk_outputs(chunks d, const T *q, const T *k, const T *v, const T *states, T eps,
                  const T *eps_row, T *out)
{
    SHARED(T, qs, [tile<T>::side][tile<T>::pitch]); /* of q, at the end tril(Q K^T) */
    SHARED(T, bs, [tile<T>::side][tile<T>::pitch]); /* of k, of S, of v, in turn */
    SHARED(T, den, [tile<T>::side]);
    constexpr int L = tile<T>::side;
    const int t = static_cast<int>(threadIdx.x);
    const own<T> chunk = own_chunk<T>(d);
    const size_t first = chunk.first, rows = chunk.rows, m0 = blockIdx.y * size_t(L);
    const T *S = states + blockIdx.x * state_size(d), *z = S + d.C * d.M;
    entries<T> a = {}, o = {};
    if (t < L) den[t] = size_t(t) < rows ? eps_of(eps_row, eps, first + t) : T(1);
    for (size_t c0 = 0; c0 < d.C; c0 += L) {
        const int width = static_cast<int>(d.C - c0 < L ? d.C - c0 : L);
        load<T>(qs, q + first * d.C + c0, d.C, rows, d.C - c0);
        load<T>(bs, k + first * d.C + c0, d.C, rows, d.C - c0);
        __syncthreads();
        multiply<T>(
            a, width, [&](int c, int i) { return qs[i][c]; },
            [&](int c, int j) { return bs[j][c]; });
        if (t < L)
            for (int c = 0; c < width; c++) den[t] += qs[t][c] * z[c0 + c];
        __syncthreads();
        load<T>(bs, S + c0 * d.M + m0, d.M, d.C - c0, d.M - m0);
        __syncthreads();
        multiply<T>(
            o, width, [&](int c, int i) { return qs[i][c]; },
            [&](int c, int m) { return bs[c][m]; });
        __syncthreads();
    }
    each_entry<T>(
        [&](int u, int w, int i, int j) { qs[i][j] = j <= i ? a[u][w] : T(0); });
    load<T>(bs, v + first * d.M + m0, d.M, rows, d.M - m0);
    __syncthreads();
    if (t < L)
        for (int j = 0; j <= t; j++) den[t] += qs[t][j];
    multiply<T>(
        o, L, [&](int j, int i) { return qs[i][j]; },
        [&](int j, int m) { return bs[j][m]; });
    __syncthreads();
    each_entry<T>([&](int u, int w, int i, int m) {
        if (size_t(i) < rows && m0 + m < d.M)
            out[(first + i) * d.M + m0 + m] = divided(o[u][w], den[i]);
    });
}
//< region prefix_k2_outputs

template <class T> size_t k2_work(const tarn_span *s)
{
    const chunks d = chunks_of<T>(s);
    return d.heads * d.count * state_size(d) * sizeof(T);
}

template <class T> tarn_status k2(tarn_span *s)
{
    constexpr unsigned L = tile<T>::side, threads = tile<T>::threads;
    const chunks d = chunks_of<T>(s);
    const T *q = static_cast<const T *>(s->q), *k = static_cast<const T *>(s->k);
    const T *v = static_cast<const T *>(s->v),
            *eps_row = static_cast<const T *>(s->eps_row);
    const levels<T> state = levels_in<T>(s);
    T *states = static_cast<T *>(s->work), *out = static_cast<T *>(s->out);
    const unsigned blocks = static_cast<unsigned>(d.heads * d.count);
    if (blocks == 0) return TARN_OK;
    const unsigned across = blocks_for(d.M, L), down = blocks_for(d.C, L);
    const unsigned per_head = blocks_for(state_size(d), threads);
    tarn_status status =
        launch(s->ctx, "prefix_k2 chunk_sums", chunk_sums<T>,
               dim3(blocks, down, across), threads, 0, d, k, v, states);
    if (!status)
        status = launch(s->ctx, "prefix_k2 scan_chunks", scan_chunks<T>,
                        static_cast<unsigned>(d.heads) * per_head, threads, 0, d,
                        states, state);
    if (!status)
        status = launch(s->ctx, "prefix_k2 chunk_outputs", chunk_outputs<T>,
                        dim3(blocks, across), threads, 0, d, q, k, v, states,
                        static_cast<T>(s->eps), eps_row, out);
    s->count = 0;
    return status;
}

/* ---- The ladder --------------------------------------------------------------------------- */

const tarn_rung rungs_f32[] = {{"k1", walk_run<float>, nullptr},
                               {"k2", k2<float>, k2_work<float>}};
const tarn_rung rungs_f64[] = {{"k1", walk_run<double>, nullptr},
                               {"k2", k2<double>, k2_work<double>}};

} // namespace

extern "C" {
extern const tarn_ladder TARN_TABLE(prefix, f32), TARN_TABLE(prefix, f64);
const tarn_ladder TARN_TABLE(prefix, f32) = {rungs_f32, 2, 1};
const tarn_ladder TARN_TABLE(prefix, f64) = {rungs_f64, 2, 1};
}
