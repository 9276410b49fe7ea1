/* sim_grad.cu: the gradient of stage 1 on a device. Chapters 6 and 11.
 *
 * With den_i and out_i of the forward pass, Gn_i = dout_i / den_i and gd_i = -(Gn_i . out_i),
 * the similarity s_ij has the gradient Gn_i . v_j + gd_i, and so
 *
 *     dq_i = sum_j g_ij k_j    dk_j = sum_i g_ij q_i    dv_j = sum_i s_ij Gn_i
 *     g_ij = scale (Gn_i . v_j + gd_i) s_ij             without s_ij for features
 *
 * and rbf has k_j - q_i and q_i - k_j where the others have k_j and q_i. Every sum has one
 * block that adds it up in a fixed order: each pair is visited twice, from the side of the
 * query and from that of the key, and nothing needs an atomic addition.
 *
 * The ladder, each after the forward pass of the same rung:
 *
 *   k1    one block a query, then one a key
 *   k2    one block a square of queries, then of keys; products of squares in registers
 *   tf32  k2 with its products on tensor cores, and bf16; float only, and only if it is asked
 *         for */
#include "cuda/average.cuh"
#include "cuda/ladder.cuh"
#include "cuda/row_terms.cuh"

namespace
{

/* What is known of the rows after the forward pass, and where the gradients go. */
template <class T> struct backward {
    statistics<T> stats;
    T *gd, *Gn; /* Gn holds the output first */
    T *ready;   /* memory of queries.cuh */
    T *dq, *dk, *dv;
};

template <class T> backward<T> backward_of(const tarn_span *s)
{
    const size_t rows = s->heads * s->N_q;
    T *const w = static_cast<T *>(s->work);
    return {{w, w + rows},
            w + 2 * rows,
            w + 3 * rows,
            w + (3 + s->M) * rows,
            static_cast<T *>(s->dq),
            static_cast<T *>(s->dk),
            static_cast<T *>(s->dv)};
}

template <class T> size_t work(const tarn_span *s)
{
    return (s->heads * s->N_q * (3 + s->M) + ready_entries(s)) * sizeof(T);
}

/* What is known of a query. */
template <class T> struct row_facts {
    T max, den, gd, gain;
};
template <class T>
__device__ inline row_facts<T> facts_of(const pairs<T> &p, const backward<T> &b,
                                        size_t row)
{
    return {b.stats.max[row], b.stats.den[row], b.gd[row], gain_of(p, row)};
}

/* g of a pair; `arrives` is Gn_i . v_j. A row whose denominator is 0 gives nothing. */
template <class T>
__device__ inline T pair_gradient(const pairs<T> &p, T score, const row_facts<T> &row,
                                  T arrives)
{
    if (row.den == T(0)) return 0;
    const T g = p.scale * (arrives + row.gd);
    return p.has_exponent ? g * similarity(p, score, row.max, row.gain) : g;
}

/* ---- k1 ------------------------------------------------------------------------------------ */

template <class T> __device__ inline T dot_of(size_t n, const T *x, const T *y)
{
    T sum = 0;
    for (size_t m = 0; m < n; m++) sum += x[m] * y[m];
    return sum;
}

/* g of one pair, rows counted over all heads. */
template <class T>
__device__ inline T gradient_of(const pairs<T> &p, const backward<T> &b, size_t query,
                                size_t key)
{
    return pair_gradient(p, score_of(p, query, key), facts_of(p, b, query),
                         dot_of(p.M, b.Gn + query * p.M, p.v + key * p.M));
}

/* Block: one query; thread: keys j = t, t + 64, .. for g, entries c = t, t + 64, .. of dq.
 * Every block reads all of k twice and v once, N_q N (2 C + M) numbers a head; neighbours score
 * neighbouring keys, so each number brings a sector of its own. 2 N_q N (2 C + M) flops. */
template <class T> __global__ void query_by_row(pairs<T> p, backward<T> b)
{
    constexpr int threads = block_of_sums;
    SHARED(T, g, [block_of_sums]);
    const size_t row = blockIdx.x, h = row / p.N_q, C = p.C;
    const size_t n = view_from(p, h, row % p.N_q).keys(0);
    const int t = static_cast<int>(threadIdx.x);
    const T *q_i = p.q + row * C;
    for (size_t c = t; c < C; c += threads) b.dq[row * C + c] = 0;
    for (size_t start = 0; start < n; start += threads) {
        const int count = static_cast<int>(n - start < threads ? n - start : threads);
        const size_t first = h * p.N + start;
        if (t < count) g[t] = gradient_of(p, b, row, first + t);
        __syncthreads();
        for (size_t c = t; c < C; c += threads) {
            T part = 0;
            for (int x = 0; x < count; x++)
                part += g[x] * (p.k[(first + x) * C + c] - (p.distance ? q_i[c] : 0));
            b.dq[row * C + c] += part;
        }
        __syncthreads();
    }
}

/* The first query that sees key j of head h; N_q if none does. */
template <class T>
__device__ inline size_t first_to_see(const pairs<T> &p, size_t h, size_t j)
{
    const size_t n = p.lengths ? size_t(p.lengths[h]) : p.N;
    if (j >= n) return p.N_q;
    return p.causal && j > p.past ? j - p.past : 0;
}

/* Block: one key; thread: queries for g and s, entries of dk and dv. Every block reads q three
 * times and Gn twice, N_q N (3 C + 2 M) numbers a head, and does two flops with each: the score
 * is made twice, for g and for s. */
template <class T> __global__ void key_by_row(pairs<T> p, backward<T> b)
{
    constexpr int threads = block_of_sums;
    SHARED(T, g, [block_of_sums]);
    SHARED(T, s, [block_of_sums]);
    const size_t key = blockIdx.x, h = key / p.N, C = p.C, M = p.M;
    const int t = static_cast<int>(threadIdx.x);
    const T *k_j = p.k + key * C;
    for (size_t c = t; c < C; c += threads) b.dk[key * C + c] = 0;
    for (size_t m = t; m < M; m += threads) b.dv[key * M + m] = 0;
    for (size_t i = first_to_see(p, h, key % p.N); i < p.N_q; i += threads) {
        const int count = static_cast<int>(p.N_q - i < threads ? p.N_q - i : threads);
        const size_t first = h * p.N_q + i, row = first + t;
        if (t < count) {
            g[t] = gradient_of(p, b, row, key);
            s[t] =
                similarity(p, score_of(p, row, key), b.stats.max[row], gain_of(p, row));
        }
        __syncthreads();
        for (size_t c = t; c < C; c += threads) {
            T part = 0;
            for (int x = 0; x < count; x++)
                part += g[x] * (p.q[(first + x) * C + c] - (p.distance ? k_j[c] : 0));
            b.dk[key * C + c] += part;
        }
        for (size_t m = t; m < M; m += threads) {
            T part = 0;
            for (int x = 0; x < count; x++) part += s[x] * b.Gn[(first + x) * M + m];
            b.dv[key * M + m] += part;
        }
        __syncthreads();
    }
}

/* ---- k2 ------------------------------------------------------------------------------------ */

/* The facts of a square's rows, in shared memory: one array for each, as neighbouring threads
 * have neighbouring rows. */
template <class T> struct square_facts {
    T max[tile<T>::side], den[tile<T>::side], gd[tile<T>::side], gain[tile<T>::side];

    __device__ row_facts<T> of_row(int i) const
    {
        return {max[i], den[i], gd[i], gain[i]};
    }
};
template <class T>
__device__ inline void load_facts(square_facts<T> &facts, const pairs<T> &p,
                                  const backward<T> &b, size_t first, size_t count)
{
    const size_t t = threadIdx.x;
    if (t >= tile<T>::side) return;
    const row_facts<T> f =
        t < count ? facts_of(p, b, first + t) : row_facts<T>{0, 0, 0, 1};
    facts.max[t] = f.max, facts.den[t] = f.den;
    facts.gd[t] = f.gd, facts.gain[t] = f.gain;
}

/* A square of queries and a square of keys of one head. */
template <class T> struct square_of_pairs {
    view seen; /* by the queries */
    size_t j0;
    rows<T> q, k, v, Gn;

    __device__ bool sees(int i, int j) const { return j0 + j < seen.keys(i); }
    /* Nothing is masked, among the rows that exist. */
    __device__ bool sees_all() const { return j0 + k.count <= seen.keys(0); }
};
template <class T>
__device__ inline square_of_pairs<T> square_at(const pairs<T> &p, const backward<T> &b,
                                               size_t h, size_t i0, size_t j0, size_t n)
{
    return {view_from(p, h, i0),
            j0,
            rows_of(p.scored, p.C, h * p.N_q, i0, p.N_q),
            rows_of(p.k, p.C, h * p.N, j0, n),
            rows_of(p.v, p.M, h * p.N, j0, n),
            rows_of<T>(b.Gn, p.M, h * p.N_q, i0, p.N_q)};
}

/* Writes g of a square of pairs (or s, if `plain`) to ys(i, j); 0 where nobody sees. */
template <class T, class P>
__device__ inline void
gradients_of_square(const pairs<T> &p, const square_of_pairs<T> &at,
                    const square_facts<T> &facts, bool plain, typename P::square &xs,
                    typename P::square &ys)
{
    entries<T> sum = {}, arrives = {};
    each_with_each<T, P>(sum, at.q, at.k, p.distance, xs, ys);
    if (!plain) each_with_each<T, P>(arrives, at.Gn, at.v, false, xs, ys);
    P::each([&](int u, int w, int i, int j) {
        const row_facts<T> f = facts.of_row(i);
        const T score = scored(p, sum[u][w]);
        const T entry = !at.sees(i, j) ? T(0)
                        : plain        ? similarity(p, score, f.max, f.gain)
                                       : pair_gradient(p, score, f, arrives[u][w]);
        ys(i, j) = entry;
    });
}

/* Block: a square of queries and one square of columns of dq. It walks over the keys as the
 * forward pass does. k1 uses a number that it reads once, here it is used 64 times (32 as a
 * double): N_q N (2 C + 2 M + 64) / 64 numbers and 2 N_q N (C + M + 64) flops a head, for each
 * 64 columns. Bounds for one block at a time: with room for more, ptxas spills doubles on some
 * GPUs. */
template <class T, class P>
__global__ void __launch_bounds__(P::threads, 1)
    query_by_square(pairs<T> p, backward<T> b)
{
    SHARED(typename P::square, xs);
    SHARED(typename P::square, ys);
    SHARED(square_facts<T>, facts);
    constexpr size_t L = tile<T>::side;
    const size_t per_head = (p.N_q + L - 1) / L, h = blockIdx.x / per_head;
    const size_t i0 = blockIdx.x % per_head * L, c0 = blockIdx.y * L;
    const rows<T> q = rows_of(p.q, p.C, h * p.N_q, i0, p.N_q);
    const size_t n = view_from(p, h, i0).keys(q.count - 1);
    const auto inside = [&](int i, int c) {
        return size_t(i) < q.count && c0 + c < p.C;
    };
    entries<T> total = {}, part = {}, here = {}; /* here: q, for rbf */
    if (p.distance)
        P::each([&](int u, int w, int i, int c) {
            if (inside(i, c)) here[u][w] = q.first[i * p.C + c0 + c];
        });
    load_facts(facts, p, b, h * p.N_q + i0, q.count);
    for (size_t j0 = 0; j0 < n; j0 += L) {
        const square_of_pairs<T> at = square_at(p, b, h, i0, j0, n);
        gradients_of_square<T, P>(p, at, facts, false, xs, ys);
        load<T>(xs, at.k.first + c0, p.C, at.k.count, p.C - c0);
        __syncthreads();
        const int count = static_cast<int>(at.k.count);
        const auto g = [&](int j, int i) { return ys(i, j); };
        const auto key = [&](int j, int c) { return xs(j, c); };
        if (at.sees_all() && !p.distance)
            P::multiply(part, count, g, key);
        else
            P::combine(part, count, g, key, [&](T &dq, T x, T y, int j, int u, int w) {
                if (at.sees(P::row(u, w), j)) dq += x * (y - here[u][w]);
            });
        P::each([&](int u, int w, int, int) { carry(part[u][w], total[u][w]); });
        __syncthreads();
    }
    P::each([&](int u, int w, int i, int c) {
        if (inside(i, c))
            b.dq[(h * p.N_q + i0 + i) * p.C + c0 + c] = total[u][w] + part[u][w];
    });
}

/* Block: a square of keys and one square of columns: those of dk first, then those of dv. It
 * walks over the queries. Numbers and flops are those of query_by_square for dk; dv takes no
 * Gn . v, so M less of both. */
template <class T, class P>
__global__ void __launch_bounds__(P::threads, 1)
    key_by_square(pairs<T> p, backward<T> b)
{
    SHARED(typename P::square, xs);
    SHARED(typename P::square, ys);
    SHARED(square_facts<T>, facts);
    constexpr size_t L = tile<T>::side;
    const size_t per_head = (p.N + L - 1) / L, h = blockIdx.x / per_head;
    const size_t j0 = blockIdx.x % per_head * L, across = (p.C + L - 1) / L;
    const bool of_v = blockIdx.y >= across;
    const size_t c0 = (of_v ? blockIdx.y - across : blockIdx.y) * L;
    const size_t width = of_v ? p.M : p.C, n = p.lengths ? size_t(p.lengths[h]) : p.N;
    const T *const from = of_v ? b.Gn : p.q;
    entries<T> total = {}, part = {}, here = {}; /* here: k, for rbf */
    if (p.distance && !of_v)
        P::each([&](int u, int w, int j, int c) {
            if (j0 + j < n && c0 + c < width)
                here[u][w] = p.k[(h * p.N + j0 + j) * width + c0 + c];
        });
    for (size_t i0 = first_to_see(p, h, j0) / L * L; i0 < p.N_q; i0 += L) {
        const square_of_pairs<T> at = square_at(p, b, h, i0, j0, n);
        load_facts(facts, p, b, h * p.N_q + i0, at.q.count);
        gradients_of_square<T, P>(p, at, facts, of_v, xs, ys);
        load<T>(xs, from + (h * p.N_q + i0) * width + c0, width, at.q.count,
                width - c0);
        __syncthreads();
        const int count = static_cast<int>(at.q.count);
        const auto g = [&](int i, int j) { return ys(i, j); };
        const auto query = [&](int i, int c) { return xs(i, c); };
        if (at.sees_all() && !p.distance)
            P::multiply(part, count, g, query);
        else
            P::combine(part, count, g, query,
                       [&](T &sum, T x, T y, int i, int u, int w) {
                           if (at.sees(i, P::row(u, w))) sum += x * (y - here[u][w]);
                       });
        P::each([&](int u, int w, int, int) { carry(part[u][w], total[u][w]); });
        __syncthreads();
    }
    T *const to = of_v ? b.dv : b.dk;
    P::each([&](int u, int w, int j, int c) {
        if (j0 + j >= p.N || c0 + c >= width) return;
        T &entry = to[(h * p.N + j0 + j) * width + c0 + c];
        entry = j0 + j < n ? total[u][w] + part[u][w] : T(0);
    });
}

/* ---- The ladder ------------------------------------------------------------------------------ */

/* Gn and gd, after the forward pass. */
template <class T>
tarn_status after_forward(const tarn_span *s, const pairs<T> &p, const backward<T> &b)
{
    return find_row_terms<T>(s->ctx, p.heads * p.N_q, p.M,
                             static_cast<const T *>(s->dout), b.stats.den, b.Gn, b.gd);
}

template <class T> tarn_status by_row(tarn_span *s)
{
    pairs<T> p = pairs_of<T>(s);
    const backward<T> b = backward_of<T>(s);
    const unsigned queries = grid_side(p.heads * p.N_q);
    const unsigned keys = grid_side(p.heads * p.N);
    tarn_status status = make_ready(s, p, b.ready);
    if (!status) status = average_k1(s->ctx, p, b.Gn, b.stats);
    if (!status) status = after_forward(s, p, b);
    if (!status && queries)
        status = launch(s->ctx, "query_by_row", query_by_row<T>, queries, block_of_sums,
                        0, p, b);
    if (!status && keys)
        status =
            launch(s->ctx, "key_by_row", key_by_row<T>, keys, block_of_sums, 0, p, b);
    return status;
}

template <class T, class P> tarn_status by_square(tarn_span *s)
{
    constexpr unsigned L = tile<T>::side, threads = tile<T>::threads;
    pairs<T> p = pairs_of<T>(s);
    const backward<T> b = backward_of<T>(s);
    const unsigned queries = grid_side(p.heads * blocks_for(p.N_q, L));
    const unsigned keys = grid_side(p.heads * blocks_for(p.N, L));
    const unsigned of_k = blocks_for(p.C, L), of_v = blocks_for(p.M, L);
    tarn_status status = make_ready(s, p, b.ready);
    if (!status) status = average_k2<T, P>(s->ctx, p, b.Gn, b.stats);
    if (!status) status = after_forward(s, p, b);
    if (!status && p.heads > 0 && p.N_q > 0)
        status = launch(s->ctx, "query_by_square", query_by_square<T, P>,
                        dim3(queries, of_k), threads, 0, p, b);
    if (!status && p.heads > 0 && p.N > 0)
        status = launch(s->ctx, "key_by_square", key_by_square<T, P>,
                        dim3(keys, of_k + of_v), threads, 0, p, b);
    return status;
}

struct form {
    template <class T> static size_t k1_work(const tarn_span *s) { return work<T>(s); }
    template <class T> static size_t k2_work(const tarn_span *s) { return work<T>(s); }
    template <class T> static tarn_status k1(tarn_span *s) { return by_row<T>(s); }
    template <class T, class P> static tarn_status k2(tarn_span *s)
    {
        return by_square<T, P>(s);
    }
};

} // namespace

extern "C" {
extern const tarn_ladder TARN_TABLE(sim_grad, f32), TARN_TABLE(sim_grad, f64);
const tarn_ladder TARN_TABLE(sim_grad, f32) = two_rungs<form>::ladder_f32;
const tarn_ladder TARN_TABLE(sim_grad, f64) = two_rungs<form>::ladder_f64;
}
