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

/* The names, NULL-terminated. */
const char *const *tarn_bench_names(void);

/* "accurate" or "fast". */
const char *tarn_bench_precision(const struct tarn_bench_case *of);

/* How many rows all operations have together. */
enum { TARN_BENCH_ROWS = 64 };

/* Measures the cases of one operation, or those that a quick run has, and the peak before
 * and after each. Adds to rows and *count. */
tarn_status tarn_bench_operation(tarn_context *ctx, struct tarn_machine *machine,
                                 const char *name, bool quick,
                                 struct tarn_bench_row *rows, size_t *count);

/* A row's speed in percent of the peak of its type; NaN if it has none, or it moved. */
double tarn_bench_percent(const struct tarn_machine *machine,
                          const struct tarn_bench_row *row);

/* Measures one case in float32 and in float64. */
tarn_status tarn_bench_run(tarn_context *ctx, const struct tarn_bench_case *of,
                           struct tarn_effort effort, struct tarn_bench_row rows[2]);

#endif
