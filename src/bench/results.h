/* results.h: what one run of tarn-bench has found, and the three ways to show it. Internal.
 *
 * A share of the peak is shown only if the peak held still over the whole run. */
#ifndef TARN_RESULTS_H
#define TARN_RESULTS_H

#include "bench/operations.h"
#include <stdio.h>

struct tarn_bench_results {
    struct tarn_machine machine;
    struct tarn_bench_row rows[TARN_BENCH_ROWS];
    size_t count;
};

/* For people, in 80 columns. */
void tarn_bench_table(const struct tarn_bench_results *r, FILE *out);

/* For programs. */
void tarn_bench_json(const struct tarn_bench_results *r, FILE *out);

/* An earlier run, as --json has written it; NULL after a complaint on stderr. */
struct cJSON;
struct cJSON *tarn_bench_earlier(const char *path);

/* Ratios to it, each speed being taken relative to its own run's peak; ends `earlier`. */
void tarn_bench_compare(const struct tarn_bench_results *r, struct cJSON *earlier,
                        FILE *out);

#endif
