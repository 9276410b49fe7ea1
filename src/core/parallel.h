/* parallel.h: one loop over independent items, on the threads of the context.
 * Internal. */
#ifndef TARN_PARALLEL_H
#define TARN_PARALLEL_H

#include "context.h"

/* Beyond this many threads the system, not tarn, would end the program. */
enum { TARN_MAX_THREADS = 1024 };

/* OMP_NUM_THREADS of the environment, else the processors that this process may use. */
int tarn_processors(void);

/* Ends the threads of a context. */
void tarn_pool_free(tarn_context *ctx);

/* Runs body(data, i) for i = 0..count-1, in any order, on ctx's threads, each of which
 * takes the next item when it is done with one. After a failure or an interrupt the
 * items not yet begun are skipped, and the status of the first item that failed is
 * returned. A body runs off the main thread: it neither allocates nor calls back into
 * the user's code nor sets messages; it returns TARN_EINTR when it saw
 * tarn_interrupted. Results must not depend on the order. */
tarn_status tarn_parallel(tarn_context *ctx, const char *function, size_t count,
                          tarn_status (*body)(void *data, size_t i), void *data);

#endif
