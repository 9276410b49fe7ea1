/* average.cuh: stage 1 on a device, the average of the values. Chapters 1 and 11.
 *
 *     out_i = sum_j sim(q_i, k_j) v_j / (sum_j sim(q_i, k_j) + eps)        (eq 3)
 *
 * Two kernels, for sim.cu and, as a gradient begins with the output, for sim_grad.cu. Both
 * also leave what it takes to compute any weight again: the largest score of each query and
 * its denominator. */
#ifndef TARN_AVERAGE_CUH
#define TARN_AVERAGE_CUH

#include "cuda/queries.cuh"

namespace
{

/* Of each query, [heads, N_q]. */
template <class T> struct statistics {
    T *max, *den;
};

/* ---- k1 ------------------------------------------------------------------------------------ */

/* Block: one query; thread: keys j = t, t + 64, .. and columns m = t, t + 64, .. of the output.
 * Two passes over the keys: the largest score, then the sums, 64 keys at a time: what these
 * add up to is added to the total, so errors do not grow with N. Every block reads all of k
 * twice and v once: N_q N (2 C + M) numbers a head. */
template <class T>
__global__ void average_by_row(pairs<T> p, T *out, statistics<T> stats)
{
    constexpr int threads = block_of_sums;
    SHARED(T, s, [block_of_sums]);
    const size_t row = blockIdx.x, h = row / p.N_q, first = h * p.N;
    const size_t n = view_from(p, h, row % p.N_q).keys(0);
    const int t = static_cast<int>(threadIdx.x);
    const T gain = gain_of(p, row);
    s[t] = lowest<T>();
    for (size_t j = t; j < n && p.has_exponent; j += threads)
        s[t] = larger(s[t], score_of(p, row, first + j));
    __syncthreads();
    T max = lowest<T>(), den = 0;
    for (int x = 0; x < threads; x++) max = larger(max, s[x]);
    for (size_t m = t; m < p.M; m += threads) out[row * p.M + m] = 0;
    for (size_t start = 0; start < n; start += threads) {
        const int count = static_cast<int>(n - start < threads ? n - start : threads);
        __syncthreads();
        if (t < count)
            s[t] = similarity(p, score_of(p, row, first + start + t), max, gain);
        __syncthreads();
        T den_part = 0;
        for (int x = 0; x < count; x++) den_part += s[x];
        den += den_part;
        for (size_t m = t; m < p.M; m += threads) {
            T part = 0;
            for (int x = 0; x < count; x++)
                part += s[x] * p.v[(first + start + x) * p.M + m];
            out[row * p.M + m] += part;
        }
    }
    den = denominator(den, eps_under(p, max, gain, row));
    for (size_t m = t; m < p.M; m += threads)
        out[row * p.M + m] = divided(out[row * p.M + m], den);
    if (t == 0) stats.max[row] = max, stats.den[row] = den;
}

template <class T>
tarn_status average_k1(tarn_context *ctx, const pairs<T> &p, T *out,
                       statistics<T> stats)
{
    const size_t blocks = p.heads * p.N_q;
    if (blocks == 0) return TARN_OK;
    return launch(ctx, "average_by_row", average_by_row<T>, grid_side(blocks),
                  block_of_sums, 0, p, out, stats);
}

/* ---- k2 ------------------------------------------------------------------------------------ */

/* One row of a square belongs to a team of threads that are neighbours in a warp: 4 for a row
 * of 64 floats, 2 for one of 32 doubles. All of a team have the same numbers. */
template <class T> struct team {
    static constexpr int size = tile<T>::threads / tile<T>::side;
    static constexpr int share = tile<T>::side / size; /* entries of each */
    int row, lane;
    T gain, max, den, den_part;
};

/* `first`, `count`: the rows of a square that exist, counted over all heads. */
template <class T>
__device__ inline team<T> team_of_thread(const pairs<T> &p, size_t first, size_t count)
{
    const int t = static_cast<int>(threadIdx.x), size = team<T>::size, row = t / size;
    const T gain = size_t(row) < count ? gain_of(p, first + row) : T(1);
    return {row, t % size, gain, lowest<T>(), 0, 0};
}

/* f(mine, other's) over all of a team, the same for each of them. */
template <class T, class F> __device__ inline T over_team(T x, F f)
{
    UNROLL
    for (int bit = 1; bit < team<T>::size; bit *= 2)
        x = f(x, __shfl_xor_sync(~0u, x, bit));
    return x;
}

/* Turns a row of scores into similarities, and adds them to the row's denominator. If there is
 * a new largest score, all sums so far were divided by too little: the result is the factor
 * that makes up for it. */
template <class T, class Square>
__device__ inline T similarities_of_row(const pairs<T> &p, team<T> &mine, Square &ys)
{
    const auto s = [&](int x) -> T & {
        return ys(mine.row, Square::of_team(mine.lane, x, team<T>::size));
    };
    T max = mine.max, factor = 1, sum = 0;
    if (p.has_exponent) {
        for (int x = 0; x < team<T>::share; x++) max = larger(max, s(x));
        max = over_team(max, larger<T>);
        factor = exp(mine.gain * (mine.max - max));
        mine.max = max;
    }
    for (int x = 0; x < team<T>::share; x++) {
        s(x) = similarity(p, s(x), max, mine.gain);
        sum += s(x);
    }
    sum = over_team(sum, [](T a, T b) { return a + b; });
    mine.den *= factor;
    mine.den_part = mine.den_part * factor + sum;
    carry(mine.den_part, mine.den);
    return factor;
}

/* The score of a pair that is not seen: one whose similarity is 0. */
template <class T> __device__ inline T unseen(const pairs<T> &p)
{
    return p.has_exponent ? T(-INFINITY) : T(0);
}

/* Block: a square of queries, blockIdx.x counting those of all heads, and one square of columns
 * of v. It walks over the keys, a square at a time, with the output in registers: scores, then
 * similarities under the largest score so far, then their products with the values. Each
 * number that is loaded is used 64 times (32 as a double): traffic is N_q N (2 C + M) / 64 a
 * head, arithmetic 2 N_q N (C + M), for each 64 columns of v.
 *
 * Two squares of shared memory, each used twice: 33 KB. */
template <class T, class P>
__global__ void __launch_bounds__(P::threads, plain_cores<T>::least_blocks)
    average_by_square(pairs<T> p, T *out, statistics<T> stats)
{
    SHARED(typename P::square, xs);     /* of q, then of v */
    SHARED(typename P::square, ys);     /* of k, then the similarities */
    SHARED(T, of_row, [tile<T>::side]); /* factors, at the end denominators */
    constexpr size_t L = tile<T>::side;
    const size_t per_head = (p.N_q + L - 1) / L, h = blockIdx.x / per_head;
    const size_t i0 = blockIdx.x % per_head * L, m0 = blockIdx.y * L;
    const rows<T> q = rows_of(p.scored, p.C, h * p.N_q, i0, p.N_q);
    const view seen = view_from(p, h, i0);
    const size_t n = seen.keys(q.count - 1);
    team<T> mine = team_of_thread(p, h * p.N_q + i0, q.count);
    entries<T> total = {}, part = {};
    for (size_t j0 = 0; j0 < n; j0 += L) {
        const rows<T> k = rows_of(p.k, p.C, h * p.N, j0, n);
        const rows<T> v = rows_of(p.v, p.M, h * p.N, j0, n);
        entries<T> sum = {};
        each_with_each<T, P>(sum, q, k, p.distance, xs, ys);
        P::each([&](int u, int w, int i, int j) {
            const bool sees = j0 + j < seen.keys(i);
            ys(i, j) = sees ? scored(p, sum[u][w]) : unseen(p);
        });
        load<T>(xs, v.first + m0, v.width, v.count, p.M - m0);
        __syncthreads();
        const T factor = similarities_of_row(p, mine, ys);
        if (mine.lane == 0) of_row[mine.row] = factor;
        __syncthreads();
        P::each([&](int u, int w, int i, int) {
            total[u][w] *= of_row[i], part[u][w] *= of_row[i];
        });
        const int count = static_cast<int>(v.count);
        const auto s = [&](int j, int i) { return ys(i, j); };
        const auto value = [&](int j, int m) { return xs(j, m); };
        if (j0 + v.count <= seen.keys(0))
            P::multiply(part, count, s, value);
        else
            P::combine(part, count, s, value, [&](T &o, T x, T y, int j, int u, int w) {
                if (j0 + j < seen.keys(P::row(u, w))) o += x * y;
            });
        P::each([&](int u, int w, int, int) { carry(part[u][w], total[u][w]); });
        __syncthreads();
    }
    const bool exists = mine.lane == 0 && size_t(mine.row) < q.count;
    const size_t row = h * p.N_q + i0 + mine.row;
    if (exists) {
        const T den = denominator(mine.den + mine.den_part,
                                  eps_under(p, mine.max, mine.gain, row));
        of_row[mine.row] = den;
        if (m0 == 0) stats.max[row] = mine.max, stats.den[row] = den;
    }
    __syncthreads();
    P::each([&](int u, int w, int i, int m) {
        if (size_t(i) < q.count && m0 + m < p.M)
            out[(h * p.N_q + i0 + i) * p.M + m0 + m] =
                divided(total[u][w] + part[u][w], of_row[i]);
    });
}

template <class T, class P>
tarn_status average_k2(tarn_context *ctx, const pairs<T> &p, T *out,
                       statistics<T> stats)
{
    constexpr unsigned L = tile<T>::side;
    const size_t blocks = p.heads * blocks_for(p.N_q, L);
    if (p.heads * p.N_q == 0) return TARN_OK;
    return launch(ctx, "average_by_square", average_by_square<T, P>,
                  dim3(grid_side(blocks), blocks_for(p.M, L)), tile<T>::threads, 0, p,
                  out, stats);
}

} // namespace
#endif
