/* held.cuh: a state held in registers, from the first token to the last. Chapters 5, 7 and 11.
 *
 *     X_i = X_{i-1} + f_i g_i^T     out_i = h_i X_i         i = 1 .. N, or N .. 1
 *
 * With f = phi(k), g = v, h = phi(q) this is the recurrent cell; its gradient is three more
 * runs of this kind (rnn_grad.cu). The state z of the denominators is an edge of X:
 *
 *     a column  whose g is 1: it makes the denominators, by which rows are divided
 *     a row     whose f and h are further numbers of each token
 *
 * Block: 32 columns of the state of one head, a lane each. Warp: 16 rows of it (8 of doubles);
 * of the column z a lane has one entry. Tokens come 8 at a time (4 of doubles) through shared
 * memory; the sums of the warps meet there. Sums have two levels, as everywhere.
 *
 * Bytes, in arrays of N rows: f and h once for each block of columns, g and out once. The state
 * once for the whole run, where a kernel that has it in memory moves 3 A B numbers at each
 * token. Flops: 5 A B a token, one of them to add the levels. */
#ifndef TARN_HELD_CUH
#define TARN_HELD_CUH

#include "cuda/walk.cuh"

namespace
{

constexpr int lanes = 32;

template <class T> struct held {
    static constexpr int rows = sizeof(T) == 4 ? 16 : 8;  /* of the state, per thread */
    static constexpr int tokens = sizeof(T) == 4 ? 8 : 4; /* at a time */
    static constexpr size_t most_rows = rows * 16;        /* 16 warps */
};

enum edge { NO_EDGE, COLUMN_EDGE, ROW_EDGE };

/* One run of all heads. */
template <class T> struct held_run {
    size_t heads, N, A, B; /* X [A, B] */
    size_t count;          /* tokens in the partial sums at the start */
    bool backwards;
    const T *f, *g, *h; /* [heads, N, A], [.., B], [.., A] */
    T *out;             /* [.., B] */

    edge z;
    const T *f_edge, *h_edge; /* row: [heads, N], NULL: 1 */
    T eps;                    /* column: out is divided by h.z + eps */
    const T *eps_row;
    T *dens; /* column: written, if not NULL; row: tokens with 0 there give 0 */

    bool turned;            /* S is the transpose of X */
    levels<const T> before; /* S and z of the start; NULL: 0 */
    levels<T>
        after; /* and of the end, as one level where a part is NULL; S NULL: nobody asks */
};

/* Rows of X with the edge. */
template <class T>
__device__ __host__ inline size_t rows_with_edge(const held_run<T> &d)
{
    return d.A + (d.z == ROW_EDGE);
}

/* What a thread knows of its place. */
struct place {
    int t, threads, w, warps, lane, rows; /* rows: of this thread */
    size_t h, a0, b0, b; /* head, first row, first column and its own */
};
template <class T> __device__ inline place own_place(const held_run<T> &d)
{
    constexpr size_t most = held<T>::rows;
    const size_t tiles = (d.B + lanes - 1) / lanes, b0 = blockIdx.x % tiles * lanes;
    const int t = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
    const size_t a0 = t / lanes * most, left = rows_with_edge(d) - a0;
    const int rows = static_cast<int>(left < most ? left : most);
    return {t,         threads,       t / lanes,          threads / lanes,
            t % lanes, rows,          blockIdx.x / tiles, a0,
            b0,        b0 + t % lanes};
}

/* ---- The state ------------------------------------------------------------------------------- */

/* Where entry (a, own column) of X is in an array S, or an array z; NULL: nowhere. */
template <class T, class E>
__device__ inline E *entry_in(const held_run<T> &d, const place &at, size_t a, E *S,
                              E *z)
{
    if (at.b >= d.B) return nullptr;
    if (a == d.A) return z ? z + at.h * d.B + at.b : nullptr;
    const size_t e = d.turned ? at.b * d.A + a : a * d.B + at.b;
    return S ? S + at.h * d.A * d.B + e : nullptr;
}
/* Where the lane's entry of z is, if z is a column. */
template <class T, class E>
__device__ inline E *edge_in(const held_run<T> &d, const place &at, E *z)
{
    const bool has_one = z && d.z == COLUMN_EDGE && at.lane < at.rows;
    return has_one ? z + at.h * d.A + at.a0 + at.lane : nullptr;
}

/* What a thread holds: rows of one column, an entry of z. */
template <class T> struct column {
    T X[held<T>::rows], part[held<T>::rows], z, z_part;
};

template <class T> __device__ inline T value_at(const T *entry)
{
    return entry ? *entry : T(0);
}

/* Gives a sum to memory: as two levels where there is room for both. */
template <class T> __device__ inline void put_at(T *to, T *to_part, T total, T part)
{
    if (to) *to = to_part ? total : total + part;
    if (to_part) *to_part = part;
}

template <class T>
__device__ inline column<T> load_column(const held_run<T> &d, const place &at)
{
    const levels<const T> &from = d.before;
    column<T> s = {};
    UNROLL
    for (int r = 0; r < held<T>::rows; r++) {
        if (r >= at.rows) continue;
        s.X[r] = value_at(entry_in(d, at, at.a0 + r, from.S, from.z));
        s.part[r] = value_at(entry_in(d, at, at.a0 + r, from.S_part, from.z_part));
    }
    s.z = value_at(edge_in(d, at, from.z));
    s.z_part = value_at(edge_in(d, at, from.z_part));
    return s;
}

/* All blocks of a head have the same column z: the first writes it. */
template <class T>
__device__ inline void store_column(const held_run<T> &d, const place &at,
                                    const column<T> &s)
{
    const levels<T> &to = d.after;
    UNROLL
    for (int r = 0; r < held<T>::rows; r++)
        if (r < at.rows)
            put_at(entry_in(d, at, at.a0 + r, to.S, to.z),
                   entry_in(d, at, at.a0 + r, to.S_part, to.z_part), s.X[r], s.part[r]);
    if (at.b0 == 0)
        put_at(edge_in(d, at, to.z), edge_in(d, at, to.z_part), s.z, s.z_part);
}

/* One token, added and read: this warp's share of its sum. */
template <class T>
__device__ inline T step(column<T> &s, int rows, const T *f, const T *h, T g, bool full)
{
    T sum = 0;
    UNROLL
    for (int r = 0; r < held<T>::rows; r++) {
        if (r >= rows) continue;
        s.part[r] += f[r] * g;
        if (full) carry(s.part[r], s.X[r]);
        sum += h[r] * (s.X[r] + s.part[r]);
    }
    return sum;
}

/* The sum over the lanes of a warp, known to all of them. */
template <class T> __device__ inline T sum_of_warp(T x)
{
    for (int bit = 1; bit < lanes; bit *= 2) x += __shfl_xor_sync(~0u, x, bit);
    return x;
}

/* The same for z: this warp's share of a denominator. */
template <class T>
__device__ inline T step_of_edge(column<T> &s, const place &at, const T *f, const T *h,
                                 bool full)
{
    T product = 0;
    if (at.lane < at.rows) {
        s.z_part += f[at.lane];
        if (full) carry(s.z_part, s.z);
        product = h[at.lane] * (s.z + s.z_part);
    }
    return sum_of_warp(product);
}

/* ---- Tokens ---------------------------------------------------------------------------------- */

/* Shared memory: f and h of the tokens, their g of this block's columns, sums of the warps. */
template <class T> struct tokens_in {
    T *f, *h, *g, *nums,
        *dens; /* [tokens] of [rows], [rows], [32], [warps, 32], [warps] */
};
template <class T>
__device__ inline tokens_in<T> lay_tokens_out(T *memory, size_t rows, int warps)
{
    constexpr size_t n = held<T>::tokens;
    T *const h = memory + n * rows, *const g = h + n * rows,
             *const nums = g + n * lanes;
    return {memory, h, g, nums, nums + n * lanes * warps};
}
template <class T> size_t tokens_bytes(size_t rows, int warps)
{
    return held<T>::tokens * (2 * rows + lanes + size_t(warps) * (lanes + 1)) *
           sizeof(T);
}

/* Row `a` of token i: of f or h, and behind these what the edge has. */
template <class T>
__device__ inline T with_edge(const T *f, const T *further, size_t A, size_t i,
                              size_t a)
{
    if (a < A) return f[i * A + a];
    return further ? further[i] : T(1);
}

/* n tokens from token i on. */
template <class T>
__device__ inline void load_tokens(const held_run<T> &d, const place &at,
                                   const tokens_in<T> &in, size_t i, int n)
{
    const size_t rows = rows_with_edge(d);
    for (size_t e = at.t; e < n * rows; e += at.threads) {
        in.f[e] = with_edge(d.f, d.f_edge, d.A, i + e / rows, e % rows);
        in.h[e] = with_edge(d.h, d.h_edge, d.A, i + e / rows, e % rows);
    }
    for (int e = at.t; e < n * lanes; e += at.threads) {
        const size_t b = at.b0 + e % lanes;
        in.g[e] = b < d.B ? d.g[(i + e / lanes) * d.B + b] : T(0);
    }
}

/* The column of a shared array [warps][pitch], summed. */
template <class T>
__device__ inline T sum_of_column(const T *column, int warps, int pitch)
{
    T sum = 0;
    for (int w = 0; w < warps; w++) sum += column[w * pitch];
    return sum;
}

/* What token i, the j-th of those in shared memory, is divided by; 0: its row is 0. */
template <class T>
__device__ inline T divisor_of(const held_run<T> &d, const place &at,
                               const tokens_in<T> &in, size_t i, int j)
{
    if (d.z == COLUMN_EDGE)
        return denominator(sum_of_column(in.dens + j * at.warps, at.warps, 1),
                           eps_of(d.eps_row, d.eps, i));
    return d.dens && d.dens[i] == T(0) ? T(0) : T(1);
}

/* The outputs of n tokens, from the sums of all warps. */
template <class T>
__device__ inline void write_outputs(const held_run<T> &d, const place &at,
                                     const tokens_in<T> &in, size_t i, int n)
{
    for (int e = at.t; e < n * lanes; e += at.threads) {
        const int j = e / lanes, lane = e % lanes;
        const T *nums = in.nums + j * at.warps * lanes + lane;
        const T divisor = divisor_of(d, at, in, i + j, j);
        if (d.z == COLUMN_EDGE && d.dens && at.b0 + lane == 0) d.dens[i + j] = divisor;
        if (at.b0 + lane < d.B)
            d.out[(i + j) * d.B + at.b0 + lane] =
                divided(sum_of_column(nums, at.warps, lanes), divisor);
    }
}

//> region held
template <class T>
__global__ void __launch_bounds__(512, 1) run_in_registers(held_run<T> d)
{
    DYN_SHARED(T, memory);
    constexpr int tokens = held<T>::tokens;
    const size_t rows = rows_with_edge(d);
    const place at = own_place(d);
    const tokens_in<T> in = lay_tokens_out(memory, rows, at.warps);
    column<T> s = load_column(d, at);
    for (size_t done = 0; done < d.N; done += tokens) {
        const size_t left = d.N - done;
        const int n = int(left < tokens ? left : tokens);
        const size_t i = at.h * d.N + (d.backwards ? left - n : done);
        load_tokens(d, at, in, i, n);
        __syncthreads();
        for (int x = 0; x < n; x++) {
            const int j = d.backwards ? n - 1 - x : x;
            const T *f = in.f + j * rows + at.a0, *h = in.h + j * rows + at.a0;
            const bool full = ++d.count % block_of_sums == 0;
            in.nums[(j * at.warps + at.w) * lanes + at.lane] =
                step(s, at.rows, f, h, in.g[j * lanes + at.lane], full);
            if (d.z != COLUMN_EDGE) continue;
            const T den = step_of_edge(s, at, f, h, full);
            if (at.lane == 0) in.dens[j * at.warps + at.w] = den;
        }
        __syncthreads();
        write_outputs(d, at, in, i, n);
    }
    store_column(d, at, s);
}
//< region held

/* Its launch. X has at most held<T>::most_rows rows, the edge among them. */
template <class T>
tarn_status run_held(tarn_context *ctx, const char *name, const held_run<T> &d)
{
    const size_t rows = rows_with_edge(d);
    const int warps = static_cast<int>((rows + held<T>::rows - 1) / held<T>::rows);
    const size_t tiles = blocks_for(d.B, lanes);
    if (d.heads == 0) return TARN_OK;
    return launch(ctx, name, run_in_registers<T>, grid_side(d.heads * tiles),
                  unsigned(warps * lanes), tokens_bytes<T>(rows, warps), d);
}

/* The cell itself: out and, if not NULL, the denominators and the state afterwards. */
template <class T>
held_run<T> reading_run(const tarn_span *s, T *out, T *dens, levels<T> after)
{
    const arrays<T> a = arrays_in<T>(s);
    held_run<T> d = {};
    d.heads = s->heads, d.N = s->N, d.A = s->C, d.B = s->M, d.count = s->count;
    d.f = a.k, d.g = a.v, d.h = a.q, d.out = out;
    d.z = COLUMN_EDGE, d.eps = a.eps, d.eps_row = a.eps_row, d.dens = dens;
    d.before = read_only(levels_in<T>(s)), d.after = after;
    return d;
}

} // namespace
#endif
