/* operations.h: the operations that are timed, and what was found. Internal.
 *
 *   sim_softmax, sim_softmax_causal   stage 1      assoc         stage 2
 *   prefix, prefix_grad               stage 3      rnn_step      stage 4, one token
 *   phi_elu1                          stage 0 */
#ifndef TARN_OPERATIONS_H
#define TARN_OPERATIONS_H

#include "bench/machine.h"

/* One operation at one size: q, k [B, H, N, D] and v [B, H, N, M], M = D. */
struct tarn_bench_case {
    const char *name;
    tarn_precision precision;
    size_t B, H, N, D;
    bool quick; /* part of a quick run as well */
};

struct tarn_bench_row {
    const struct tarn_bench_case *of;
    tarn_dtype dtype;
    struct tarn_timing seconds;
    double
        speed; /* operations per second, for phi_elu1 elements; of the fastest round */
    bool counts; /* they are operations of the sums: a share of the peak makes sense */
    double rms_error; /* against plain float64, relative to the rms of what is right */
};

/* All cases there are, in the order in which they are run, grouped by name; NULL past the
 * last. */
const struct tarn_bench_case *tarn_bench_case_at(size_t position);

/* The names, NULL-terminated. */
const char *const *tarn_bench_names(void);

/* Measures one case in float32 and in float64. */
tarn_status tarn_bench_run(tarn_context *ctx, const struct tarn_bench_case *of,
                           struct tarn_effort effort, struct tarn_bench_row rows[2]);

#endif
