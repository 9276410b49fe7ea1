/* launch.c: a grid of blocks, run to its end. Chapter 11.
 *
 * What a GPU would refuse is refused: too many threads, too much shared memory, grids beyond
 * its limits. The blocks go to workers, threads of our own that keep their fibers' stacks
 * from one launch to the next and take one block after the other; the caller only waits, and
 * looks whether somebody wants to stop. */
#include "emu/inside.h"
#include "core/context.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct tarn_emu_settings tarn_emu_settings = {.seed = 1, .gpu = "sm_80"};

/* ---- What a GPU allows ------------------------------------------------------------------- */

/* Shared memory that a block may ask for, in KB; all else is the same on all of them. */
static const struct gpu {
    const char *name;
    unsigned shared_kb;
} gpus[] = {{"sm_75", 64},  {"sm_80", 163},  {"sm_86", 99}, {"sm_89", 99},
            {"sm_90", 227}, {"sm_100", 227}, {"sm_120", 99}};

enum { GPUS = sizeof gpus / sizeof gpus[0], MOST_YZ = 65535, MOST_BLOCK_Z = 64 };

const char *tarn_emu_gpu(size_t position)
{
    return position < GPUS ? gpus[position].name : NULL;
}

size_t tarn_emu_shared_limit(void)
{
    for (size_t i = 0; i < GPUS; i++)
        if (strcmp(gpus[i].name, tarn_emu_settings.gpu) == 0)
            return (size_t)gpus[i].shared_kb << 10;
    return (size_t)gpus[0].shared_kb << 10;
}

static tarn_status refuse(tarn_context *ctx, const struct tarn_emu_grid *l,
                          const char *what, size_t is, size_t limit)
{
    return tarn_fail(ctx, TARN_EDEVICE, "%s: launched with %s %zu, expected 1 to %zu",
                     l->kernel, what, is, limit);
}

static tarn_status too_much(tarn_context *ctx, const struct tarn_emu_grid *l,
                            const char *what, size_t is, size_t limit, const char *gpu)
{
    return tarn_fail(ctx, TARN_EDEVICE,
                     "%s: launched with %zu bytes of %s, expected at most %zu on %s",
                     l->kernel, is, what, limit, gpu);
}

/* Of a fixed size are here those arrays that are known before the kernel runs. */
static tarn_status check_shared(tarn_context *ctx, const struct tarn_emu_grid *l)
{
    const struct tarn_emu_module module = tarn_emu_find_module(l->body);
    const size_t fixed = tarn_emu_tls_shared(&module), limit = tarn_emu_shared_limit();
    if (fixed > TARN_EMU_FIXED_SHARED)
        return too_much(ctx, l, "__shared__ arrays", fixed, TARN_EMU_FIXED_SHARED,
                        "every GPU; DYN_SHARED may have more");
    if (l->shared > limit || fixed + l->shared > limit)
        return too_much(ctx, l, "shared memory", fixed + l->shared, limit,
                        tarn_emu_settings.gpu);
    return TARN_OK;
}

static tarn_status check_limits(tarn_context *ctx, const struct tarn_emu_grid *l)
{
    const struct tarn_emu_dim g = l->grid, b = l->block;
    const size_t threads = (size_t)b.x * b.y * b.z, x = 0x7fffffff;
    if (threads < 1 || threads > TARN_EMU_THREADS)
        return refuse(ctx, l, "threads in a block", threads, TARN_EMU_THREADS);
    if (b.z > MOST_BLOCK_Z) return refuse(ctx, l, "block.z", b.z, MOST_BLOCK_Z);
    if (g.x < 1 || g.x > x) return refuse(ctx, l, "grid.x", g.x, x);
    if (g.y < 1 || g.y > MOST_YZ) return refuse(ctx, l, "grid.y", g.y, MOST_YZ);
    if (g.z < 1 || g.z > MOST_YZ) return refuse(ctx, l, "grid.z", g.z, MOST_YZ);
    if (l->argument_bytes > TARN_EMU_ARGUMENTS)
        return too_much(ctx, l, "arguments", l->argument_bytes, TARN_EMU_ARGUMENTS,
                        "every GPU");
    return check_shared(ctx, l);
}

/* ---- Workers -------------------------------------------------------------------------------- */

enum { MOST_WORKERS = 64 };

/* All workers there are; they live as long as the process, asleep between launches. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    struct tarn_emu_worker *worker[MOST_WORKERS];
    pthread_t thread[MOST_WORKERS];
    unsigned count;
    unsigned wanted, busy; /* how many take part in this job, and still do */
    struct tarn_emu_job *job;
    uint64_t launches;
    bool over;   /* they are to end */
    pid_t owner; /* threads do not survive a fork */
} team = {.lock = PTHREAD_MUTEX_INITIALIZER,
          .work = PTHREAD_COND_INITIALIZER,
          .done = PTHREAD_COND_INITIALIZER};

/* The block that comes at a place of the order; random: in steps of a number that has no
 * factor in common with theirs, which comes to each of them once. */
static size_t block_at(const struct tarn_emu_job *job, size_t place)
{
    if (tarn_emu_settings.order == TARN_EMU_FORWARD) return place;
    if (tarn_emu_settings.order == TARN_EMU_REVERSED) return job->blocks - 1 - place;
    return (size_t)(((unsigned __int128)place * job->stride + job->start) %
                    job->blocks);
}

/* The position in the grid of a block, of all those that are to run. */
static size_t position_of(const struct tarn_emu_job *job, size_t block)
{
    const size_t x = job->launch->grid.x;
    return block / job->row * x + (x - job->row) + block % job->row;
}

static size_t common_factor(size_t a, size_t b)
{
    while (b) {
        const size_t rest = a % b;
        a = b, b = rest;
    }
    return a;
}

static void choose_order(struct tarn_emu_job *job)
{
    const uint64_t x = (tarn_emu_settings.seed + 1) * UINT64_C(0x9E3779B97F4A7C15);
    job->start = (size_t)(x >> 8) % job->blocks;
    job->stride = (size_t)(x >> 20) % job->blocks;
    while (common_factor(job->stride, job->blocks) != 1) job->stride++;
}

static void run_blocks(struct tarn_emu_worker *w, struct tarn_emu_job *job)
{
    const struct tarn_emu_grid *l = job->launch;
    w->job = job;
    tarn_emu_here.block_dim = l->block, tarn_emu_here.grid_dim = l->grid;
    if (l->argument_bytes) memcpy(w->arguments, l->arguments, l->argument_bytes);
    w->module = tarn_emu_find_module(l->body);
    while (!atomic_load(&job->failed) && !atomic_load(&job->stopped)) {
        const size_t next = atomic_fetch_add(&job->next, 1);
        if (next >= job->blocks) break;
        tarn_emu_run_block(w, position_of(job, block_at(job, next)));
    }
    w->job = NULL;
}

/* From here on nobody sends this worker a signal; one that is on its way arrives before the
 * system call ends, while its handler is still there. */
static void stop_listening(void)
{
    pthread_mutex_lock(&team.lock);
    tarn_emu_worker->taking_part = false;
    pthread_mutex_unlock(&team.lock);
    sched_yield();
}

/* A worker's life: sleep, take part, say so. Its number tells whether it is wanted. */
static void *work(void *number_as_pointer)
{
    const unsigned number = (unsigned)(uintptr_t)number_as_pointer;
    uint64_t last = 0;
    tarn_emu_worker = team.worker[number];
    const stack_t stack = {.ss_sp = tarn_emu_worker->signal_stack,
                           .ss_size = sizeof tarn_emu_worker->signal_stack};
    stack_t before; /* a sanitizer's, which it wants back */
    sigaltstack(&stack, &before);
    pthread_mutex_lock(&team.lock);
    for (;;) {
        while (!team.over &&
               (!team.job || team.launches == last || number >= team.wanted))
            pthread_cond_wait(&team.work, &team.lock);
        if (team.over) break;
        last = team.launches;
        struct tarn_emu_job *job = team.job;
        tarn_emu_worker->taking_part = true;
        pthread_mutex_unlock(&team.lock);
        run_blocks(tarn_emu_worker, job);
        stop_listening();
        pthread_mutex_lock(&team.lock);
        if (--team.busy == 0) pthread_cond_signal(&team.done);
    }
    pthread_mutex_unlock(&team.lock);
    sigaltstack(&before, NULL);
    return NULL;
}

/* A thread that takes no signals of the program's, only the faults that it makes. */
static bool start_thread(unsigned number)
{
    sigset_t all, old;
    sigfillset(&all);
    sigdelset(&all, SIGSEGV), sigdelset(&all, SIGBUS);
    sigdelset(&all, SIGFPE), sigdelset(&all, SIGILL);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    const int failed = pthread_create(&team.thread[number], NULL, work,
                                      (void *)(uintptr_t)number); /* NOLINT */
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return failed == 0;
}

static bool add_worker(void)
{
    struct tarn_emu_worker *w = aligned_alloc(64, (sizeof *w + 63) & ~(size_t)63);
    if (!w) return false;
    memset(w, 0, sizeof *w);
    team.worker[team.count] = w;
    if (tarn_fibers_new(w) && start_thread(team.count)) {
        team.count++;
        return true;
    }
    tarn_fibers_free(w);
    free(w);
    return false;
}

static bool gather(unsigned wanted)
{
    if (team.owner != getpid()) team.owner = getpid(), team.count = 0;
    while (team.count < wanted && add_worker()) {}
    return team.count > 0;
}

/* At the end of the process, or before the library is unloaded. */
__attribute__((destructor)) static void dismiss(void)
{
    if (team.owner != getpid() || team.job) return;
    pthread_mutex_lock(&team.lock);
    team.over = true;
    pthread_cond_broadcast(&team.work);
    pthread_mutex_unlock(&team.lock);
    for (unsigned i = 0; i < team.count; i++) {
        pthread_join(team.thread[i], NULL);
        tarn_fibers_free(team.worker[i]);
        free(team.worker[i]);
    }
    team.count = 0;
}

/* ---- A launch ---------------------------------------------------------------------------------- */

/* Waits for a while; false if the job is done. Called with the lock held. */
static bool wait_for(unsigned milliseconds)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += (long)milliseconds * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000, until.tv_nsec %= 1000000000;
    while (team.busy > 0)
        if (pthread_cond_timedwait(&team.done, &team.lock, &until) == ETIMEDOUT) break;
    return team.busy > 0;
}

/* Wakes the workers and waits for the last of them. One that does not stop when it is asked
 * to is in a loop without a barrier: it is told by a signal. */
static void run_job(tarn_context *ctx, struct tarn_emu_job *job, unsigned workers)
{
    enum { LOOK = 10 };
    pthread_mutex_lock(&team.lock);
    job->number = ++team.launches;
    team.job = job;
    team.wanted = team.busy = workers;
    pthread_cond_broadcast(&team.work);
    while (wait_for(LOOK)) {
        if (!tarn_interrupted(ctx) && !atomic_load(&job->failed)) continue;
        if (!atomic_exchange(&job->stopped, true)) continue;
        for (unsigned i = 0; i < workers; i++)
            if (team.worker[i]->taking_part) pthread_kill(team.thread[i], SIGSEGV);
    }
    team.job = NULL;
    pthread_mutex_unlock(&team.lock);
}

/* Accesses are looked at by one worker alone: what it finds is the same each time. */
static size_t choose_workers(tarn_context *ctx, const struct tarn_emu_job *job)
{
    tarn_emu_watch = (tarn_emu_settings.check ? TARN_WATCH_CHECK : 0) |
                     (tarn_emu_profiling() ? TARN_WATCH_PROFILE : 0);
    if (!tarn_emu_settings.check) tarn_emu_trust_all();
    size_t wanted = tarn_emu_watch ? 1 : (size_t)tarn_threads(ctx);
    if (wanted > job->blocks) wanted = job->blocks;
    return wanted < MOST_WORKERS ? wanted : MOST_WORKERS;
}

static tarn_status run_alone(tarn_context *ctx, struct tarn_emu_job *job)
{
    const struct tarn_emu_dim grid = job->launch->grid;
    const unsigned last = tarn_emu_settings.last_blocks;
    job->row = last && last < grid.x ? last : grid.x;
    job->blocks = (size_t)job->row * grid.y * grid.z;
    choose_order(job);
    const size_t wanted = choose_workers(ctx, job);
    if (!gather((unsigned)wanted))
        return tarn_fail(ctx, TARN_ENOMEM, "%s: no memory for a block of threads",
                         job->launch->kernel);
    tarn_emu_unlock(true);
    tarn_faults_catch();
    run_job(ctx, job, (unsigned)(wanted < team.count ? wanted : team.count));
    tarn_faults_release();
    tarn_emu_unlock(false);
    tarn_emu_watch = 0;
    if (atomic_load(&job->failed))
        return tarn_fail(ctx, TARN_EDEVICE, "%s", job->message);
    return atomic_load(&job->stopped) ? tarn_poll(ctx, job->launch->kernel) : TARN_OK;
}

tarn_status tarn_emu_launch(tarn_context *ctx, const struct tarn_emu_grid *l)
{
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
    struct tarn_emu_job job = {.launch = l, .ctx = ctx};
    tarn_status status = check_limits(ctx, l);
    if (!status) status = tarn_poll(ctx, l->kernel);
    if (status) return status;
    pthread_mutex_lock(&one_at_a_time);
    status = run_alone(ctx, &job);
    pthread_mutex_unlock(&one_at_a_time);
    return status;
}
