/* block.c: one block of CUDA threads. Chapter 11.
 *
 * A fiber runs until it has to wait; then the switch goes straight to the next that is ready.
 * Where none is, the block is at an end or stuck, and the message says who waits where. CUDA
 * leaves undefined what happens when threads of a block meet at different barriers, when some
 * have exited before others wait, or when lanes name a mask that does not fit: here each of
 * these ends the launch with a message. */
#include "emu/inside.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__thread struct tarn_emu_here tarn_emu_here;
__thread struct tarn_emu_worker *tarn_emu_worker;

static void run_to(struct tarn_emu_worker *w, struct tarn_fiber *from,
                   struct tarn_fiber *to)
{
    if (from == to) return;
    w->running = to;
    tarn_emu_here.thread = to->thread;
    tarn_fiber_switch(from, to);
}

void tarn_emu_abandon(struct tarn_emu_worker *w)
{
    struct tarn_fiber *f = w->running;
    w->running = NULL, w->for_code = NULL;
    f->state = TARN_EXITED;
    tarn_fiber_switch(f, &w->main);
    abort(); /* nobody comes back here */
}

/* ---- The order of the fibers ------------------------------------------------------------ */

/* xorshift64*: any order will do, but it must be the same for the same seed. */
static unsigned random_below(struct tarn_emu_worker *w, unsigned n)
{
    w->random ^= w->random >> 12, w->random ^= w->random << 25;
    w->random ^= w->random >> 27;
    return (unsigned)((w->random * UINT64_C(0x2545F4914F6CDD1D)) >> 33) % n;
}

static void arrange(struct tarn_emu_worker *w)
{
    const unsigned n = w->threads;
    const bool reversed = tarn_emu_settings.order == TARN_EMU_REVERSED;
    for (unsigned i = 0; i < n; i++) w->order[i] = reversed ? n - 1 - i : i;
    if (tarn_emu_settings.order == TARN_EMU_RANDOM)
        for (unsigned i = n - 1; i > 0; i--) {
            const unsigned j = random_below(w, i + 1), other = w->order[i];
            w->order[i] = w->order[j], w->order[j] = other;
        }
    for (unsigned i = 0; i < n; i++) w->fiber[w->order[i]].position = i;
}

/* Lanes of the same warp first: they wait for each other. */
static struct tarn_fiber *ready_in_warp(struct tarn_emu_worker *w,
                                        const struct tarn_fiber *f)
{
    const unsigned first = f->index & ~31u, lane = f->index & 31u;
    const bool reversed = tarn_emu_settings.order == TARN_EMU_REVERSED;
    for (unsigned i = 1; i < TARN_EMU_WARP; i++) {
        const unsigned at = first + ((lane + (reversed ? TARN_EMU_WARP - i : i)) & 31u);
        if (at < w->threads && w->fiber[at].state == TARN_READY) return &w->fiber[at];
    }
    return NULL;
}

static struct tarn_fiber *next_ready(struct tarn_emu_worker *w,
                                     const struct tarn_fiber *f)
{
    struct tarn_fiber *next = f->state == TARN_AT_WARP ? ready_in_warp(w, f) : NULL;
    unsigned at = f->position;
    for (unsigned i = 0; i < w->threads && !next; i++) {
        if (++at >= w->threads) at = 0;
        struct tarn_fiber *g = &w->fiber[w->order[at]];
        if (g->state == TARN_READY) next = g;
    }
    return next;
}

/* ---- Nobody can go on -------------------------------------------------------------------- */

static const char *state_text(enum tarn_fiber_state state)
{
    switch (state) {
    case TARN_AT_BARRIER: return "at __syncthreads,";
    case TARN_AT_WARP: return "at a warp operation,";
    case TARN_EXITED: return "exited, last at";
    case TARN_READY: break;
    }
    return "ready,";
}

static bool same_place(const struct tarn_fiber *f, const struct tarn_fiber *g)
{
    return f->state == g->state && f->file == g->file && f->line == g->line;
}

/* "threads 0 to 31 at __syncthreads, x.cu:5; threads 32 to 63 ..." */
static void describe_waiting(const struct tarn_emu_worker *w, char *text, size_t size)
{
    size_t used = 0;
    for (unsigned first = 0, i = 1; i <= w->threads && used < size; i++) {
        const struct tarn_fiber *f = &w->fiber[first];
        if (i < w->threads && same_place(f, &w->fiber[i])) continue;
        const int n =
            snprintf(text + used, size - used, "%sthreads %u to %u %s %s:%d",
                     first ? "; " : "", first, i - 1, state_text(f->state),
                     f->file ? tarn_emu_short_file(f->file) : "the start", f->line);
        used += (size_t)n, first = i;
    }
}

static void stuck(struct tarn_emu_worker *w)
{
    char waiting[500];
    describe_waiting(w, waiting, sizeof waiting);
    tarn_emu_blame(w, w->running->file, w->running->line,
                   "the block is stuck, each thread waits for another: %s", waiting);
}

static void wait_here(struct tarn_emu_worker *w, struct tarn_fiber *f)
{
    if (atomic_load_explicit(&w->job->stopped, memory_order_relaxed))
        tarn_emu_abandon(w);
    struct tarn_fiber *next = next_ready(w, f);
    if (!next && w->alive > 0) stuck(w);
    run_to(w, f, next ? next : &w->main);
}

/* ---- __syncthreads ------------------------------------------------------------------------- */

static bool passed_over(const char *file, int line)
{
    return tarn_emu_settings.pass_over && tarn_emu_settings.pass_over(file, line);
}

static void release_barrier(struct tarn_emu_worker *w)
{
    for (unsigned i = 0; i < w->threads; i++)
        if (w->fiber[i].state == TARN_AT_BARRIER) w->fiber[i].state = TARN_READY;
    w->at_barrier = 0;
    w->generation++;
    if (tarn_emu_settings.order == TARN_EMU_RANDOM) arrange(w);
}

static void check_barrier(struct tarn_emu_worker *w, const char *file, int line)
{
    if (w->at_barrier && (w->barrier_line != line || w->barrier_file != file))
        tarn_emu_blame(
            w, file, line,
            "__syncthreads, but other threads of the block wait at another one, "
            "%s:%d: all of them must come to the same",
            tarn_emu_short_file(w->barrier_file), w->barrier_line);
    if (w->alive < w->threads)
        tarn_emu_blame(w, file, line,
                       "__syncthreads, but %u of %u threads of the block have exited "
                       "already: none may leave before the last barrier",
                       w->threads - w->alive, w->threads);
}

void tarn_emu_barrier(const char *file, int line)
{
    struct tarn_emu_worker *w = tarn_emu_worker;
    struct tarn_fiber *f = w->running;
    if (passed_over(file, line)) return;
    w->in_runtime = true;
    check_barrier(w, file, line);
    w->barrier_file = file, w->barrier_line = line;
    f->file = file, f->line = line;
    f->state = TARN_AT_BARRIER;
    if (++w->at_barrier == w->alive) {
        release_barrier(w);
        /* In every order the first of it goes on first, or a race might stay unseen. */
        run_to(w, f, &w->fiber[w->order[0]]);
    } else
        wait_here(w, f);
    w->in_runtime = false;
}

/* ---- The lanes of a warp -------------------------------------------------------------------- */

static unsigned lanes_there(const struct tarn_emu_worker *w, const struct tarn_fiber *f)
{
    const unsigned left = w->threads - (f->index & ~31u);
    return left >= TARN_EMU_WARP ? ~0u : (1u << left) - 1;
}

static void check_mask(struct tarn_emu_worker *w, const struct tarn_fiber *f)
{
    const unsigned exited = w->warp[f->index / TARN_EMU_WARP].exited & f->mask;
    if (!(f->mask >> (f->index & 31u) & 1))
        tarn_emu_blame(w, f->file, f->line,
                       "a warp operation by lane %u with mask %08x, which it is not in",
                       f->index & 31u, f->mask);
    if (exited)
        tarn_emu_blame(
            w, f->file, f->line,
            "a warp operation with mask %08x names lanes %08x, which have exited",
            f->mask, exited);
}

/* The last lane has come: all of them must have meant the same. */
static void meet(struct tarn_emu_worker *w, struct tarn_fiber *f)
{
    struct tarn_fiber *lane = &w->fiber[f->index & ~31u];
    struct tarn_warp *warp = &w->warp[f->index / TARN_EMU_WARP];
    void *brought[TARN_EMU_WARP] = {NULL};
    for (unsigned i = 0; i < TARN_EMU_WARP; i++) {
        if (!(f->mask >> i & 1)) continue;
        const struct tarn_fiber *g = &lane[i];
        if (g->mask != f->mask || g->all != f->all || g->line != f->line ||
            strcmp(g->file, f->file) != 0)
            tarn_emu_blame(
                w, f->file, f->line,
                "lanes of a warp meet at different operations: lane %u here with "
                "mask %08x, lane %u at %s:%d with mask %08x",
                f->index & 31u, f->mask, i, tarn_emu_short_file(g->file), g->line,
                g->mask);
        brought[i] = g->brought;
    }
    const char *wrong = f->all ? f->all(brought) : NULL;
    if (wrong) tarn_emu_blame(w, f->file, f->line, "%s", wrong);
    if (!f->all) {
        warp->epoch++;
        if (tarn_emu_watch & TARN_WATCH_CHECK)
            tarn_check_syncwarp(w, f->index / TARN_EMU_WARP, f->mask);
    }
    for (unsigned i = 0; i < TARN_EMU_WARP; i++)
        if (f->mask >> i & 1) lane[i].state = TARN_READY;
    warp->waiting &= ~f->mask;
}

void tarn_emu_together(void *mine, tarn_emu_together_fn *all, unsigned mask,
                       const char *file, int line)
{
    struct tarn_emu_worker *w = tarn_emu_worker;
    struct tarn_fiber *f = w->running;
    struct tarn_warp *warp = &w->warp[f->index / TARN_EMU_WARP];
    if (!all && passed_over(file, line)) return;
    w->in_runtime = true;
    f->file = file, f->line = line;
    f->mask = mask & lanes_there(w, f);
    f->all = all, f->brought = mine;
    check_mask(w, f);
    f->state = TARN_AT_WARP;
    warp->waiting |= 1u << (f->index & 31u);
    if ((warp->waiting & f->mask) == f->mask)
        meet(w, f);
    else
        wait_here(w, f);
    w->in_runtime = false;
}

/* ---- From its start to its end --------------------------------------------------------------- */

static void exit_fiber(struct tarn_emu_worker *w, struct tarn_fiber *f)
{
    if (w->at_barrier)
        tarn_emu_blame(
            w, w->barrier_file, w->barrier_line,
            "__syncthreads, where %u of %u threads wait, but thread %u has exited: "
            "none may leave before the last barrier",
            w->at_barrier, w->threads, f->index);
    f->state = TARN_EXITED;
    w->alive--;
    w->warp[f->index / TARN_EMU_WARP].exited |= 1u << (f->index & 31u);
}

/* The first and last words of every fiber. */
static void live(void)
{
    struct tarn_emu_worker *w = tarn_emu_worker;
    tarn_fiber_begin();
    w->in_runtime = false;
    w->job->launch->body(w->arguments);
    w->in_runtime = true;
    struct tarn_fiber *f = w->running;
    exit_fiber(w, f);
    wait_here(w, f);
    abort(); /* a fiber that has exited is not run again */
}

static void prepare_fiber(struct tarn_fiber *f, unsigned index, struct tarn_emu_dim b)
{
    f->index = index;
    f->thread =
        (struct tarn_emu_dim){index % b.x, index / b.x % b.y, index / (b.x * b.y)};
    f->state = TARN_READY;
    f->file = NULL, f->line = 0;
    tarn_async_forget(f);
    tarn_fiber_prepare(f, live);
}

/* Shared memory is NaN at the start of a block; its dynamic part ends at the guard page. A
 * kernel from a module of its own has nothing but shared memory there, see where.c. */
static void prepare_shared(struct tarn_emu_worker *w, size_t bytes)
{
    w->shared = w->arena + TARN_EMU_ARENA - ((bytes + 15) & ~(size_t)15);
    w->arena_low = w->shared;
    w->static_count = 0;
    memset(w->shared, 0xff, bytes);
    const size_t tls_bytes = tarn_emu_tls_shared(&w->module);
    if (tls_bytes) memset(w->module.tls, 0xff, tls_bytes);
    tarn_emu_here.shared = w->shared;
}

void tarn_emu_run_block(struct tarn_emu_worker *w, size_t position)
{
    const struct tarn_emu_grid *l = w->job->launch;
    w->block = position;
    tarn_emu_here.block = (struct tarn_emu_dim){
        (unsigned)(position % l->grid.x), (unsigned)(position / l->grid.x % l->grid.y),
        (unsigned)(position / l->grid.x / l->grid.y)};
    w->threads = w->alive = l->block.x * l->block.y * l->block.z;
    w->at_barrier = w->generation = 0;
    prepare_shared(w, l->shared);
    memset(w->warp, 0, sizeof w->warp);
    if (tarn_emu_watch & TARN_WATCH_CHECK) tarn_check_block(w);
    for (unsigned i = 0; i < w->threads; i++) prepare_fiber(&w->fiber[i], i, l->block);
    w->random = (position + 1) * UINT64_C(0x9E3779B97F4A7C15) + tarn_emu_settings.seed;
    arrange(w);
    w->main.state = TARN_READY;
    w->in_runtime = true;
    run_to(w, &w->main, &w->fiber[w->order[0]]);
    w->running = NULL;
    if (tarn_emu_watch & TARN_WATCH_PROFILE) tarn_profile_block(w);
}

/* ---- The end, by the kernel's own wish or its mistake ----------------------------------------- */

void tarn_emu_stop(const char *why, const char *file, int line)
{
    tarn_emu_blame(tarn_emu_worker, file, line, "%s", why);
}

void tarn_emu_misaligned(const void *address, size_t bytes)
{
    tarn_emu_blame_code(tarn_emu_worker, __builtin_return_address(0),
                        "%zu bytes at once at %p, which is no multiple of %zu", bytes,
                        address, bytes);
}

/* ---- Shared memory of a fixed size ------------------------------------------------------------ */

/* Between two arrays, and only where accesses are checked, so that none runs into the other. */
static size_t gap(void)
{
    return tarn_emu_watch & TARN_WATCH_CHECK ? 256 : 0;
}

/* There must be room for one more array, of a fixed size and of all shared memory. */
static void check_shared(struct tarn_emu_worker *w, size_t bytes, const char *file,
                         int line)
{
    const size_t limit = tarn_emu_shared_limit(), dynamic = w->job->launch->shared;
    size_t fixed = bytes + tarn_emu_tls_shared(&w->module);
    for (unsigned i = 0; i < w->static_count; i++) fixed += w->statics[i].bytes;
    if (w->static_count == TARN_EMU_STATICS)
        tarn_emu_blame(w, file, line,
                       "more than %d arrays of shared memory of a fixed size",
                       (int)TARN_EMU_STATICS);
    if (fixed > TARN_EMU_FIXED_SHARED)
        tarn_emu_blame(w, file, line,
                       "%zu bytes of shared memory of a fixed size in this block, "
                       "expected at most %d; DYN_SHARED may have more",
                       fixed, (int)TARN_EMU_FIXED_SHARED);
    if (fixed + dynamic > limit)
        tarn_emu_blame(
            w, file, line,
            "%zu bytes of shared memory in this block, expected at most %zu on %s",
            fixed + dynamic, limit, tarn_emu_settings.gpu);
}

void *tarn_emu_shared(const void *key, size_t bytes, const char *file, int line)
{
    struct tarn_emu_worker *w = tarn_emu_worker;
    for (unsigned i = 0; i < w->static_count; i++)
        if (w->statics[i].key == key) return w->statics[i].memory;
    check_shared(w, bytes, file, line);
    w->arena_low -= ((bytes + 15) & ~(size_t)15) + gap();
    memset(w->arena_low, 0xff, bytes);
    w->statics[w->static_count++] =
        (struct tarn_static_shared){key, w->arena_low, bytes};
    return w->arena_low;
}
