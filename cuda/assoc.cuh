/* assoc.cuh: stage 2 on a device: sums over all keys, and rows that meet them. Chapters 3, 11.
 *
 *     S = sum_j phi(k_j) v_j^T     z = sum_j phi(k_j)                 (eqs 5, 6)
 *
 * S and z are those of a head. Two things are done with them, for assoc.cu and assoc_grad.cu:
 * they are summed up, and rows are multiplied by S or by its transpose. Each is there in two
 * ways, entry by entry and by squares. */
#ifndef TARN_ASSOC_CUH
#define TARN_ASSOC_CUH

#include "cuda/chunks.cuh"

namespace
{

/* Sums over all rows of a head: S [heads, C, M], z [heads, C]. */
template <class T> struct sums {
    T *S, *z;
};

/* Lays sums out in memory, and moves the pointer behind them. */
template <class T> sums<T> sums_at(T *&memory, const chunks &d)
{
    const sums<T> s = {memory, memory + d.heads * d.C * d.M};
    memory += d.heads * state_size(d);
    return s;
}

/* ---- Summing up ------------------------------------------------------------------------------ */

/* A head's rows in at most 32 pieces, whatever their number: a sum of sums of sums. */
template <class T>
chunks pieces_of(const tarn_span *s, size_t N, const int64_t *lengths)
{
    constexpr size_t L = tile<T>::side, most = 32;
    const size_t squares = (N + L - 1) / L, each = (squares + most - 1) / most;
    const size_t count = each ? (squares + each - 1) / each : 0;
    return {s->heads, N, s->C, s->M, each * L, count, lengths};
}

/* One thread an entry of S or z: it walks over all rows. 2 N C M flops a head, all of k and v
 * read by each of the C M threads, from the cache if it is kind. w NULL: 1. */
template <class T>
__global__ void sum_by_entry(chunks d, const T *k, const T *v, const T *w, sums<T> to)
{
    const size_t per_head = (state_size(d) + blockDim.x - 1) / blockDim.x;
    const size_t h = blockIdx.x / per_head;
    const size_t e = blockIdx.x % per_head * blockDim.x + threadIdx.x;
    if (e >= state_size(d)) return;
    const bool of_z = e >= d.C * d.M;
    const size_t c = of_z ? e - d.C * d.M : e / d.M, m = e % d.M;
    const size_t n = d.lengths ? size_t(d.lengths[h]) : d.N;
    T total = 0, part = 0;
    for (size_t i = h * d.N; i < h * d.N + n; i++) {
        const T right = of_z ? (w ? w[i] : T(1)) : v[i * d.M + m];
        part += k[i * d.C + c] * right;
        if ((i - h * d.N + 1) % block_of_sums == 0) carry(part, total);
    }
    *entry_of(d, to.S, to.z, h, e) = total + part;
}

/* How a rung sums up; the second has need of memory for a state per piece. */
template <class T> struct summing {
    tarn_context *ctx;
    chunks d;
    T *states;
};

template <class T>
tarn_status sum_k1(const summing<T> &how, const T *k, const T *v, const T *w,
                   sums<T> to)
{
    constexpr unsigned threads = 256;
    const size_t blocks = how.d.heads * blocks_for(state_size(how.d), threads);
    if (blocks == 0) return TARN_OK;
    return launch(how.ctx, "sum_by_entry", sum_by_entry<T>, grid_side(blocks), threads,
                  0, how.d, k, v, w, to);
}

/* Pieces at once, by squares, then their sums in a fixed order (chunks.cuh): the same bits in
 * every run, and exact to the last carry. Reads k M / 64 times and v C / 64 times. */
template <class T, class P>
tarn_status sum_k2(const summing<T> &how, const T *k, const T *v, const T *w,
                   sums<T> to)
{
    const levels<const T> nothing = {nullptr, nullptr, nullptr, nullptr};
    const levels<T> end = {to.S, to.z, nullptr, nullptr};
    const tarn_status status = sum_chunks<T, P>(how.ctx, how.d, k, v, w, how.states);
    return status ? status : scan(how.ctx, how.d, false, nothing, end, how.states);
}

/* ---- Rows that meet the sums ----------------------------------------------------------------- */

/* out = x S, or (turned) x S^T + w z^T, for rows x [heads, N, A] and out [heads, N, B]. */
template <class T> struct meeting {
    size_t heads, N, A, B;
    const T *x;
    sums<const T> s;
    T *out;
    const int64_t *lengths; /* rows past it give 0; NULL: none */
    bool turned;
    const T *w;   /* turned: NULL is 1 */
    T *dens;      /* written if `divides`; if turned, rows with 0 there give 0 */
    bool divides; /* not turned: out is divided by x.z + eps */
    T eps;
    const T *eps_row;
};

template <class T> __device__ inline bool gives_zero(const meeting<T> &a, size_t row)
{
    const size_t h = row / a.N;
    const bool missing = a.lengths && row % a.N >= size_t(a.lengths[h]);
    return missing || (a.turned && a.dens && a.dens[row] == T(0));
}

/* One thread an entry of the output: 2 N A B flops a head, 4 where it divides, as each thread
 * makes the denominator of its row. It reads a row of x and a column of S: 2 N A B numbers. */
template <class T> __global__ void meet_by_entry(meeting<T> a)
{
    const size_t e = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (e >= a.heads * a.N * a.B) return;
    const size_t row = e / a.B, b = e % a.B, h = row / a.N;
    const T *x = a.x + row * a.A, *S = a.s.S + h * a.A * a.B;
    const T *z = a.s.z + h * (a.turned ? a.B : a.A);
    T sum = 0, den = 0;
    for (size_t y = 0; y < a.A; y++) {
        sum += x[y] * S[a.turned ? b * a.A + y : y * a.B + b];
        if (a.divides) den += x[y] * z[y];
    }
    if (a.turned) sum += (a.w ? a.w[row] : T(1)) * z[b];
    den = a.divides ? denominator(den, eps_of(a.eps_row, a.eps, row)) : T(1);
    if (a.divides && a.dens && b == 0) a.dens[row] = den;
    a.out[e] = gives_zero(a, row) ? T(0) : divided(sum, den);
}

/* Block: a square of rows and one of columns. Each number that is loaded is used 64 times (32
 * as a double): N A B / 32 numbers a head, 2 N A B flops, and one denominator a row. */
template <class T, class P>
__global__ void __launch_bounds__(P::threads, P::least_blocks)
    meet_by_square(meeting<T> a)
{
    SHARED(typename P::square, xs);
    SHARED(typename P::square, ss);
    SHARED(T, den, [tile<T>::side]);
    constexpr size_t L = tile<T>::side;
    const size_t t = threadIdx.x, per_head = (a.N + L - 1) / L;
    const size_t h = blockIdx.x / per_head, i0 = blockIdx.x % per_head * L;
    const size_t first = h * a.N + i0, rows = a.N - i0 < L ? a.N - i0 : L;
    const size_t b0 = blockIdx.y * L;
    const T *S = a.s.S + h * a.A * a.B, *z = a.s.z + h * (a.turned ? a.B : a.A);
    entries<T> sum = {};
    const bool divides = a.divides && t < rows;
    T below = 0;
    if (t < L) den[t] = divides ? eps_of(a.eps_row, a.eps, first + t) : T(1);
    for (size_t a0 = 0; a0 < a.A; a0 += L) {
        const int width = static_cast<int>(a.A - a0 < L ? a.A - a0 : L);
        load<T>(xs, a.x + first * a.A + a0, a.A, rows, a.A - a0);
        if (a.turned)
            load<T>(ss, S + b0 * a.A + a0, a.A, a.B - b0, a.A - a0);
        else
            load<T>(ss, S + a0 * a.B + b0, a.B, a.A - a0, a.B - b0);
        __syncthreads();
        const auto row = [&](int y, int i) { return xs(i, y); };
        if (a.turned)
            P::multiply(sum, width, row, [&](int y, int b) { return ss(b, y); });
        else
            P::multiply(sum, width, row, [&](int y, int b) { return ss(y, b); });
        if (divides)
            for (int y = 0; y < width; y++) below += xs(int(t), y) * z[a0 + y];
        __syncthreads();
    }
    if (divides) {
        den[t] = denominator(below, den[t]);
        if (a.dens && b0 == 0) a.dens[first + t] = den[t];
    }
    __syncthreads();
    P::each([&](int u, int w, int i, int b) {
        if (size_t(i) >= rows || b0 + b >= a.B) return;
        const size_t row = first + i;
        T entry = sum[u][w];
        if (a.turned) entry += (a.w ? a.w[row] : T(1)) * z[b0 + b];
        a.out[row * a.B + b0 + b] = gives_zero(a, row) ? T(0) : divided(entry, den[i]);
    });
}

template <class T> tarn_status meet_k1(tarn_context *ctx, const meeting<T> &a)
{
    constexpr unsigned threads = 256;
    const size_t entries = a.heads * a.N * a.B;
    if (entries == 0) return TARN_OK;
    return launch(ctx, "meet_by_entry", meet_by_entry<T>, blocks_for(entries, threads),
                  threads, 0, a);
}

template <class T, class P> tarn_status meet_k2(tarn_context *ctx, const meeting<T> &a)
{
    constexpr unsigned L = tile<T>::side;
    if (a.heads * a.N == 0) return TARN_OK;
    const size_t blocks = a.heads * blocks_for(a.N, L);
    return launch(ctx, "meet_by_square", meet_by_square<T, P>,
                  dim3(grid_side(blocks), blocks_for(a.B, L)), tile<T>::threads, 0, a);
}

/* ---- Both, as a rung has them ---------------------------------------------------------------- */

template <class T> struct assoc_rung {
    tarn_status (*sum)(const summing<T> &, const T *, const T *, const T *, sums<T>);
    tarn_status (*meet)(tarn_context *, const meeting<T> &);
};

template <class T> assoc_rung<T> assoc_by_entry()
{
    return {sum_k1<T>, meet_k1<T>};
}
template <class T, class P> assoc_rung<T> assoc_by_square()
{
    return {sum_k2<T, P>, meet_k2<T, P>};
}

/* The output and its denominators (or NULL) of all queries. */
template <class T> meeting<T> reading(const tarn_span *s, sums<T> sums, T *out, T *dens)
{
    const arrays<T> a = arrays_in<T>(s);
    return {s->heads, s->N_q,  s->C, s->M, a.q,   {sums.S, sums.z}, out, nullptr,
            false,    nullptr, dens, true, a.eps, a.eps_row};
}

} // namespace
#endif
