/* walk.cuh: the recurrence itself on a device, token by token. Chapters 5 and 11.
 *
 *     s_i = s_{i-1} + phi(k_i) v_i^T     z_i = z_{i-1} + phi(k_i)       (eqs 18, 19)
 *     out_i = phi(q_i)^T s_i / (phi(q_i)^T z_i + eps)                   (eq 20)
 *
 * One thread per column of s. It is rung k1 of both prefix and rnn: what one reads first, and
 * what all other rungs are compared with. Sums have two levels, as everywhere. */
#ifndef TARN_WALK_CUH
#define TARN_WALK_CUH

#include "cuda/sums.cuh"

namespace
{

/* What a span points to, by its type. */
template <class T> struct arrays {
    const T *q, *k, *v, *dout, *eps_row;
    T *out, *dq, *dk, *dv, *work;
    T eps;
};

template <class T> arrays<T> arrays_in(const tarn_span *s)
{
    return {static_cast<const T *>(s->q),
            static_cast<const T *>(s->k),
            static_cast<const T *>(s->v),
            static_cast<const T *>(s->dout),
            static_cast<const T *>(s->eps_row),
            static_cast<T *>(s->out),
            static_cast<T *>(s->dq),
            static_cast<T *>(s->dk),
            static_cast<T *>(s->dv),
            static_cast<T *>(s->work),
            static_cast<T>(s->eps)};
}

/* The two levels of one head's state. */
template <class T> struct levels {
    T *S, *z, *S_part, *z_part; /* [C, M], [C] */
};

template <class T> levels<const T> read_only(levels<T> s)
{
    return {s.S, s.z, s.S_part, s.z_part};
}

template <class T> levels<T> levels_in(const tarn_span *s)
{
    return {static_cast<T *>(s->S), static_cast<T *>(s->z), static_cast<T *>(s->S_part),
            static_cast<T *>(s->z_part)};
}

/* The gradient that arrives at the final state, and where that of the initial one goes: one
 * level each, either may be NULL. */
template <class T> levels<const T> state_gradient(const tarn_span *s)
{
    return {static_cast<const T *>(s->dS), static_cast<const T *>(s->dz), nullptr,
            nullptr};
}
template <class T> levels<T> start_gradient(const tarn_span *s)
{
    return {static_cast<T *>(s->dS0), static_cast<T *>(s->dz0), nullptr, nullptr};
}

template <class T>
__device__ inline levels<T> levels_of(levels<T> all, size_t h, size_t C, size_t M)
{
    return {all.S + h * C * M, all.z + h * C, all.S_part + h * C * M,
            all.z_part + h * C};
}

/* Two levels in plain memory: S of all heads, then z, S_part, z_part. */
inline size_t levels_size(size_t heads, size_t C, size_t M)
{
    return 2 * heads * (C * M + C);
}
template <class T> levels<T> levels_at(T *memory, size_t heads, size_t C, size_t M)
{
    const size_t in_S = heads * C * M, in_z = heads * C;
    return {memory, memory + in_S, memory + in_S + in_z, memory + 2 * in_S + in_z};
}

//> region walk
/* Block: one head; thread: columns m = t, t + 64, .. of s, entries c of z
 * likewise. A token reads both levels of s and writes one: 3 C M numbers, from
 * the cache if they fit, for 5 C M flops; every thread reads all of z.
 * `before` tokens are in the partial sums already. */
template <class T>
__global__ void walk(size_t N, size_t C, size_t M, size_t before, const T *q,
                     const T *k, const T *v, T eps, const T *eps_row,
                     levels<T> all_heads, T *out)
{
    const size_t h = blockIdx.x, t = threadIdx.x, threads = blockDim.x;
    const levels<T> s = levels_of(all_heads, h, C, M);
    for (size_t i = h * N; i < (h + 1) * N; i++) {
        const T *q_i = q + i * C, *k_i = k + i * C;
        const bool full = ++before == block_of_sums;
        for (size_t c = t; c < C; c += threads) {
            s.z_part[c] += k_i[c];
            if (full) carry(s.z_part[c], s.z[c]);
        }
        __syncthreads();
        T sum = 0;
        for (size_t c = 0; c < C; c++) sum += q_i[c] * (s.z[c] + s.z_part[c]);
        const T den = denominator(sum, eps_of(eps_row, eps, i));
        for (size_t m = t; m < M; m += threads) {
            T num = 0;
            for (size_t c = 0; c < C; c++) {
                T &total = s.S[c * M + m], &part = s.S_part[c * M + m];
                part += k_i[c] * v[i * M + m];
                if (full) carry(part, total);
                num += q_i[c] * (total + part);
            }
            out[i * M + m] = divided(num, den);
        }
        if (full) before = 0;
        __syncthreads();
    }
}
//< region walk

template <class T> tarn_status walk_run(tarn_span *s)
{
    constexpr unsigned threads = 64;
    if (s->N == 0 || s->heads == 0) return TARN_OK;
    const arrays<T> a = arrays_in<T>(s);
    const tarn_status status =
        launch(s->ctx, "walk", walk<T>, grid_side(s->heads), threads, 0, s->N, s->C,
               s->M, s->count, a.q, a.k, a.v, a.eps, a.eps_row, levels_in<T>(s), a.out);
    s->count = (s->count + s->N) % block_of_sums;
    return status;
}

} // namespace
#endif
