/* assoc_grad.cu: the gradient of stage 2 on a device. Chapters 7 and 11.
 *
 * Eqs 13-15 without a mask, the denominator's path included: with Gn_i = dout_i / den_i and
 * gd_i = -(Gn_i . out_i), every key gets the same sums over the queries,
 *
 *     R = sum_i phi(q_i) Gn_i^T     r = sum_i gd_i phi(q_i)
 *
 *     dphi(q_i) = S Gn_i + gd_i z     dphi(k_j) = R v_j + r     dv_j = R^T phi(k_j)
 *
 * Two sums and four meetings of rows with them (assoc.cuh), 6 (N + N_q) C M flops a head
 * altogether; the rungs are those of assoc.cu. q and k are features. */
#include "cuda/assoc.cuh"
#include "cuda/ladder.cuh"
#include "cuda/row_terms.cuh"

namespace
{

/* Where things lie in the work. */
template <class T> struct workspace {
    sums<T> S, R;
    T *Gn, *gd, *dens, *states;
};

template <class T> workspace<T> workspace_of(const tarn_span *s, const chunks &d)
{
    const size_t rows = s->heads * s->N_q;
    T *memory = static_cast<T *>(s->work);
    const sums<T> S = sums_at(memory, d), R = sums_at(memory, d);
    T *const gd = memory + rows * s->M, *const dens = gd + rows;
    return {S, R, memory, gd, dens, dens + rows};
}

/* What goes back to queries and keys: products with S or R, for N rows a head. */
template <class T> meeting<T> query_gradient(const tarn_span *s, const workspace<T> &w)
{
    const arrays<T> a = arrays_in<T>(s);
    return {s->heads, s->N_q, s->M, s->C,   w.Gn,  {w.S.S, w.S.z}, a.dq,
            nullptr,  true,   w.gd, w.dens, false, a.eps,          nullptr};
}
template <class T> meeting<T> key_gradient(const tarn_span *s, const workspace<T> &w)
{
    const arrays<T> a = arrays_in<T>(s);
    return {s->heads,   s->N, s->M,    s->C,    a.v,   {w.R.S, w.R.z}, a.dk,
            s->lengths, true, nullptr, nullptr, false, a.eps,          nullptr};
}
template <class T> meeting<T> value_gradient(const tarn_span *s, const workspace<T> &w)
{
    const arrays<T> a = arrays_in<T>(s);
    return {s->heads,   s->N,  s->C,    s->M,    a.k,   {w.R.S, w.R.z}, a.dv,
            s->lengths, false, nullptr, nullptr, false, a.eps,          nullptr};
}

template <class T> tarn_status run(tarn_span *s, const assoc_rung<T> &rung)
{
    const arrays<T> a = arrays_in<T>(s);
    const chunks keys = pieces_of<T>(s, s->N, s->lengths);
    const chunks queries = pieces_of<T>(s, s->N_q, nullptr);
    const workspace<T> w = workspace_of<T>(s, keys);
    T *const one = nullptr;
    tarn_status status = rung.sum({s->ctx, keys, w.states}, a.k, a.v, one, w.S);
    if (!status) status = rung.meet(s->ctx, reading(s, w.S, w.Gn, w.dens));
    if (!status)
        status = find_row_terms<T>(s->ctx, s->heads * s->N_q, s->M, a.dout, w.dens,
                                   w.Gn, w.gd);
    if (!status) status = rung.meet(s->ctx, query_gradient(s, w));
    if (!status) status = rung.sum({s->ctx, queries, w.states}, a.q, w.Gn, w.gd, w.R);
    if (!status) status = rung.meet(s->ctx, key_gradient(s, w));
    if (!status) status = rung.meet(s->ctx, value_gradient(s, w));
    return status;
}

/* ---- The ladder ------------------------------------------------------------------------------ */

struct form {
    template <class T> static tarn_status k1(tarn_span *s)
    {
        return run<T>(s, assoc_by_entry<T>());
    }
    template <class T, class P> static tarn_status k2(tarn_span *s)
    {
        return run<T>(s, assoc_by_square<T, P>());
    }
    template <class T> static size_t k1_work(const tarn_span *s)
    {
        const size_t states = 2 * s->heads * (s->C * s->M + s->C);
        return (states + s->heads * s->N_q * (s->M + 2)) * sizeof(T);
    }
    template <class T> static size_t k2_work(const tarn_span *s)
    {
        const size_t keys = states_size(pieces_of<T>(s, s->N, nullptr));
        const size_t queries = states_size(pieces_of<T>(s, s->N_q, nullptr));
        return k1_work<T>(s) + (keys > queries ? keys : queries) * sizeof(T);
    }
};

} // namespace

extern "C" {
extern const tarn_ladder TARN_TABLE(assoc_grad, f32), TARN_TABLE(assoc_grad, f64);
const tarn_ladder TARN_TABLE(assoc_grad, f32) = two_rungs<form>::ladder_f32;
const tarn_ladder TARN_TABLE(assoc_grad, f64) = two_rungs<form>::ladder_f64;
}
