/* rnn_grad.cu: the gradient of stage 4 on a device. Chapters 7 and 11.
 *
 * Backpropagation through time goes back token by token, and needs at each the state that it
 * read. A network keeps all of them or computes them again; this recurrence only adds, so two
 * walks with one running state each are enough (sweeps.cuh). The ladder:
 *
 *   k1  the two walks: one block per head, a thread per column or row of the state
 *
 * Who has the whole sequence has no reason to go on from here: prefix_grad computes the same,
 * in parallel. */
#include "cuda/ladder.cuh"
#include "cuda/sweeps.cuh"

namespace
{

constexpr tarn_rung rungs_f32[] = {rung("k1", sweeps<float>, sweeps_work<float>)};
constexpr tarn_rung rungs_f64[] = {rung("k1", sweeps<double>, sweeps_work<double>)};

} // namespace

extern "C" {
extern const tarn_ladder TARN_TABLE(rnn_grad, f32), TARN_TABLE(rnn_grad, f64);
const tarn_ladder TARN_TABLE(rnn_grad, f32) = {rungs_f32, 1, 0};
const tarn_ladder TARN_TABLE(rnn_grad, f64) = {rungs_f64, 1, 0};
}
