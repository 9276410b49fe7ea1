/* parallel.c: one loop over independent items, on the threads of the context.
 *
 * - A counter hands items out in order, so an item below a failed one has been handed
 *   out before it. Skipping only what lies above the lowest failure makes the status
 *   that is returned independent of timing: it is that of the first item that fails.
 * - The caller takes items like the others and waits for those alone that have begun one.
 *   On a busy machine a thread may be milliseconds late: then the loop is over without it.
 *   (OpenMP, whose regions end when every thread has passed through, would wait, and two
 *   threads would be slower than one.)
 * - Threads sleep between loops and never spin. They are made when the first loop wants
 *   them, and end with the context. Signals are the business of the threads of others.
 * - A process that was forked has the pool, but none of its threads: it does all itself. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "core/parallel.h"
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>

/* ---- One loop ------------------------------------------------------------------------ */

struct loop {
    tarn_context *ctx;
    tarn_status (*body)(void *data, size_t i);
    void *data;
    size_t count;
    atomic_size_t next;   /* item to be handed out */
    atomic_size_t failed; /* lowest item that failed, SIZE_MAX if none did */
    pthread_mutex_t lock; /* of the status */
    tarn_status status;   /* of the lowest item that failed */
};

static void note_failure(struct loop *loop, size_t i, tarn_status status)
{
    pthread_mutex_lock(&loop->lock);
    if (i < atomic_load(&loop->failed)) {
        atomic_store(&loop->failed, i);
        loop->status = status;
    }
    pthread_mutex_unlock(&loop->lock);
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

/* ---- The threads that help ------------------------------------------------------------ */

struct tarn_pool {
    pthread_mutex_t lock;
    pthread_cond_t begun, done; /* there is a loop; the last helper has left it */
    struct loop *loop;          /* NULL: none that one could still join */
    int wanted, active;         /* helpers that may join it, and that have */
    bool closing;
    int count;
    pthread_t thread[];
};

static void *help(void *data)
{
    struct tarn_pool *pool = data;
    pthread_mutex_lock(&pool->lock);
    while (!pool->closing) {
        if (!pool->loop || pool->wanted == 0) {
            pthread_cond_wait(&pool->begun, &pool->lock);
            continue;
        }
        struct loop *loop = pool->loop;
        pool->wanted--;
        pool->active++;
        pthread_mutex_unlock(&pool->lock);
        take_items(loop);
        pthread_mutex_lock(&pool->lock);
        if (--pool->active == 0) pthread_cond_signal(&pool->done);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* Makes a thread that no signal interrupts. */
static bool start_helper(struct tarn_pool *pool)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool ok = pthread_create(&pool->thread[pool->count], NULL, help, pool) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (ok) pool->count++;
    return ok;
}

/* The context's pool, with so many helpers if the system gives them; NULL without memory. */
static struct tarn_pool *pool_of(tarn_context *ctx, int helpers)
{
    if (ctx->pool == NULL) {
        struct tarn_pool *pool =
            calloc(1, sizeof *pool + TARN_MAX_THREADS * sizeof pool->thread[0]);
        if (pool == NULL) return NULL;
        pthread_mutex_init(&pool->lock, NULL);
        pthread_cond_init(&pool->begun, NULL);
        pthread_cond_init(&pool->done, NULL);
        ctx->pool = pool;
    }
    while (ctx->pool->count < helpers && start_helper(ctx->pool)) continue;
    return ctx->pool;
}

void tarn_pool_free(tarn_context *ctx)
{
    struct tarn_pool *pool = ctx->pool;
    if (pool == NULL) return;
    pthread_mutex_lock(&pool->lock);
    pool->closing = true;
    pthread_cond_broadcast(&pool->begun);
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < pool->count; i++) pthread_join(pool->thread[i], NULL);
    pthread_mutex_destroy(&pool->lock);
    pthread_cond_destroy(&pool->begun);
    pthread_cond_destroy(&pool->done);
    free(pool);
    ctx->pool = NULL;
}

/* Offers the loop to helpers, does what there is to do, and waits for who has joined. */
static void take_items_together(struct tarn_pool *pool, struct loop *loop, int helpers)
{
    pthread_mutex_lock(&pool->lock);
    pool->loop = loop;
    pool->wanted = helpers;
    for (int i = 0; i < helpers; i++) pthread_cond_signal(&pool->begun);
    pthread_mutex_unlock(&pool->lock);

    take_items(loop);

    pthread_mutex_lock(&pool->lock);
    pool->loop = NULL;
    while (pool->active > 0) pthread_cond_wait(&pool->done, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

/* ---- For the others -------------------------------------------------------------------- */

int tarn_processors(void)
{
    const char *wanted =
        getenv("OMP_NUM_THREADS"); /* as programs of its kind have it */
    const int number = wanted ? atoi(wanted) : 0;
    cpu_set_t set;
    if (number > 0) return number;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

tarn_status tarn_parallel(tarn_context *ctx, const char *function, size_t count,
                          tarn_status (*body)(void *data, size_t i), void *data)
{
    struct loop loop = {.ctx = ctx,
                        .body = body,
                        .data = data,
                        .count = count,
                        .lock = PTHREAD_MUTEX_INITIALIZER,
                        .status = TARN_OK};
    atomic_init(&loop.next, 0);
    atomic_init(&loop.failed, SIZE_MAX);
    const int threads = count < (size_t)ctx->threads ? (int)count : ctx->threads;
    struct tarn_pool *pool = threads > 1 ? pool_of(ctx, threads - 1) : NULL;
    if (pool != NULL && pool->loop == NULL)
        take_items_together(pool, &loop, threads - 1);
    else
        take_items(&loop);
    if (loop.status == TARN_EINTR)
        return tarn_fail(ctx, TARN_EINTR, "%s: interrupted", function);
    return loop.status;
}
