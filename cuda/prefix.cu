/* prefix.cu: stage 3 on a device, causal attention as a prefix sum. Chapters 9 and 11.
 *
 *     S_i = sum_{j<=i} phi(k_j) v_j^T      z_i = sum_{j<=i} phi(k_j)      (eqs 10, 11)
 *     out_i = phi(q_i)^T S_i / (phi(q_i)^T z_i + eps)                     (eq 12)
 *
 * The ladder:
 *
 *   k1  one thread per column of the state walks through time: the equations as they stand
 *       (walk.cuh). Parallel over heads and columns only; a GPU is nearly idle.
 *   k2  parallel in time, in three phases: the sum of each chunk by itself, the prefixes of
 *       these sums, then the outputs of all chunks at once, each from its own prefix and a
 *       small masked attention inside (chunks.cuh). All of it is products of squares.
 *
 * q and k are features. */
#include "cuda/chunks.cuh"

namespace
{

/* ---- k2: three phases ------------------------------------------------------------------------
 *
 * A chunk is one square. Traffic, in arrays of N rows: phase 1 reads k and v, phase 2 reads and
 * writes a state per chunk (with C = M = L as much as k or v), phase 3 reads q, k, v and a
 * state and writes out: 10 passes where 4 would be the least. Flops: 4 N C M for the states,
 * N L (C + M) inside the chunks, half of them for nothing. */

template <class T> size_t k2_work(const tarn_span *s)
{
    return states_size(chunks_of<T>(s, 1)) * sizeof(T);
}

template <class T> tarn_status k2(tarn_span *s)
{
    const chunks d = chunks_of<T>(s, 1);
    const arrays<T> a = arrays_in<T>(s);
    const levels<T> state = levels_in<T>(s);
    if (d.heads * d.count == 0) return TARN_OK;
    tarn_status status = sum_chunks<T>(s->ctx, d, a.k, a.v, nullptr, a.work);
    if (!status) status = scan(s->ctx, d, false, read_only(state), state, a.work);
    if (!status) status = output_chunks<T>(s, d, a.work, a.out, nullptr);
    s->count = 0;
    return status;
}

/* ---- The ladder --------------------------------------------------------------------------- */

const tarn_rung rungs_f32[] = {{"k1", walk_run<float>, nullptr},
                               {"k2", k2<float>, k2_work<float>}};
const tarn_rung rungs_f64[] = {{"k1", walk_run<double>, nullptr},
                               {"k2", k2<double>, k2_work<double>}};

} // namespace

extern "C" {
extern const tarn_ladder TARN_TABLE(prefix, f32), TARN_TABLE(prefix, f64);
const tarn_ladder TARN_TABLE(prefix, f32) = {rungs_f32, 2, 1};
const tarn_ladder TARN_TABLE(prefix, f64) = {rungs_f64, 2, 1};
}
