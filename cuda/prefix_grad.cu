/* prefix_grad.cu: the gradient of stage 3 on a device, in linear time. Chapters 7 and 11.
 *
 * The equations are those of sweeps.cuh. The ladder:
 *
 *   k1  two walks through time, one thread per column or row of the state (sweeps.cuh)
 *   k2  parallel in time, in both directions: forwards the states before each chunk, as in
 *       prefix.cu, backwards the sums R behind each chunk. Then all chunks at once.
 *   tf32  k2 with the products on tensor cores, where each factor is rounded to 11 bits;
 *         bf16 with 8 bits
 *
 * With a column more for the denominator, Gn+ = [Gn | gd] and v+ = [v | 1], S+ = [S | z] and
 * R+ = [R | r], what is left of a chunk are three masked products of the same kind:
 *
 *     dphi(q) = tril(Gn+ v+^T) phi(k) + Gn+ S+^T
 *     dphi(k) = triu(v+ Gn+^T) phi(q) + v+ R+^T
 *     dv      = triu(phi(k) phi(q)^T) Gn + phi(k) R
 *
 * q and k are features. */
#include "cuda/chunks.cuh"
#include "cuda/ladder.cuh"
#include "cuda/row_terms.cuh"
#include "cuda/sweeps.cuh"

namespace
{

/* ---- k2 -----------------------------------------------------------------------------------
 *
 * Traffic, in arrays of N rows: 10 for the outputs (chunks.cuh), 5 for Gn, 4 for the sums R,
 * and 5 each for dq, dk and dv. */

/* One of the three products: rows x [.., A] of this chunk, y [.., A] of what they meet, z
 * [.., B] of what that gives; x1, y1 are their further columns. */
template <class T> struct masked_product {
    const T *x, *y, *z;
    size_t A, B;
    const T *x1, *y1; /* NULL: 1 */
    const T *dens;    /* rows whose denominator is 0 get 0; NULL: none has */
    T *out;           /* [.., B] */
};

/* Entry i of a further column. */
template <class T> __device__ inline T further(const T *column, size_t i)
{
    return column ? column[i] : T(1);
}

/* out = mask(x y^T) z + x S. Block: the rows of one chunk, one square of columns of `out`. With
 * L rows a chunk that is 2 A L + L B flops a row for what the mask cuts, and 2 A B for the state.
 * `behind`: what lies behind a row counts, not what came before it. `turned`: the state is
 * used as its transpose, and it and the product have the further column. */
template <class T, class P, bool behind, bool turned>
__global__ void __launch_bounds__(P::threads, P::least_blocks)
    chunk_gradient(chunks d, masked_product<T> p, const T *states)
{
    SHARED(typename P::square, xs); /* of x, at the end x y^T */
    SHARED(typename P::square, bs); /* of y, of the state, of z, in turn */
    constexpr size_t L = tile<T>::side;
    const own chunk = own_chunk(d);
    const size_t first = chunk.first, rows = chunk.rows, b0 = blockIdx.y * L;
    const T *S = states + blockIdx.x * state_size(d), *z = S + d.C * d.M;
    entries<T> a = {}, o = {};
    for (size_t a0 = 0; a0 < p.A; a0 += L) {
        const int width = static_cast<int>(p.A - a0 < L ? p.A - a0 : L);
        load<T>(xs, p.x + first * p.A + a0, p.A, rows, p.A - a0);
        load<T>(bs, p.y + first * p.A + a0, p.A, rows, p.A - a0);
        __syncthreads();
        P::multiply(
            a, width, [&](int n, int i) { return xs(i, n); },
            [&](int n, int j) { return bs(j, n); });
        __syncthreads();
        if (turned)
            load<T>(bs, S + b0 * d.M + a0, d.M, d.C - b0, d.M - a0);
        else
            load<T>(bs, S + a0 * d.M + b0, d.M, d.C - a0, d.M - b0);
        __syncthreads();
        P::multiply(
            o, width, [&](int n, int i) { return xs(i, n); },
            [&](int n, int b) { return turned ? bs(b, n) : bs(n, b); });
        __syncthreads();
    }
    load<T>(bs, p.z + first * p.B + b0, p.B, rows, p.B - b0);
    P::each([&](int u, int w, int i, int j) {
        const bool there = size_t(i) < rows && size_t(j) < rows;
        T entry = a[u][w];
        if (turned && there)
            entry += further(p.x1, first + i) * further(p.y1, first + j);
        xs(i, j) = entry;
    });
    __syncthreads();
    const auto left = [&](int j, int i) { return xs(i, j); };
    const auto right = [&](int j, int b) { return bs(j, b); };
    if (behind)
        P::multiply_from_row(o, static_cast<int>(rows), left, right);
    else
        P::multiply_until_row(o, left, right);
    P::each([&](int u, int w, int i, int b) {
        if (size_t(i) >= rows || b0 + b >= p.B) return;
        T sum = o[u][w];
        if (turned) sum += further(p.x1, first + i) * z[b0 + b];
        if (p.dens && p.dens[first + i] == 0) sum = 0;
        p.out[(first + i) * p.B + b0 + b] = sum;
    });
}

/* Where things lie in k2's work. */
template <class T> struct workspace {
    T *states, *Gn, *gd, *dens;
};
template <class T> workspace<T> workspace_in(const tarn_span *s, const chunks &d)
{
    T *const states = arrays_in<T>(s).work, *const Gn = states + states_size(d);
    T *const gd = Gn + s->heads * s->N * s->M;
    return {states, Gn, gd, gd + s->heads * s->N};
}
template <class T> size_t both_ways_work(const tarn_span *s)
{
    return (states_size(chunks_of<T>(s, 1)) + s->heads * s->N * (s->M + 2)) * sizeof(T);
}

template <class T, class P, bool behind, bool turned>
tarn_status differentiate(tarn_context *ctx, const chunks &d, const T *states,
                          const masked_product<T> &p)
{
    return launch(ctx, "chunk_gradient", chunk_gradient<T, P, behind, turned>,
                  dim3(grid_side(d.heads * d.count), blocks_for(p.B, tile<T>::side)),
                  tile<T>::threads, 0, d, p, states);
}

/* Forwards: Gn, gd and the gradient of the queries. */
template <class T, class P>
tarn_status forwards(tarn_span *s, const chunks &d, const workspace<T> &w)
{
    const arrays<T> a = arrays_in<T>(s);
    const levels<T> nowhere = {nullptr, nullptr, nullptr, nullptr};
    const size_t rows = d.heads * d.N;
    tarn_status status = sum_chunks<T, P>(s->ctx, d, a.k, a.v, nullptr, w.states);
    if (!status)
        status = scan(s->ctx, d, false, read_only(levels_in<T>(s)), nowhere, w.states);
    if (!status) status = output_chunks<T, P>(s, d, w.states, w.Gn, w.dens);
    if (!status)
        status = find_row_terms<T>(s->ctx, rows, d.M, a.dout, w.dens, w.Gn, w.gd);
    const masked_product<T> dq = {w.Gn, a.v,     a.k,    d.M, d.C,
                                  w.gd, nullptr, w.dens, a.dq};
    return status ? status : differentiate<T, P, false, true>(s->ctx, d, w.states, dq);
}

/* Backwards: the gradients of keys, values and the initial state. */
template <class T, class P>
tarn_status backwards(tarn_span *s, const chunks &d, const workspace<T> &w)
{
    const arrays<T> a = arrays_in<T>(s);
    tarn_status status = sum_chunks<T, P>(s->ctx, d, a.q, w.Gn, w.gd, w.states);
    if (!status)
        status =
            scan(s->ctx, d, true, state_gradient<T>(s), start_gradient<T>(s), w.states);
    if (status || d.count == 0) return status;
    const masked_product<T> dk = {a.v,     w.Gn, a.q,     d.M, d.C,
                                  nullptr, w.gd, nullptr, a.dk};
    const masked_product<T> dv = {a.k,     a.q,     w.Gn,    d.C, d.M,
                                  nullptr, nullptr, nullptr, a.dv};
    status = differentiate<T, P, true, true>(s->ctx, d, w.states, dk);
    return status ? status : differentiate<T, P, true, false>(s->ctx, d, w.states, dv);
}

template <class T, class P> tarn_status both_ways(tarn_span *s)
{
    const chunks d = chunks_of<T>(s, 1);
    const workspace<T> w = workspace_in<T>(s, d);
    if (d.heads == 0) return TARN_OK;
    const tarn_status status = d.count ? forwards<T, P>(s, d, w) : TARN_OK;
    return status ? status : backwards<T, P>(s, d, w);
}

/* ---- The ladder --------------------------------------------------------------------------- */

struct form {
    template <class T> static tarn_status k1(tarn_span *s) { return sweeps<T>(s); }
    template <class T> static size_t k1_work(const tarn_span *s)
    {
        return sweeps_work<T>(s);
    }
    template <class T, class P> static tarn_status k2(tarn_span *s)
    {
        return both_ways<T, P>(s);
    }
    template <class T> static size_t k2_work(const tarn_span *s)
    {
        return both_ways_work<T>(s);
    }
};

} // namespace

extern "C" {
extern const tarn_ladder TARN_TABLE(prefix_grad, f32), TARN_TABLE(prefix_grad, f64);
const tarn_ladder TARN_TABLE(prefix_grad, f32) = two_rungs<form>::ladder_f32;
const tarn_ladder TARN_TABLE(prefix_grad, f64) = two_rungs<form>::ladder_f64;
}
