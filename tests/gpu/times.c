/* times.c: how long each rung takes, beside the least it could. See gpu.h.
 *
 * The floor is the time to read the inputs and write the outputs once, at the speed at which
 * the same device copies memory, measured here: what a kernel in one pass would take that is
 * bound by memory. sim has N^2 work, so its floor is out of reach; the others come near.
 * A rung is called many times before anyone waits, so a launch costs what it costs a GPU. */
#include "gpu.h"
#include "check/report.h"
#include <math.h>
#include <string.h>

static const struct size {
    size_t heads, N, D;
} sizes[] = {{8, 4096, 64}, {32, 4096, 64}, {8, 65536, 64}, {32, 65536, 64}},
  quick_sizes[] = {{1, 128, 16}};

/* A call that takes longer than this is not repeated, nor tried at larger sizes. */
static const double patience = 0.5;

/* ---- Memory ---------------------------------------------------------------------------- */

/* What one span needs of a device. */
struct lent {
    tarn_context *ctx;
    const struct tarn_device *device;
    void *memory[24];
    int count;
    tarn_status status;
};

static void *lend(struct lent *l, size_t bytes)
{
    void *memory = l->status ? NULL : l->device->alloc(bytes);
    if (memory)
        l->memory[l->count++] = memory;
    else if (!l->status)
        l->status = tarn_fail(l->ctx, TARN_ENOMEM, "no memory for %zu bytes", bytes);
    return memory;
}

static void give_back(struct lent *l)
{
    while (l->count > 0) l->device->free(l->memory[--l->count]);
}

/* Numbers in (0, 1), or zeros: as float or double, over and over from a small piece. */
static void *lend_numbers(struct lent *l, tarn_dtype dtype, size_t count, bool zeros)
{
    enum { PIECE = 1 << 20 };
    static double piece[PIECE];
    const size_t size = tarn_dtype_size(dtype);
    char *memory = lend(l, count * size);
    unsigned state = 1;
    for (size_t i = 0; i < PIECE; i++) {
        state = state * 1664525u + 1013904223u;
        const double x = zeros ? 0 : ((double)(state >> 8) + 0.5) / (1 << 24);
        if (dtype == TARN_FLOAT32)
            ((float *)piece)[i] = (float)x;
        else
            piece[i] = x;
    }
    for (size_t done = 0; !l->status && done < count; done += PIECE) {
        const size_t n = count - done < PIECE ? count - done : PIECE;
        l->status = l->device->copy(l->ctx, memory + done * size, piece, n * size,
                                    TARN_TO_DEVICE);
    }
    return memory;
}

/* Everything that a form reads and writes. */
static struct tarn_span span_of(struct lent *l, const struct form *form,
                                tarn_dtype dtype, struct size n)
{
    const size_t row = n.heads * n.N * n.D, state = n.heads * n.D * n.D;
    struct tarn_span s = {.ctx = l->ctx,
                          .heads = n.heads,
                          .N_q = n.N,
                          .N = n.N,
                          .C = n.D,
                          .M = n.D,
                          .by = form->by,
                          .causal = form->causal,
                          .scale = form->by == TARN_PHI ? 1 : 1 / (double)n.D,
                          .eps = form->by == TARN_SOFTMAX ? 0 : 1e-6};
    const void **const read[] = {&s.q, &s.k, &s.v, &s.dout};
    void **const written[] = {&s.out, &s.dq, &s.dk, &s.dv};
    void **const states[] = {&s.S, &s.S_part, &s.dS0};
    void **const denominators[] = {&s.z, &s.z_part, &s.dz0};
    for (int i = 0; i < 4; i++) *read[i] = lend_numbers(l, dtype, row, false);
    for (int i = 0; i < 4; i++) *written[i] = lend(l, row * tarn_dtype_size(dtype));
    for (int i = 0; i < 3; i++) {
        *states[i] = lend_numbers(l, dtype, state, true);
        *denominators[i] = lend_numbers(l, dtype, n.heads * n.D, true);
    }
    return s;
}

/* ---- Time ------------------------------------------------------------------------------ */

typedef tarn_status work_fn(void *data);

/* Seconds a call, of the best of three rounds of as many calls as fit into a tenth. */
static tarn_status time_calls(tarn_context *ctx, const struct tarn_device *device,
                              work_fn *work, void *data, double *seconds)
{
    size_t calls = 1;
    *seconds = HUGE_VAL;
    for (int round = 0; round < 4; round++) {
        const double start = tarn_report_clock();
        tarn_status status = TARN_OK;
        for (size_t i = 0; !status && i < calls; i++) status = work(data);
        if (!status) status = device->finish(ctx);
        if (status) return status;
        const double each = (tarn_report_clock() - start) / (double)calls;
        if (round == 0) calls = each > 0.1 ? 1 : (size_t)fmin(200, 0.1 / each) + 1;
        if (round > 0 || each > patience) *seconds = fmin(*seconds, each);
        if (each > patience) break;
    }
    return TARN_OK;
}

struct copying {
    tarn_context *ctx;
    const struct tarn_device *device;
    void *to, *from;
    size_t bytes;
};

static tarn_status copy_once(void *data)
{
    const struct copying *c = data;
    return c->device->copy(c->ctx, c->to, c->from, c->bytes, TARN_WITHIN_DEVICE);
}

static tarn_status time_copy(tarn_context *ctx, const struct tarn_device *device,
                             bool quick, double *speed)
{
    struct lent l = {.ctx = ctx, .device = device};
    struct copying c = {ctx, device, NULL, NULL, (size_t)(quick ? 8 : 256) << 20};
    double seconds = 1;
    c.to = lend_numbers(&l, TARN_FLOAT32, c.bytes / sizeof(float), true);
    c.from = lend_numbers(&l, TARN_FLOAT32, c.bytes / sizeof(float), false);
    if (!l.status) l.status = time_calls(ctx, device, copy_once, &c, &seconds);
    give_back(&l);
    *speed = 2 * (double)c.bytes / seconds;
    return l.status;
}

struct running {
    const struct tarn_rung *rung;
    struct tarn_span *span;
};

static tarn_status run_once(void *data)
{
    const struct running *r = data;
    return r->rung->run(r->span);
}

/* ---- Rows ------------------------------------------------------------------------------ */

/* Whether a smaller size has already taken too long, or is not to be had. */
static bool given_up(const struct gpu_results *r, const struct timed *row)
{
    for (size_t i = 0; i < r->timed_count; i++) {
        const struct timed *old = &r->timed[i];
        if (old->form == row->form && old->grad == row->grad &&
            old->dtype == row->dtype && strcmp(old->rung, row->rung) == 0 &&
            old->heads * old->N < row->heads * row->N && !(old->seconds < patience))
            return true;
    }
    return false;
}

/* A rung that fails has no time, and the others go on. */
static void time_rung(struct gpu_results *r, struct lent *l, struct tarn_span *s,
                      const struct tarn_rung *rung, struct timed row)
{
    struct running running = {rung, s};
    const double tensors =
        row.grad ? 7 : 4; /* q, k, v, out; q, k, v, dout, dq, dk, dv */
    row.floor = tensors * (double)(row.heads * row.N * row.D) *
                (double)tarn_dtype_size(row.dtype) / r->copy;
    if (r->timed_count == GPU_ROWS || given_up(r, &row)) return;
    if (tarn_rung_for(rung, s) != rung) return;
    const int before = l->count;
    s->work = rung->work ? lend(l, rung->work(s)) : NULL;
    if (l->status ||
        time_calls(l->ctx, l->device, run_once, &running, &row.seconds) != TARN_OK)
        row.seconds = (double)NAN;
    while (l->count > before) l->device->free(l->memory[--l->count]);
    l->status = TARN_OK;
    r->timed[r->timed_count++] = row;
}

static void time_form(struct gpu_results *r, struct lent *l, const struct form *form,
                      tarn_dtype dtype, struct size n)
{
    struct tarn_span s = span_of(l, form, dtype, n);
    for (int grad = 0; grad < 2; grad++) {
        const struct tarn_ladder *ladder = gpu_ladder(l->device, dtype, form, grad);
        for (int i = 0; !l->status && ladder && i < ladder->count; i++)
            time_rung(r, l, &s, &ladder->rungs[i],
                      (struct timed){.form = form,
                                     .grad = grad,
                                     .rung = ladder->rungs[i].name,
                                     .dtype = dtype,
                                     .heads = n.heads,
                                     .N = n.N,
                                     .D = n.D});
    }
    give_back(l);
}

/* float64 at the first size alone. */
tarn_status gpu_time(tarn_context *ctx, const struct tarn_device *device, bool quick,
                     struct gpu_results *results)
{
    const struct size *list = quick ? quick_sizes : sizes;
    const size_t count = quick ? 1 : sizeof sizes / sizeof sizes[0];
    const tarn_status status = time_copy(ctx, device, quick, &results->copy);
    if (status) return status;
    for (size_t f = 0; f < gpu_form_count; f++)
        for (size_t n = 0; n < count; n++)
            for (int type = 0; type < (n ? 1 : 2); type++) {
                struct lent l = {.ctx = ctx, .device = device};
                time_form(results, &l, &gpu_forms[f],
                          type ? TARN_FLOAT64 : TARN_FLOAT32, list[n]);
            }
    return TARN_OK;
}
