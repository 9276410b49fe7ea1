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
 *       small masked attention inside (chunks.cuh). All of it is products of squares.
 *   k3  blocks of 4 squares: the state of a block is in registers from one square to the next,
 *       and only a quarter of the states goes through memory. For C of up to 64.
 *   k4  k3 with phi where q and k come into shared memory, for maps that work entry by entry:
 *       without kernels of phi before it 7 arrays of N rows pass through memory, and not 12.
 *   tf32  k3 with the products on tensor cores, where each factor is rounded to 11 bits;
 *         tf32k2 is k2 in the same way, for any C.
 *   bf16  the same with 8 bits, and bf16k2: twice as many factors an instruction.
 *
 * q and k are features, but for k4. */
#include "cuda/chunks.cuh"
#include "cuda/ladder.cuh"
#include "cuda/phi.cuh"

namespace
{

/* ---- k2: three phases ------------------------------------------------------------------------
 *
 * A chunk is one square. Traffic, in arrays of N rows: phase 1 reads k and v, phase 2 reads and
 * writes a state per chunk (with C = M = L as much as k or v), phase 3 reads q, k, v and a
 * state and writes out: 10 passes where 4 would be the least. Flops: 4 N C M for the states,
 * N L (2 C + M) inside the chunks, N L C of them for what the mask then hides. */

template <class T> size_t k2_work(const tarn_span *s)
{
    return states_size(chunks_of<T>(s, 1)) * sizeof(T);
}

template <class T, class P> tarn_status k2(tarn_span *s)
{
    const chunks d = chunks_of<T>(s, 1);
    const arrays<T> a = arrays_in<T>(s);
    const levels<T> state = levels_in<T>(s);
    if (d.heads * d.count == 0) return TARN_OK;
    tarn_status status = sum_chunks<T, P>(s->ctx, d, a.k, a.v, nullptr, a.work);
    if (!status) status = scan(s->ctx, d, false, read_only(state), state, a.work);
    if (!status) status = output_chunks<T, P>(s, d, a.work, a.out, nullptr);
    s->count = 0;
    return status;
}

/* ---- k3: super-chunks ----------------------------------------------------------------------
 *
 * Traffic, in arrays of N rows with C = M = L: k and v for the sums, half a one for the states,
 * then q, k, v, a quarter for the states, and out: 7 passes instead of 10. Flops as in k2. */

constexpr unsigned squares_of_k3 = 4;

/* The rows of a state that a block holds, in squares: 64 of floats, or of doubles two times 32. */
constexpr int held_rows = 64;
template <class T> constexpr int held_squares = held_rows / tile<T>::side;

/* Calls f(h, n) for each square h and the n of its columns that are below C; always for the
 * first, without which ptxas would have to keep what was there before. */
template <class T, class F> __device__ inline void each_held(size_t C, F f)
{
    constexpr int L = tile<T>::side;
    const int width = static_cast<int>(C);
    UNROLL
    for (int h = 0; h < held_squares<T>; h++)
        if (h == 0 || h * L < width) f(h, width - h * L < L ? width - h * L : L);
}

/* Rows of up to C features, in squares side by side. */
template <class T, class P> struct held_features {
    typename P::square part[held_squares<T>];

    __device__ T &operator()(int i, int c)
    {
        return part[c / tile<T>::side](i, c % tile<T>::side);
    }
};

/* The shared memory of a block, with z and the denominators. */
template <class T, class P> struct bench {
    held_features<T, P> q, k;              /* q: at the end tril(Q K^T) */
    typename P::square b[held_squares<T>]; /* S and v in turn */
    T z[held_rows], den[tile<T>::side];
};

/* This block's columns of the state before its chunk, 0 outside. */
template <class T, class P>
__device__ inline void read_state(const chunks &d, const T *state, size_t m0,
                                  entries<T> (&S)[held_squares<T>], bench<T, P> &on)
{
    const size_t t = threadIdx.x;
    each_held<T>(held_rows, [&](int h, int) {
        const size_t c0 = size_t(h) * tile<T>::side;
        P::each([&](int u, int w, int c, int m) {
            const bool there = c0 + c < d.C && m0 + m < d.M;
            S[h][u][w] = there ? state[(c0 + c) * d.M + m0 + m] : T(0);
        });
    });
    if (t < held_rows) on.z[t] = t < d.C ? state[d.C * d.M + t] : T(0);
}

/* Row t of the features times g. */
template <class T, class Features>
__device__ inline T row_times(Features &f, int t, const T *g, size_t C)
{
    T sum = 0;
    each_held<T>(C, [&](int h, int n) {
        for (int c = 0; c < n; c++) sum += f.part[h](t, c) * g[h * tile<T>::side + c];
    });
    return sum;
}

/* Block: one super-chunk, one square of columns. Row t and column t of the small sums belong to
 * thread t. */
template <class T, class P, class Map>
__global__ void __launch_bounds__(P::threads, 1)
    super_outputs(chunks d, Map map, arrays<T> a, const T *states)
{
    static_assert(held_rows <= tile<T>::threads, "a thread for each row of the state");
    using own_bench = bench<T, P>;
    DYN_SHARED(own_bench, on);
    constexpr size_t L = tile<T>::side;
    const size_t t = threadIdx.x, m0 = blockIdx.y * L, C = d.C, M = d.M;
    const own chunk = own_chunk(d);
    entries<T> S[held_squares<T>];
    read_state<T, P>(d, states + blockIdx.x * state_size(d), m0, S, *on);
    for (size_t start = 0; start < chunk.rows; start += L) {
        const size_t first = chunk.first + start, left = chunk.rows - start;
        const size_t rows = left < L ? left : L;
        entries<T> A = {}, o = {};
        each_held<T>(C, [&](int h, int) {
            const size_t from = first * C + size_t(h) * L, width = C - size_t(h) * L;
            load<T>(on->q.part[h], a.q + from, C, rows, width);
            load<T>(on->k.part[h], a.k + from, C, rows, width, map);
            P::each([&](int u, int w, int c, int m) { on->b[h](c, m) = S[h][u][w]; });
        });
        __syncthreads();
        if constexpr (Map::fused) {
            map.make_queries(on->q, rows, C, on->den);
            __syncthreads();
        }
        each_held<T>(C, [&](int h, int n) {
            const auto q_of = [&](int c, int i) { return on->q.part[h](i, c); };
            P::multiply(A, n, q_of, [&](int c, int j) { return on->k.part[h](j, c); });
            P::multiply(o, n, q_of, [&](int c, int m) { return on->b[h](c, m); });
        });
        T den = 0, eps = 0;
        if (t < rows) {
            den = row_times(on->q, int(t), on->z, C);
            eps = Map::fused ? on->den[t] : eps_of(a.eps_row, a.eps, first + t);
        }
        __syncthreads();
        P::each(
            [&](int u, int w, int i, int j) { on->q(i, j) = j <= i ? A[u][w] : T(0); });
        load<T>(on->b[0], a.v + first * M + m0, M, rows, M - m0);
        __syncthreads();
        if (t < rows) {
            for (int j = 0; j < int(rows); j++) den += on->q(int(t), j);
            on->den[t] = denominator(den, eps);
        }
        if (t < C)
            for (int i = 0; i < int(rows); i++) on->z[t] += on->k(i, int(t));
        P::multiply_until_row(
            o, [&](int j, int i) { return on->q(i, j); },
            [&](int j, int m) { return on->b[0](j, m); });
        each_held<T>(C, [&](int h, int) {
            entries<T> part = {};
            P::multiply(
                part, static_cast<int>(rows),
                [&](int i, int c) { return on->k.part[h](i, c); },
                [&](int i, int m) { return on->b[0](i, m); });
            P::each([&](int u, int w, int, int) { S[h][u][w] += part[u][w]; });
        });
        __syncthreads();
        P::each([&](int u, int w, int i, int m) {
            if (size_t(i) < rows && m0 + m < M)
                a.out[(first + i) * M + m0 + m] = divided(o[u][w], on->den[i]);
        });
    }
}

inline tarn_fit k3_fit(const tarn_span *s)
{
    return s->C > held_rows ? TARN_TOO_LARGE : TARN_FITS;
}

template <class T> size_t k3_work(const tarn_span *s)
{
    return states_size(chunks_of<T>(s, squares_of_k3)) * sizeof(T);
}

template <class T, class P, class Map> tarn_status super_chunks(tarn_span *s, Map map)
{
    const chunks d = chunks_of<T>(s, squares_of_k3);
    const arrays<T> a = arrays_in<T>(s);
    const levels<T> state = levels_in<T>(s);
    const size_t blocks = d.heads * d.count;
    const T *const none = nullptr;
    if (blocks == 0) return TARN_OK;
    tarn_status status = sum_chunks<T, P>(s->ctx, d, a.k, a.v, none, a.work, map);
    if (!status) status = scan(s->ctx, d, false, read_only(state), state, a.work);
    if (!status)
        status = launch(
            s->ctx, Map::fused ? "prefix_k4" : "prefix_k3", super_outputs<T, P, Map>,
            dim3(grid_side(blocks), blocks_for(d.M, tile<T>::side)), tile<T>::threads,
            sizeof(bench<T, P>), d, map, a, static_cast<const T *>(a.work));
    s->count = 0;
    return status;
}

template <class T, class P> tarn_status k3(tarn_span *s)
{
    return super_chunks<T, P>(s, features_as_they_are<T>{});
}

/* ---- k4: phi in shared memory --------------------------------------------------------------
 *
 * Where phi has kernels of its own, it reads q twice (for the pivots of its rows) and k once,
 * and writes both: 5 arrays of N rows, for 7 of k3. Here it costs no traffic. Its exp is taken
 * of k twice, in the sums and in the outputs, and once more for each further square of columns
 * of v: of 3 N C entries a head with M = 64, where 2 N C would be the least. */

template <class T> struct features_on_the_way {
    static constexpr bool fused = true;
    int phi;
    bool scaled;
    double eps;

    __device__ T operator()(T x) const { return phi_of(phi, x); }

    /* Of the rows of q that exist, and eps of each. A team of neighbours has a row. */
    template <class Features>
    __device__ void make_queries(Features &q, size_t rows, size_t C, T *eps_row) const
    {
        constexpr int team = tile<T>::threads / tile<T>::side;
        const int t = static_cast<int>(threadIdx.x), row = t / team, lane = t % team;
        const bool exists = size_t(row) < rows;
        T pivot = phi_pivot_start<T>(phi);
        each_of_lane(q, row, lane, exists ? C : 0,
                     [&](T &x) { pivot = phi_pivot_add(phi, pivot, x); });
        for (int bit = 1; bit < team; bit *= 2) {
            const T other = __shfl_xor_sync(~0u, pivot, bit);
            pivot = other > pivot ? other : pivot;
        }
        pivot = phi_pivot_end(phi, pivot, eps);
        each_of_lane(q, row, lane, exists ? C : 0,
                     [&](T &x) { x = scaled ? phi_over(phi, x, pivot) : (*this)(x); });
        if (exists && lane == 0)
            eps_row[row] = T(scaled ? phi_eps(phi, eps, double(pivot)) : eps);
    }

    /* Calls f(x) for each entry that one of a row's team has. */
    template <class Features, class F>
    __device__ static void each_of_lane(Features &q, int row, int lane, size_t C, F f)
    {
        constexpr int L = tile<T>::side, team = tile<T>::threads / L;
        each_held<T>(C, [&](int h, int n) {
            for (int x = 0; x < L / team; x++) {
                const int c = q.part[h].of_team(lane, x, team);
                if (c < n) f(q.part[h](row, c));
            }
        });
    }
};

/* Features that are there already, as a user's own map makes them, leave nothing to gain. */
template <class T> tarn_fit k4_fit(const tarn_span *s)
{
    const tarn_fit fit = k3_fit(s);
    return fit == TARN_FITS && s->phi == TARN_PHI_NONE ? TARN_NO_GAIN : fit;
}

template <class T> tarn_status k4(tarn_span *s)
{
    return super_chunks<T, plain_cores<T>>(
        s, features_on_the_way<T>{s->phi, s->scaled, s->eps});
}

/* ---- The ladder --------------------------------------------------------------------------- */

/* Rungs for any C, and those that make way for them. */
template <class T, class P> constexpr tarn_rung k2_rung(const char *name)
{
    return rung(name, k2<T, P>, k2_work<T>, P::least_gpu);
}
template <class T, class P> constexpr tarn_rung k3_rung(const char *name)
{
    return rung(name, k3<T, P>, k3_work<T>, P::least_gpu);
}
template <class T>
constexpr tarn_rung k4_rung(const tarn_rung *instead, const char *limit)
{
    return fused(rung_up_to(rung("k4", k4<T>, k3_work<T>), k4_fit<T>, instead, limit));
}
constexpr tarn_rung k2_f32 = k2_rung<float, plain_cores<float>>("k2");
constexpr tarn_rung k2_f64 = k2_rung<double, plain_cores<double>>("k2");
constexpr tarn_rung tf32k2 = k2_rung<float, tensor_cores<tf32>>("tf32k2");
constexpr tarn_rung bf16k2 = k2_rung<float, tensor_cores<bf16>>("bf16k2");
constexpr tarn_rung k3_f32 =
    rung_up_to(k3_rung<float, plain_cores<float>>("k3"), k3_fit, &k2_f32, "C up to 64");
constexpr tarn_rung k3_f64 = rung_up_to(k3_rung<double, plain_cores<double>>("k3"),
                                        k3_fit, &k2_f64, "C up to 64");

constexpr tarn_rung rungs_f32[] = {
    rung("k1", walk_run<float>),
    k2_f32,
    k3_f32,
    k4_rung<float>(&k3_f32, "C up to 64 and maps that work entry by entry"),
    rung_up_to(k3_rung<float, tensor_cores<tf32>>("tf32"), k3_fit, &tf32k2,
               "C up to 64"),
    tf32k2,
    rung_up_to(k3_rung<float, tensor_cores<bf16>>("bf16"), k3_fit, &bf16k2,
               "C up to 64"),
    bf16k2};
constexpr tarn_rung rungs_f64[] = {
    rung("k1", walk_run<double>), k2_f64, k3_f64,
    k4_rung<double>(&k3_f64, "C up to 64 and maps that work entry by entry")};

} // namespace

extern "C" {
extern const tarn_ladder TARN_TABLE(prefix, f32), TARN_TABLE(prefix, f64);
const tarn_ladder TARN_TABLE(prefix, f32) = {rungs_f32, 8, 3};
const tarn_ladder TARN_TABLE(prefix, f64) = {rungs_f64, 4, 3};
}
