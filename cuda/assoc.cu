/* assoc.cu: stage 2 on a device, the product re-associated. Chapters 3 and 11.
 *
 *     out_i = phi(q_i)^T S / (phi(q_i).z + eps)       S, z summed over all keys (eqs 4-6)
 *
 * The ladder (assoc.cuh):
 *
 *   k1    one thread an entry: of S and z, then of the output
 *   k2    the keys in pieces, all at once, and products of squares: 2 (N + N_q) C M flops a
 *         head, and in arrays of N rows (for C, M up to 64) k, v, q and out once each
 *   tf32  k2 with its products on tensor cores, and bf16; float only, and only if it is asked
 *         for. z and the denominators are what they are in k2
 *
 * q and k are features. */
#include "cuda/assoc.cuh"
#include "cuda/ladder.cuh"

namespace
{

template <class T> tarn_status run(tarn_span *s, const assoc_rung<T> &rung)
{
    const arrays<T> a = arrays_in<T>(s);
    const chunks d = pieces_of<T>(s, s->N, s->lengths);
    T *memory = a.work, *const none = nullptr;
    const sums<T> all = sums_at(memory, d);
    const tarn_status status = rung.sum({s->ctx, d, memory}, a.k, a.v, none, all);
    return status ? status : rung.meet(s->ctx, reading(s, all, a.out, none));
}

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
        const chunks d = pieces_of<T>(s, s->N, s->lengths);
        return d.heads * state_size(d) * sizeof(T);
    }
    template <class T> static size_t k2_work(const tarn_span *s)
    {
        return k1_work<T>(s) +
               states_size(pieces_of<T>(s, s->N, s->lengths)) * sizeof(T);
    }
};

} // namespace

extern "C" {
extern const tarn_ladder TARN_TABLE(assoc, f32), TARN_TABLE(assoc, f64);
const tarn_ladder TARN_TABLE(assoc, f32) = two_rungs<form>::ladder_f32;
const tarn_ladder TARN_TABLE(assoc, f64) = two_rungs<form>::ladder_f64;
}
