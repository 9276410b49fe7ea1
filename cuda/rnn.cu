/* rnn.cu: stage 4 on a device, the recurrent cell. Chapters 5 and 11.
 *
 *     s_i = s_{i-1} + phi(k_i) v_i^T     z_i = z_{i-1} + phi(k_i)       (eqs 18, 19)
 *     out_i = phi(q_i)^T s_i / (phi(q_i)^T z_i + eps)                   (eq 20)
 *
 * One call takes N tokens of all batch entries and heads; N = 1 is a step. The ladder:
 *
 *   k1  one thread per column of the state (walk.cuh): loads wait for each other
 *   k2  8 warps per head share the rows of the state, whose partial sums meet in shared
 *       memory: a step is one launch that reads and writes the state once, from many threads
 *   k3  for many tokens: persistent, the state stays in registers from the first token to the
 *       last, and 8 tokens at a time go through shared memory
 *
 * A recurrence is sequential in time; prefix.cu has what can be done about that. */
#include "cuda/ladder.cuh"
#include "cuda/walk.cuh"

namespace
{

constexpr int lanes = 32;

/* ---- k2: rows over warps ------------------------------------------------------------------
 *
 * Bytes of a token: S and S_part read, S_part written (S at every 64th), 3 C M numbers, from
 * the cache where they fit. Flops: 5 C M, one of them to add the levels. */

constexpr int step_warps = 8;

/* The sum over the lanes of a warp, known to all of them. */
template <class T> __device__ inline T sum_of_warp(T x)
{
    for (int step = 1; step < lanes; step *= 2) x += __shfl_xor_sync(~0u, x, step);
    return x;
}

/* The column of a shared array [warps][pitch], summed. */
template <class T>
__device__ inline T sum_of_column(const T *column, int warps, int pitch)
{
    T sum = 0;
    for (int w = 0; w < warps; w++) sum += column[w * pitch];
    return sum;
}

/* Block: one head. Warp: rows w, w + 8, ..; lane: columns lane, lane + 32, .. */
template <class T>
__global__ void __launch_bounds__(256, 1)
    walk_in_warps(size_t N, size_t C, size_t M, size_t count, arrays<T> a,
                  levels<T> states)
{
    SHARED(T, nums, [step_warps][lanes]);
    SHARED(T, dens, [step_warps]);
    const int w = static_cast<int>(threadIdx.x) / lanes;
    const int lane = static_cast<int>(threadIdx.x) % lanes;
    const size_t h = blockIdx.x;
    const levels<T> s = levels_of(states, h, C, M);
    for (size_t i = h * N; i < (h + 1) * N; i++) {
        const T *q_i = a.q + i * C, *k_i = a.k + i * C;
        const bool full = ++count == block_of_sums;
        if (full) count = 0;
        T den = 0;
        for (size_t c = w + step_warps * lane; c < C; c += step_warps * lanes) {
            s.z_part[c] += k_i[c];
            if (full) carry(s.z_part[c], s.z[c]);
            den += q_i[c] * (s.z[c] + s.z_part[c]);
        }
        den = sum_of_warp(den);
        if (lane == 0) dens[w] = den;
        for (size_t m0 = 0; m0 < M; m0 += lanes) {
            const size_t m = m0 + lane;
            T num = 0;
            for (size_t c = w; m < M && c < C; c += step_warps) {
                T total = s.S[c * M + m], part = s.S_part[c * M + m];
                part += k_i[c] * a.v[i * M + m];
                if (full) carry(part, total), s.S[c * M + m] = total;
                s.S_part[c * M + m] = part;
                num += q_i[c] * (total + part);
            }
            nums[w][lane] = num;
            __syncthreads();
            if (w == 0 && m < M)
                a.out[i * M + m] = divided(
                    sum_of_column(&nums[0][lane], step_warps, lanes),
                    eps_of(a.eps_row, a.eps, i) + sum_of_column(dens, step_warps, 1));
            __syncthreads();
        }
    }
}

template <class T> tarn_status k2(tarn_span *s)
{
    if (s->N == 0 || s->heads == 0) return TARN_OK;
    const tarn_status status = launch(
        s->ctx, "rnn_k2", walk_in_warps<T>, grid_side(s->heads), lanes * step_warps, 0,
        s->N, s->C, s->M, s->count, arrays_in<T>(s), levels_in<T>(s));
    s->count = (s->count + s->N) % block_of_sums;
    return status;
}

/* ---- k3: the state in registers -----------------------------------------------------------
 *
 * Bytes, in arrays of N rows: q, k and v in, out; the state once for the whole run. Every 32
 * columns of the state have a block of their own, and each of these has z. */

template <class T> struct persistent {
    static constexpr int most_warps = 16;
    static constexpr int rows = sizeof(T) == 4 ? 16 : 8;  /* of the state, per thread */
    static constexpr int tokens = sizeof(T) == 4 ? 8 : 4; /* at a time */
    static constexpr size_t most_C = rows * most_warps;
};

template <class T> int warps_for(size_t C)
{
    return static_cast<int>((C + persistent<T>::rows - 1) / persistent<T>::rows);
}

/* Shared memory: q and k of the tokens, their v of this block's columns, partial sums. */
template <class T> struct tokens_in {
    T *q, *k, *v, *nums, *dens; /* [tokens] of [C], [C], [32], [warps, 32], [warps] */
};
template <class T>
__device__ __host__ inline tokens_in<T> lay_tokens_out(T *memory, size_t C, int warps)
{
    constexpr size_t n = persistent<T>::tokens;
    T *const k = memory + n * C, *const v = k + n * C, *const nums = v + n * lanes;
    return {memory, k, v, nums, nums + n * lanes * warps};
}
template <class T> size_t tokens_bytes(size_t C, int warps)
{
    return persistent<T>::tokens * (2 * C + lanes + size_t(warps) * (lanes + 1)) *
           sizeof(T);
}

/* The part of the state that a thread holds. */
template <class T> struct held {
    T S[persistent<T>::rows], S_part[persistent<T>::rows];
    T z[persistent<T>::rows], z_part[persistent<T>::rows];
};

/* One token, written and read: this warp's share of its sums. Row r of it is f[r]. */
template <class T>
__device__ inline void step(held<T> &s, int rows, const T *q, const T *k, T v,
                            bool full, T &num, T &den)
{
    num = den = 0;
#pragma unroll
    for (int r = 0; r < persistent<T>::rows; r++) {
        if (r >= rows) continue;
        s.S_part[r] += k[r] * v;
        s.z_part[r] += k[r];
        if (full) carry(s.S_part[r], s.S[r]), carry(s.z_part[r], s.z[r]);
        num += q[r] * (s.S[r] + s.S_part[r]);
        den += q[r] * (s.z[r] + s.z_part[r]);
    }
}

/* Where the run takes place: sizes, and what is to be read and written. */
template <class T> struct stretch {
    size_t N, C, M, count, tiles;
    arrays<T> a;
    levels<T> states;
    T *z; /* [2, heads, C]: z afterwards, for other blocks still read the one before */
    size_t heads;
};

/* Calls f(r, c) for each row c that this warp has. */
template <class T, class F> __device__ inline void each_row(size_t first, int rows, F f)
{
#pragma unroll
    for (int r = 0; r < persistent<T>::rows; r++)
        if (r < rows) f(r, first + r);
}

/* What a thread of the run knows of its place: 32 columns of one head's state per block, 16
 * rows (8 of doubles) per warp, a column per lane. */
struct place {
    int t, threads, w, warps, lane, rows;
    size_t h, m0, m, c0; /* head, first column and its own, first row */
};
template <class T> __device__ inline place own_place(const stretch<T> &d)
{
    constexpr int most = persistent<T>::rows;
    const int t = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
    const size_t h = blockIdx.x / d.tiles, m0 = blockIdx.x % d.tiles * lanes;
    const size_t c0 = size_t(t) / lanes * most;
    const int rows = static_cast<int>(d.C - c0 < most ? d.C - c0 : most);
    return {t,    threads, t / lanes, threads / lanes, t % lanes,
            rows, h,       m0,        m0 + t % lanes,  c0};
}

/* q, k and v of n tokens from token i on. */
template <class T>
__device__ inline void load_tokens(const stretch<T> &d, const place &at,
                                   const tokens_in<T> &in, size_t i, int n)
{
    for (size_t e = at.t; e < n * d.C; e += at.threads)
        in.q[e] = d.a.q[i * d.C + e], in.k[e] = d.a.k[i * d.C + e];
    for (int e = at.t; e < n * lanes; e += at.threads) {
        const size_t m = at.m0 + e % lanes;
        in.v[e] = m < d.M ? d.a.v[(i + e / lanes) * d.M + m] : T(0);
    }
}

/* Their outputs, from the sums of all warps. */
template <class T>
__device__ inline void write_outputs(const stretch<T> &d, const place &at,
                                     const tokens_in<T> &in, size_t i, int n)
{
    for (int e = at.t; e < n * lanes; e += at.threads) {
        const int j = e / lanes, lane = e % lanes;
        const T *nums = in.nums + j * at.warps * lanes + lane;
        const T den = eps_of(d.a.eps_row, d.a.eps, i + j) +
                      sum_of_column(in.dens + j * at.warps, at.warps, 1);
        if (at.m0 + lane < d.M)
            d.a.out[(i + j) * d.M + at.m0 + lane] =
                divided(sum_of_column(nums, at.warps, lanes), den);
    }
}

template <class T> __global__ void __launch_bounds__(512) run_in_registers(stretch<T> d)
{
    DYN_SHARED(T, memory);
    constexpr int tokens = persistent<T>::tokens;
    const place at = own_place(d);
    const tokens_in<T> in = lay_tokens_out(memory, d.C, at.warps);
    const levels<T> all = levels_of(d.states, at.h, d.C, d.M);
    const bool mine = at.m < d.M;
    held<T> s = {};
    each_row<T>(at.c0, at.rows, [&](int r, size_t c) {
        s.z[r] = all.z[c], s.z_part[r] = all.z_part[c];
        if (mine)
            s.S[r] = all.S[c * d.M + at.m], s.S_part[r] = all.S_part[c * d.M + at.m];
    });
    for (size_t i = at.h * d.N; i < (at.h + 1) * d.N; i += tokens) {
        const size_t left = (at.h + 1) * d.N - i;
        const int n = static_cast<int>(left < tokens ? left : tokens);
        load_tokens(d, at, in, i, n);
        __syncthreads();
        for (int j = 0; j < n; j++) {
            const bool full = ++d.count == block_of_sums;
            if (full) d.count = 0;
            T num, den;
            step(s, at.rows, in.q + j * d.C + at.c0, in.k + j * d.C + at.c0,
                 in.v[j * lanes + at.lane], full, num, den);
            in.nums[(j * at.warps + at.w) * lanes + at.lane] = num;
            if (at.lane == 0) in.dens[j * at.warps + at.w] = den;
        }
        __syncthreads();
        write_outputs(d, at, in, i, n);
    }
    each_row<T>(at.c0, at.rows, [&](int r, size_t c) {
        if (mine)
            all.S[c * d.M + at.m] = s.S[r], all.S_part[c * d.M + at.m] = s.S_part[r];
        if (at.m > 0) return;
        d.z[at.h * d.C + c] = s.z[r], d.z[(d.heads + at.h) * d.C + c] = s.z_part[r];
    });
}

/* z of all heads to its place, when nobody reads the old one any more. */
template <class T> __global__ void put_z(size_t n, const T *from, T *z, T *z_part)
{
    const size_t e = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (e < n) z[e] = from[e], z_part[e] = from[n + e];
}

/* A step is for k2: nothing would be kept. */
template <class T> tarn_fit k3_fit(const tarn_span *s)
{
    if (s->C > persistent<T>::most_C) return TARN_TOO_LARGE;
    return s->N < persistent<T>::tokens ? TARN_NO_GAIN : TARN_FITS;
}

template <class T> size_t k3_work(const tarn_span *s)
{
    return 2 * s->heads * s->C * sizeof(T);
}

template <class T> tarn_status k3(tarn_span *s)
{
    constexpr unsigned threads = 256;
    if (s->heads == 0) return TARN_OK;
    const size_t tiles = blocks_for(s->M, lanes), n = s->heads * s->C;
    const int warps = warps_for<T>(s->C);
    const arrays<T> a = arrays_in<T>(s);
    const levels<T> states = levels_in<T>(s);
    const stretch<T> d = {s->N, s->C,   s->M,   s->count, tiles,
                          a,    states, a.work, s->heads};
    const tarn_status status =
        launch(s->ctx, "rnn_k3", run_in_registers<T>, grid_side(s->heads * tiles),
               unsigned(warps * lanes), tokens_bytes<T>(s->C, warps), d);
    s->count = (s->count + s->N) % block_of_sums;
    if (status) return status;
    return launch(s->ctx, "rnn_k3 put_z", put_z<T>, blocks_for(n, threads), threads, 0,
                  n, static_cast<const T *>(a.work), states.z, states.z_part);
}

/* ---- The ladder --------------------------------------------------------------------------- */

constexpr tarn_rung k2_f32 = rung("k2", k2<float>), k2_f64 = rung("k2", k2<double>);
constexpr tarn_rung rungs_f32[] = {rung("k1", walk_run<float>), k2_f32,
                                   rung_up_to(rung("k3", k3<float>, k3_work<float>),
                                              k3_fit<float>, &k2_f32,
                                              "8 tokens or more and C up to 256")};
constexpr tarn_rung rungs_f64[] = {rung("k1", walk_run<double>), k2_f64,
                                   rung_up_to(rung("k3", k3<double>, k3_work<double>),
                                              k3_fit<double>, &k2_f64,
                                              "4 tokens or more and C up to 128")};

} // namespace

extern "C" {
extern const tarn_ladder TARN_TABLE(rnn, f32), TARN_TABLE(rnn, f64);
const tarn_ladder TARN_TABLE(rnn, f32) = {rungs_f32, 3, 2};
const tarn_ladder TARN_TABLE(rnn, f64) = {rungs_f64, 3, 2};
}
