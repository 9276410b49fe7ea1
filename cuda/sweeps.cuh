/* sweeps.cuh: the gradient of the recurrence, token by token. Chapters 7 and 11.
 *
 * Two walks through time with one running state each (src/stages/prefix_grad.c has the whole
 * derivation): forwards S_i for the queries,
 *
 *     Gn_i = dout_i / den_i     gd_i = -(Gn_i . out_i)     dphi(q_i) = S_i Gn_i + gd_i z_i
 *
 * backwards R_i = sum_{j>=i} phi(q_j) Gn_j^T and r_i = sum_{j>=i} gd_j phi(q_j),
 *
 *     dphi(k_i) = R_i v_i + r_i     dv_i = R_i^T phi(k_i)
 *
 * It is rung k1 of both prefix_grad and rnn_grad: for backpropagation through time a network
 * has to keep or to recompute its states, but this recurrence only ever adds. */
#ifndef TARN_SWEEPS_CUH
#define TARN_SWEEPS_CUH

#include "cuda/walk.cuh"

namespace
{

/* What both walks are told; pointers are those of all heads. */
template <class T> struct sweep {
    size_t N, C, M, count;
    arrays<T> a;
    levels<const T> before, after; /* the initial state; dS and dz, or NULL */
    levels<T> running;             /* S, and then R */
    T *Gn, *gd;                    /* [N, M], [N] */
    levels<T> grad;                /* dS0 and dz0, or NULL */
};

/* to = from, entry by entry; an array that is NULL is 0. */
template <class T> __device__ inline void copy_entries(size_t n, const T *from, T *to)
{
    for (size_t e = threadIdx.x; e < n; e += blockDim.x) to[e] = from ? from[e] : T(0);
}

/* A head's own part of an array of all heads. */
template <class T> __device__ inline T *part_of(T *all, size_t h, size_t size)
{
    return all ? all + h * size : nullptr;
}

/* The running state of this block's head, begun with another state. */
template <class T>
__device__ inline levels<T> begin_with(const sweep<T> &w, levels<const T> from)
{
    const size_t h = blockIdx.x, in_S = w.C * w.M;
    const levels<T> s = levels_of(w.running, h, w.C, w.M);
    copy_entries(in_S, part_of(from.S, h, in_S), s.S);
    copy_entries(w.C, part_of(from.z, h, w.C), s.z);
    copy_entries(in_S, part_of(from.S_part, h, in_S), s.S_part);
    copy_entries(w.C, part_of(from.z_part, h, w.C), s.z_part);
    __syncthreads();
    return s;
}

/* S += f v^T, z += weight f. Thread: columns of S, entries of z; `full`: it is time to carry. */
template <class T>
__device__ inline void add_token(const sweep<T> &w, levels<T> s, const T *f, const T *v,
                                 T weight, bool full)
{
    for (size_t m = threadIdx.x; m < w.M; m += blockDim.x)
        for (size_t c = 0; c < w.C; c++) {
            const size_t e = c * w.M + m;
            s.S_part[e] += f[c] * v[m];
            if (full) carry(s.S_part[e], s.S[e]);
        }
    for (size_t c = threadIdx.x; c < w.C; c += blockDim.x) {
        s.z_part[c] += weight * f[c];
        if (full) carry(s.z_part[c], s.z[c]);
    }
}

/* f . column m of S */
template <class T>
__device__ inline T read_column(const sweep<T> &w, levels<T> s, const T *f, size_t m)
{
    T sum = 0;
    for (size_t c = 0; c < w.C; c++)
        sum += f[c] * (s.S[c * w.M + m] + s.S_part[c * w.M + m]);
    return sum;
}

/* row c of S . g, and the entry of z times `weight` */
template <class T>
__device__ inline T read_row(const sweep<T> &w, levels<T> s, const T *g, T weight,
                             size_t c)
{
    T sum = 0;
    for (size_t m = 0; m < w.M; m++)
        sum += (s.S[c * w.M + m] + s.S_part[c * w.M + m]) * g[m];
    return sum + weight * (s.z[c] + s.z_part[c]);
}

/* Block: one head; thread: columns m or rows c. The output of a token waits where its dv
 * will be.
 * Either walk goes three times over the state at each token, to add and to read it along
 * columns and along rows: 6 C M numbers, 8 C M flops. */
template <class T> __global__ void sweep_forward(sweep<T> w)
{
    const size_t h = blockIdx.x, t = threadIdx.x, threads = blockDim.x;
    const levels<T> s = begin_with(w, w.before);
    for (size_t i = h * w.N; i < (h + 1) * w.N; i++) {
        const T *q_i = w.a.q + i * w.C, *dout_i = w.a.dout + i * w.M;
        T *Gn_i = w.Gn + i * w.M, *out = w.a.dv + i * w.M;
        const bool full = ++w.count == block_of_sums;
        if (full) w.count = 0;
        add_token(w, s, w.a.k + i * w.C, w.a.v + i * w.M, T(1), full);
        __syncthreads();
        T sum = 0, gd = 0;
        for (size_t c = 0; c < w.C; c++) sum += q_i[c] * (s.z[c] + s.z_part[c]);
        const T den = denominator(sum, eps_of(w.a.eps_row, w.a.eps, i));
        for (size_t m = t; m < w.M; m += threads) {
            out[m] = divided(read_column(w, s, q_i, m), den);
            Gn_i[m] = divided(dout_i[m], den);
        }
        __syncthreads();
        for (size_t m = 0; m < w.M; m++) gd -= Gn_i[m] * out[m];
        if (t == 0) w.gd[i] = gd;
        for (size_t c = t; c < w.C; c += threads)
            w.a.dq[i * w.C + c] = den == 0 ? T(0) : read_row(w, s, Gn_i, gd, c);
        __syncthreads();
    }
}

template <class T> __global__ void sweep_backward(sweep<T> w)
{
    const size_t h = blockIdx.x, t = threadIdx.x, threads = blockDim.x;
    const levels<T> R = begin_with(w, w.after);
    size_t count = 0;
    for (size_t i = (h + 1) * w.N; i-- > h * w.N;) {
        const T *k_i = w.a.k + i * w.C, *v_i = w.a.v + i * w.M;
        const bool full = ++count % block_of_sums == 0;
        add_token(w, R, w.a.q + i * w.C, w.Gn + i * w.M, w.gd[i], full);
        __syncthreads();
        for (size_t c = t; c < w.C; c += threads)
            w.a.dk[i * w.C + c] = read_row(w, R, v_i, T(1), c);
        for (size_t m = t; m < w.M; m += threads)
            w.a.dv[i * w.M + m] = read_column(w, R, k_i, m);
        __syncthreads();
    }
    const levels<T> g = w.grad;
    const size_t in_S = w.C * w.M;
    for (size_t e = t; g.S && e < in_S; e += threads)
        g.S[h * in_S + e] = R.S[e] + R.S_part[e];
    for (size_t c = t; g.z && c < w.C; c += threads)
        g.z[h * w.C + c] = R.z[c] + R.z_part[c];
}

inline size_t sweeps_entries(const tarn_span *s)
{
    return levels_size(s->heads, s->C, s->M) + s->heads * s->N * (s->M + 1);
}
template <class T> size_t sweeps_work(const tarn_span *s)
{
    return sweeps_entries(s) * sizeof(T);
}

template <class T> sweep<T> sweep_of(const tarn_span *s)
{
    const arrays<T> a = arrays_in<T>(s);
    T *const Gn = a.work + levels_size(s->heads, s->C, s->M);
    return {s->N,
            s->C,
            s->M,
            s->count,
            a,
            read_only(levels_in<T>(s)),
            state_gradient<T>(s),
            levels_at(a.work, s->heads, s->C, s->M),
            Gn,
            Gn + s->heads * s->N * s->M,
            start_gradient<T>(s)};
}

template <class T> tarn_status sweeps(tarn_span *s)
{
    constexpr unsigned threads = 64;
    if (s->heads == 0) return TARN_OK;
    const sweep<T> w = sweep_of<T>(s);
    const unsigned blocks = grid_side(s->heads);
    const tarn_status status =
        launch(s->ctx, "sweep_forward", sweep_forward<T>, blocks, threads, 0, w);
    return status ? status
                  : launch(s->ctx, "sweep_backward", sweep_backward<T>, blocks, threads,
                           0, w);
}

} // namespace
#endif
