/* parallel.c: one loop over independent items, on the threads of the context.
 *
 * - A counter hands items out in order, so an item below a failed one has been handed
 *   out before it. Skipping only what lies above the lowest failure makes the status
 *   that is returned independent of timing: it is that of the first item that fails.
 * - A loop of OpenMP's own would go through all the items that are left after a
 *   failure, which takes for ever in a view that repeats one element 2^60 times.
 * - Without OpenMP, and where one thread is enough, this is a plain loop. */
#include "core/parallel.h"
#ifdef _OPENMP
#include <omp.h>
#endif

struct loop {
    tarn_context *ctx;
    tarn_status (*body)(void *data, size_t i);
    void *data;
    size_t count;
    atomic_size_t next;   /* item to be handed out */
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

/* What each thread does: takes items until there are none, or one below has failed. */
static void take_items(struct loop *loop)
{
    for (;;) {
        size_t i = atomic_fetch_add(&loop->next, 1);
        if (i >= loop->count || i > atomic_load(&loop->failed)) return;
        tarn_status status =
            tarn_interrupted(loop->ctx) ? TARN_EINTR : loop->body(loop->data, i);
        if (status != TARN_OK) note_failure(loop, i, status);
    }
}

static void take_items_together(struct loop *loop, int threads)
{
#ifdef _OPENMP
#pragma omp parallel num_threads(threads)
#else
    (void)threads;
#endif
    take_items(loop);
}

tarn_status tarn_parallel(tarn_context *ctx, const char *function, size_t count,
                          tarn_status (*body)(void *data, size_t i), void *data)
{
    struct loop loop = {
        .ctx = ctx, .body = body, .data = data, .count = count, .status = TARN_OK};
    atomic_init(&loop.next, 0);
    atomic_init(&loop.failed, SIZE_MAX);
    int threads = count < (size_t)ctx->threads ? (int)count : ctx->threads;
    if (threads > 1)
        take_items_together(&loop, threads);
    else
        take_items(&loop);
    if (loop.status == TARN_EINTR)
        return tarn_fail(ctx, TARN_EINTR, "%s: interrupted", function);
    return loop.status;
}
