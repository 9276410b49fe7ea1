/* timing.h: how long something takes, often enough to believe it. Internal.
 *
 * One thread is timed by its own CPU time: what other programs do on the same processor
 * does not count, what they do to caches and memory does. Several are timed by the wall. */
#ifndef TARN_TIMING_H
#define TARN_TIMING_H

#include "tarn.h"

/* How much time measuring may take, in seconds, and of how many rounds at most. */
struct tarn_effort {
    double seconds;
    size_t rounds;
};

struct tarn_timing {
    double median, min, max; /* seconds */
};

/* Calls once(data) over and over, 3 times or as often as the effort allows, until it fails. */
tarn_status tarn_bench_time(int threads, struct tarn_effort effort,
                            tarn_status (*once)(void *data), void *data,
                            struct tarn_timing *timing);

#endif
