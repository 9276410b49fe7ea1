/* parallel.c: one loop over independent items, on the threads of the context.
 *
 * - Items are handed out in order, so an item below a failed one has been handed out
 *   before it. Skipping only what lies above the lowest failure makes the status that is
 *   returned independent of timing: it is that of the first item that fails.
 * - Without OpenMP, and where one thread is enough, this is a plain loop. */
#include "core/parallel.h"
#ifdef _OPENMP
#include <omp.h>
#endif

struct loop {
    tarn_context *ctx;
    tarn_status (*body)(void *data, size_t i);
    void *data;
    atomic_size_t failed; /* lowest item that failed, SIZE_MAX if none did */
    tarn_status status;   /* its status */
};

int tarn_processors(void)
{
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}

static void note_failure(struct loop *loop, size_t i, tarn_status status)
{
#ifdef _OPENMP
#pragma omp critical(tarn_parallel_failure)
#endif
    if (i < atomic_load(&loop->failed)) {
        atomic_store(&loop->failed, i);
        loop->status = status;
    }
}

static void run_item(struct loop *loop, size_t i)
{
    if (i > atomic_load_explicit(&loop->failed, memory_order_relaxed)) return;
    tarn_status status =
        tarn_interrupted(loop->ctx) ? TARN_EINTR : loop->body(loop->data, i);
    if (status != TARN_OK) note_failure(loop, i, status);
}

static void run_alone(struct loop *loop, size_t count)
{
    for (size_t i = 0; i < count && loop->status == TARN_OK; i++) run_item(loop, i);
}

static void run_together(struct loop *loop, size_t count, int threads)
{
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (size_t i = 0; i < count; i++) run_item(loop, i);
#else
    (void)threads;
    run_alone(loop, count);
#endif
}

tarn_status tarn_parallel(tarn_context *ctx, const char *function, size_t count,
                          tarn_status (*body)(void *data, size_t i), void *data)
{
    struct loop loop = {.ctx = ctx, .body = body, .data = data, .status = TARN_OK};
    atomic_init(&loop.failed, SIZE_MAX);
    int threads = count < (size_t)ctx->threads ? (int)count : ctx->threads;
    if (threads > 1)
        run_together(&loop, count, threads);
    else
        run_alone(&loop, count);
    if (loop.status == TARN_EINTR)
        return tarn_fail(ctx, TARN_EINTR, "%s: interrupted", function);
    return loop.status;
}
