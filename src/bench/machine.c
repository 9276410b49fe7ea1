/* machine.c: what the machine is, its peak and its memory. See machine.h.
 *
 * Clocks of processors change with heat and neighbours: a share of the peak means something
 * only if the peak was the same all the time. So it is probed before each row and after the
 * last. A probe that finds less than was there before looks again, a limited number of
 * times: a disturbance goes away, a slower clock stays. */
#include "bench/machine.h"
#include "bench/peak.h"
#include "core/parallel.h"
#include "fast/dispatch.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct peaks {
    const char *isa;
    tarn_peak_loop *peak[2]; /* by tarn_dtype */
} peaks[] = {
#ifdef HAVE_V4
    {"x86-64-v4", {tarn_peak_f32_v4, tarn_peak_f64_v4}},
#endif
#ifdef HAVE_V3
    {"x86-64-v3", {tarn_peak_f32_v3, tarn_peak_f64_v3}},
#endif
    {"baseline", {tarn_peak_f32_base, tarn_peak_f64_base}},
};

static tarn_peak_loop *peak_of(const char *isa, tarn_dtype dtype)
{
    const struct peaks *p = peaks;
    while (strcmp(p->isa, isa) != 0) p++;
    return p->peak[dtype];
}

/* "model name : AMD EPYC" in the system's file, or else the name of the instruction set. */
static void name_processor(char *name, size_t size, const char *isa)
{
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    snprintf(name, size, "%s", isa);
    while (file && fgets(line, sizeof line, file)) {
        const char *value = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !value) continue;
        snprintf(name, size, "%.*s", (int)strcspn(value + 2, "\n"), value + 2);
        break;
    }
    if (file) fclose(file);
}

struct tarn_machine tarn_machine_here(const tarn_context *ctx)
{
    struct tarn_machine m = {.isa = tarn_fast_isa(),
                             .threads = tarn_threads(ctx),
                             .sgemm = (double)NAN,
                             .copy = (double)NAN};
    name_processor(m.name, sizeof m.name - 24, m.isa);
    const size_t used = strlen(m.name);
    const int processors = tarn_processors();
    snprintf(m.name + used, sizeof m.name - used, ", %d processor%s", processors,
             processors == 1 ? "" : "s");
    return m;
}

/* ---- the peak ---------------------------------------------------------------------- */

/* Rounds of one look: about half a millisecond. The median of a few of them is taken, since
 * a virtual machine's clock of CPU time is now and then some microseconds off, both ways. */
enum { ROUNDS = 400000, LOOKS = 5, LOOKS_AGAIN = 20 };

struct probe {
    tarn_context *ctx;
    tarn_peak_loop *peak;
    int threads;
    double operations; /* of one thread */
};

static tarn_status probe_thread(void *data, size_t i)
{
    struct probe *p = data;
    const double operations = p->peak(ROUNDS);
    if (i == 0) p->operations = operations;
    return TARN_OK;
}

static tarn_status probe_once(void *data)
{
    struct probe *p = data;
    return tarn_parallel(p->ctx, "peak", (size_t)p->threads, probe_thread, p);
}

static tarn_status probe(struct tarn_machine *m, tarn_context *ctx, tarn_dtype dtype)
{
    const struct tarn_effort effort = {.seconds = 1, .rounds = LOOKS};
    struct tarn_ceiling *c = &m->peak[dtype];
    struct probe p = {ctx, peak_of(m->isa, dtype), m->threads, 0};
    double best = 0;
    for (int look = 0; look < LOOKS_AGAIN && (look == 0 || best < 0.97 * c->best);
         look++) {
        struct tarn_timing t;
        tarn_status status = tarn_bench_time(m->threads, effort, probe_once, &p, &t);
        if (status != TARN_OK) return status;
        best = fmax(best, p.operations * m->threads / t.median);
    }
    c->best = fmax(c->best, best);
    c->worst = c->worst > 0 ? fmin(c->worst, best) : best;
    return TARN_OK;
}

tarn_status tarn_machine_probe(struct tarn_machine *m, tarn_context *ctx)
{
    tarn_status status = probe(m, ctx, TARN_FLOAT32);
    return status == TARN_OK ? probe(m, ctx, TARN_FLOAT64) : status;
}

bool tarn_machine_steady(const struct tarn_machine *m, tarn_dtype dtype)
{
    return m->peak[dtype].worst >= 0.9 * m->peak[dtype].best;
}

/* ---- memory ------------------------------------------------------------------------ */

/* Bytes copied at a time: several times what any cache of today's holds for one core. */
static const size_t COPIED = (size_t)128 << 20;

struct copying {
    tarn_context *ctx;
    char *from, *to;
};

static tarn_status copy_once(void *data)
{
    struct copying *c = data;
    memcpy(c->to, c->from, COPIED);
    return tarn_poll(c->ctx, "copy");
}

tarn_status tarn_machine_copy(struct tarn_machine *m, tarn_context *ctx)
{
    struct copying c = {ctx, tarn_alloc(ctx, COPIED, 1), tarn_alloc(ctx, COPIED, 1)};
    struct tarn_timing t;
    tarn_status status = TARN_ENOMEM;
    if (c.from && c.to) {
        /* Memory that was never written is not there yet. */
        memset(c.from, 1, COPIED);
        memset(c.to, 2, COPIED);
        status = tarn_bench_time(1, (struct tarn_effort){0.5, 10}, copy_once, &c, &t);
    }
    if (status == TARN_OK) m->copy = 2 * (double)COPIED / t.min;
    tarn_release(c.from);
    tarn_release(c.to);
    return status;
}
