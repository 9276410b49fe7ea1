/* timing.c: how long something takes. See timing.h. */
#include "bench/timing.h"
#include <stdlib.h>
#include <time.h>

enum { FEWEST = 3, MOST = 1000 };

static double clock_of(int threads)
{
    struct timespec t;
    clock_gettime(threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

tarn_status tarn_bench_time(int threads, struct tarn_effort effort,
                            tarn_status (*once)(void *data), void *data,
                            struct tarn_timing *timing)
{
    double seconds[MOST], spent = 0;
    size_t n = 0;
    while (n < FEWEST || (n < effort.rounds && n < MOST && spent < effort.seconds)) {
        const double start = clock_of(threads);
        tarn_status status = once(data);
        if (status != TARN_OK) return status;
        spent += seconds[n++] = clock_of(threads) - start;
    }
    qsort(seconds, n, sizeof *seconds, by_size);
    *timing =
        (struct tarn_timing){.min = seconds[0],
                             .max = seconds[n - 1],
                             .median = (seconds[(n - 1) / 2] + seconds[n / 2]) / 2};
    return TARN_OK;
}
