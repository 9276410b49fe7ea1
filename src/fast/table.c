/* table.c: the tuned operations of one element type on one instruction set. */
#include "fast/fast.h"

const struct tarn_operations FAST(tarn_fast) = {
    .features = FAST(tarn_fast_features),
    .sim = &FAST(tarn_fast_sim),
    .sim_grad = &FAST(tarn_fast_sim_grad),
    .assoc = &FAST(tarn_fast_assoc),
    .assoc_grad = &FAST(tarn_fast_assoc_grad),
    .prefix = {[TARN_CHUNKED] = &FAST(tarn_fast_prefix),
               [TARN_SEQUENTIAL] = &FAST(tarn_fast_prefix),
               [TARN_SCAN] = &FAST(tarn_fast_prefix)},
    .prefix_grad = &FAST(tarn_fast_prefix_grad),
    .rnn = &FAST(tarn_fast_rnn),
    .rnn_grad = &FAST(tarn_fast_prefix_grad),
};
