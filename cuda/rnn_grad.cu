/* rnn_grad.cu: the gradient of stage 4 on a device. Chapters 7 and 11.
 *
 * Backpropagation through time goes back token by token, and needs at each the state that it
 * read. A network keeps all of them or computes them again; this recurrence only adds, so
 * walks with one running state are enough (sweeps.cuh has the equations). The ladder:
 *
 *   k1  two walks: one block per head, a thread per column or row of a state in memory
 *   k2  four runs, each with its state in registers (held.cuh); for C and M below 256
 *
 * Who has the whole sequence has no reason to go on from here: prefix_grad computes the same,
 * in parallel. */
#include "cuda/held.cuh"
#include "cuda/ladder.cuh"
#include "cuda/row_terms.cuh"
#include "cuda/sweeps.cuh"

namespace
{

/* ---- k2 -----------------------------------------------------------------------------------
 *
 * A walk of k1 reads its state along columns and along rows, which no layout of registers
 * serves alike. Here every result has a run of its own, that has the result's entries as lanes:
 *
 *     run      f          g        h          z is        walks
 *     out      phi(k)     v        phi(q)     a column    forwards
 *     dphi(q)  [v | 1]    phi(k)   [Gn | gd]  a row       forwards
 *     dphi(k)  [Gn | gd]  phi(q)   [v | 1]    a row       backwards
 *     dv       phi(q)     Gn       phi(k)     -           backwards
 *
 * Gn and gd come from out and its denominators in between (row_terms.cuh). Bytes, in arrays of
 * N rows with C = M = 64: 6 for each run, as two blocks of columns read f and h, and 3 for Gn,
 * 27 of them, where k1 moves 12 C M numbers at each token, 768 of them. Flops: 20 C M a token,
 * 4 more than k1 for the states that are made twice. */

template <class T> struct workspace {
    T *Gn, *gd, *dens; /* [heads, N, M], [heads, N] twice */
};
template <class T> workspace<T> workspace_in(const tarn_span *s)
{
    T *const Gn = static_cast<T *>(s->work), *const gd = Gn + s->heads * s->N * s->M;
    return {Gn, gd, gd + s->heads * s->N};
}
template <class T> size_t k2_work(const tarn_span *s)
{
    return s->heads * s->N * (s->M + 2) * sizeof(T);
}

/* The run whose rows are f and h of width A, and whose columns are g and the result. */
template <class T>
held_run<T> gradient_run(const tarn_span *s, size_t A, size_t B, const T *f, const T *g,
                         const T *h, T *to)
{
    held_run<T> d = {};
    d.heads = s->heads, d.N = s->N, d.A = A, d.B = B;
    d.f = f, d.g = g, d.h = h, d.out = to;
    return d;
}

template <class T> held_run<T> query_run(const tarn_span *s, const workspace<T> &w)
{
    const arrays<T> a = arrays_in<T>(s);
    const T *const Gn = w.Gn;
    held_run<T> d = gradient_run(s, s->M, s->C, a.v, a.k, Gn, a.dq);
    d.z = ROW_EDGE, d.h_edge = w.gd, d.dens = w.dens;
    d.turned = true, d.before = read_only(levels_in<T>(s)), d.count = s->count;
    return d;
}

/* Its last state is the gradient of the initial one. */
template <class T> held_run<T> key_run(const tarn_span *s, const workspace<T> &w)
{
    const arrays<T> a = arrays_in<T>(s);
    const T *const Gn = w.Gn;
    held_run<T> d = gradient_run(s, s->M, s->C, Gn, a.q, a.v, a.dk);
    d.z = ROW_EDGE, d.f_edge = w.gd, d.backwards = true;
    d.turned = true, d.before = state_gradient<T>(s), d.after = start_gradient<T>(s);
    return d;
}

template <class T> held_run<T> value_run(const tarn_span *s, const workspace<T> &w)
{
    const arrays<T> a = arrays_in<T>(s);
    const T *const Gn = w.Gn;
    held_run<T> d = gradient_run(s, s->C, s->M, a.q, Gn, a.k, a.dv);
    d.before = state_gradient<T>(s), d.backwards = true;
    return d;
}

template <class T> tarn_status k2(tarn_span *s)
{
    const workspace<T> w = workspace_in<T>(s);
    const levels<T> nowhere = {nullptr, nullptr, nullptr, nullptr};
    const T *const dout = static_cast<const T *>(s->dout);
    tarn_status status =
        run_held(s->ctx, "rnn_grad out", reading_run(s, w.Gn, w.dens, nowhere));
    if (!status)
        status =
            find_row_terms<T>(s->ctx, s->heads * s->N, s->M, dout, w.dens, w.Gn, w.gd);
    if (!status) status = run_held(s->ctx, "rnn_grad dq", query_run(s, w));
    if (!status) status = run_held(s->ctx, "rnn_grad dk", key_run(s, w));
    if (!status) status = run_held(s->ctx, "rnn_grad dv", value_run(s, w));
    return status;
}

/* The rows of each state, with an edge, are those of all warps together. */
template <class T> tarn_fit k2_fit(const tarn_span *s)
{
    const size_t most = held<T>::most_rows;
    return s->C < most && s->M < most ? TARN_FITS : TARN_TOO_LARGE;
}

/* ---- The ladder --------------------------------------------------------------------------- */

template <class T> constexpr tarn_rung k1_rung = rung("k1", sweeps<T>, sweeps_work<T>);

template <class T> constexpr tarn_rung k2_rung(const char *limit)
{
    return rung_up_to(rung("k2", k2<T>, k2_work<T>), k2_fit<T>, &k1_rung<T>, limit);
}

constexpr tarn_rung rungs_f32[] = {k1_rung<float>, k2_rung<float>("C and M up to 255")};
constexpr tarn_rung rungs_f64[] = {k1_rung<double>,
                                   k2_rung<double>("C and M up to 127")};

} // namespace

extern "C" {
extern const tarn_ladder TARN_TABLE(rnn_grad, f32), TARN_TABLE(rnn_grad, f64);
const tarn_ladder TARN_TABLE(rnn_grad, f32) = {rungs_f32, 2, 1};
const tarn_ladder TARN_TABLE(rnn_grad, f64) = {rungs_f64, 2, 1};
}
