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
#include "cuda/held.cuh"
#include "cuda/ladder.cuh"

namespace
{

/* ---- k2: rows over warps ------------------------------------------------------------------
 *
 * Bytes of a token: S and S_part read, S_part written (S at every 64th), 3 C M numbers, from
 * the cache where they fit. Flops: 5 C M, one of them to add the levels. */

constexpr int step_warps = 8;

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
                a.out[i * M + m] =
                    divided(sum_of_column(&nums[0][lane], step_warps, lanes),
                            denominator(sum_of_column(dens, step_warps, 1),
                                        eps_of(a.eps_row, a.eps, i)));
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
 * Bytes, in arrays of N rows: k, v and q in, out; the state once for the whole run, where k2
 * has it at each token. Flops: 5 C M a token. */

/* z of all heads to its place, when nobody reads the old one any more. Thread: one entry. */
template <class T> __global__ void put_z(size_t n, const T *from, T *z, T *z_part)
{
    const size_t e = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (e < n) z[e] = from[e], z_part[e] = from[n + e];
}

/* A step is for k2: nothing would be kept. */
template <class T> tarn_fit k3_fit(const tarn_span *s)
{
    if (s->C > held<T>::most_rows) return TARN_TOO_LARGE;
    return s->N < held<T>::tokens ? TARN_NO_GAIN : TARN_FITS;
}

template <class T> size_t k3_work(const tarn_span *s)
{
    return 2 * s->heads * s->C * sizeof(T);
}

template <class T> tarn_status k3(tarn_span *s)
{
    constexpr unsigned threads = 256;
    if (s->heads == 0) return TARN_OK;
    const size_t n = s->heads * s->C;
    const arrays<T> a = arrays_in<T>(s);
    const levels<T> state = levels_in<T>(s);
    const levels<T> after = {state.S, a.work, state.S_part, a.work + n};
    const tarn_status status = run_held(
        s->ctx, "rnn_k3", reading_run(s, a.out, static_cast<T *>(nullptr), after));
    s->count = (s->count + s->N) % block_of_sums;
    if (status) return status;
    return launch(s->ctx, "rnn_k3 put_z", put_z<T>, blocks_for(n, threads), threads, 0,
                  n, static_cast<const T *>(a.work), state.z, state.z_part);
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
