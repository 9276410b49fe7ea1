/* sim.cu: stage 1 on a device, attention as a weighted average of values. Chapters 1 and 11.
 *
 *     out_i = sum_j sim(q_i, k_j) v_j / (sum_j sim(q_i, k_j) + eps)        (eq 3)
 *
 * The ladder (average.cuh):
 *
 *   k1    one block a query: two passes over the keys
 *   k2    one block 64 queries (32 as doubles): squares of keys pass by once, in shared memory,
 *         and the sums are rescaled when a larger score comes: the online softmax
 *   tf32  k2 with its products on tensor cores, from factors of 11 bits (bf16: of 8); float
 *         only, and only if it is asked for. Distances are no products and stay as they are
 *
 * All of them take softmax, rbf and features, a causal mask after `past` keys, and lengths. The
 * weights are written only where somebody asks, from the statistics of the rows. */
#include "cuda/average.cuh"
#include "cuda/ladder.cuh"

namespace
{

/* ---- Weights ------------------------------------------------------------------------------- */

/* One thread a pair: 2 N_q N C numbers read a head, N_q N written, 2 N_q N C flops. */
template <class T>
__global__ void weights_by_pair(pairs<T> p, statistics<T> stats, T *weights)
{
    const size_t pair = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (pair >= p.heads * p.N_q * p.N) return;
    const size_t row = pair / p.N, h = row / p.N_q, j = pair % p.N;
    if (j >= view_from(p, h, row % p.N_q).keys(0)) {
        weights[pair] = 0;
        return;
    }
    const T s =
        similarity(p, score_of(p, row, h * p.N + j), stats.max[row], gain_of(p, row));
    weights[pair] = divided(s, stats.den[row]);
}

/* Block: one square of pairs. A row of q is read N / 64 times, one of k N_q / 64 times, where
 * k1 reads them N and N_q times; the flops are the same. */
template <class T, class P>
__global__ void __launch_bounds__(P::threads, plain_cores<T>::least_blocks)
    weights_by_square(pairs<T> p, statistics<T> stats, T *weights)
{
    SHARED(typename P::square, xs);
    SHARED(typename P::square, ys);
    constexpr size_t L = tile<T>::side;
    const size_t down = (p.N_q + L - 1) / L, across = (p.N + L - 1) / L;
    const size_t h = blockIdx.x / across / down, i0 = blockIdx.x / across % down * L;
    const size_t j0 = blockIdx.x % across * L;
    const rows<T> q = rows_of(p.scored, p.C, h * p.N_q, i0, p.N_q);
    const rows<T> k = rows_of(p.k, p.C, h * p.N, j0, p.N);
    const view seen = view_from(p, h, i0);
    entries<T> sum = {};
    each_with_each<T, P>(sum, q, k, p.distance, xs, ys);
    P::each([&](int u, int w, int i, int j) {
        if (size_t(i) >= q.count || size_t(j) >= k.count) return;
        const size_t row = h * p.N_q + i0 + i;
        const T s =
            similarity(p, scored(p, sum[u][w]), stats.max[row], gain_of(p, row));
        weights[row * p.N + j0 + j] =
            j0 + j < seen.keys(i) ? divided(s, stats.den[row]) : T(0);
    });
}

template <class T>
tarn_status weights_k1(tarn_context *ctx, const pairs<T> &p, statistics<T> stats,
                       T *weights)
{
    constexpr unsigned threads = 256;
    return launch(ctx, "weights_by_pair", weights_by_pair<T>,
                  blocks_for(p.heads * p.N_q * p.N, threads), threads, 0, p, stats,
                  weights);
}

template <class T, class P>
tarn_status weights_k2(tarn_context *ctx, const pairs<T> &p, statistics<T> stats,
                       T *weights)
{
    constexpr unsigned L = tile<T>::side;
    const size_t blocks = p.heads * blocks_for(p.N_q, L) * blocks_for(p.N, L);
    return launch(ctx, "weights_by_square", weights_by_square<T, P>, grid_side(blocks),
                  tile<T>::threads, 0, p, stats, weights);
}

/* ---- The ladder ------------------------------------------------------------------------------ */

/* One rung: which kernels make the output and the weights. */
template <class T> struct steps {
    tarn_status (*average)(tarn_context *, const pairs<T> &, T *, statistics<T>);
    tarn_status (*weights)(tarn_context *, const pairs<T> &, statistics<T>, T *);
};

template <class T> tarn_status run(tarn_span *s, steps<T> how)
{
    pairs<T> p = pairs_of<T>(s);
    T *const max = static_cast<T *>(s->work), *const out = static_cast<T *>(s->out);
    const statistics<T> stats = {max, max + p.heads * p.N_q};
    tarn_status status = make_ready(s, p, stats.den + p.heads * p.N_q);
    if (!status) status = how.average(s->ctx, p, out, stats);
    if (status || !s->weights || p.heads * p.N_q * p.N == 0) return status;
    return how.weights(s->ctx, p, stats, static_cast<T *>(s->weights));
}

struct form {
    template <class T> static size_t k1_work(const tarn_span *s)
    {
        return (2 * s->heads * s->N_q + ready_entries(s)) * sizeof(T);
    }
    template <class T> static size_t k2_work(const tarn_span *s)
    {
        return k1_work<T>(s);
    }
    template <class T> static tarn_status k1(tarn_span *s)
    {
        return run<T>(s, {average_k1<T>, weights_k1<T>});
    }
    template <class T, class P> static tarn_status k2(tarn_span *s)
    {
        return run<T>(s, {average_k2<T, P>, weights_k2<T, P>});
    }
};

} // namespace

extern "C" {
extern const tarn_ladder TARN_TABLE(sim, f32), TARN_TABLE(sim, f64);
const tarn_ladder TARN_TABLE(sim, f32) = two_rungs<form>::ladder_f32;
const tarn_ladder TARN_TABLE(sim, f64) = two_rungs<form>::ladder_f64;
}
