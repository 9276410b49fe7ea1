/* device_range.c: overflow on a device. The contract is in on_device.h.
 *
 * The rule is that of heads.c: finite inputs whose result is not finite have overflowed. The
 * kernels of cuda/finite.cu search the results of all heads at once, and the inputs of those
 * heads whose results are suspect. The answer is waited for: a call gives its memory on the
 * device back at its end, which waits for its kernels anyway. */
#include "core/tensor.h"
#include "on_device.h"
#include <string.h>

/* ---- What is searched --------------------------------------------------------------------- */

static void add(struct tarn_search *s, const void *x, size_t rows, size_t width)
{
    if (!x || rows * width == 0) return;
    s->array[s->count++] = (struct tarn_searched){.x = x, .rows = rows, .width = width};
}

/* Rows of keys: of those past the length nothing is known. */
static void add_keys(struct tarn_search *s, const void *x, size_t rows, size_t width)
{
    const int before = s->count;
    add(s, x, rows, width);
    if (s->count > before) s->array[before].by_length = s->lengths != NULL;
}

static void add_state(struct tarn_search *s, const struct tarn_span *span)
{
    add(s, span->S, span->C, span->M);
    add(s, span->S_part, span->C, span->M);
    add(s, span->z, span->C, 1);
    add(s, span->z_part, span->C, 1);
}

/* A state whose z and output are finite is so: what is not in S is read into the output. */
static void add_results(struct tarn_search *s, const struct tarn_span *span)
{
    const bool grad = span->dout != NULL;
    add(s, span->out, span->N_q, span->M);
    add(s, span->dq, span->N_q, span->C);
    add_keys(s, span->dk, span->N, span->C);
    add_keys(s, span->dv, span->N, span->M);
    if (!grad) add(s, span->z, span->C, 1);
    if (!grad) add(s, span->z_part, span->C, 1);
}

/* What was given. Features of a user's own map are data, those of ours are not: then q and k
 * are what was given. */
static void add_inputs(struct tarn_search *s, const struct tarn_call *call,
                       const struct tarn_span *span)
{
    const bool ours = call->fq.f && !call->options.phi->apply;
    const size_t width = ours ? call->D : span->C;
    add(s, ours ? tarn_tensor_data(call->q.t) : span->q, span->N_q, width);
    add_keys(s, ours ? tarn_tensor_data(call->k.t) : span->k, span->N, width);
    add_keys(s, span->v, span->N, span->M);
    add(s, span->dout, span->N_q, span->M);
    add(s, span->dS, span->C, span->M);
    add(s, span->dz, span->C, 1);
}

/* ---- The search ------------------------------------------------------------------------------ */

static tarn_status search(const struct tarn_call *call, const struct tarn_search *s)
{
    if (s->count == 0 || s->heads == 0) return TARN_OK;
    return call->device->forms(call->dtype)->search(call->ctx, s);
}

/* The marks of all heads: of what was data before, and of results that are suspect. */
static size_t marks_bytes(const struct tarn_guard *g)
{
    return 2 * g->heads * sizeof *g->data;
}

static struct tarn_search searching(const struct tarn_guard *g,
                                    const struct tarn_span *span)
{
    return (struct tarn_search){.heads = g->heads, .lengths = span->lengths};
}

tarn_status tarn_guard_open(const struct tarn_call *call, const struct tarn_span *span,
                            struct tarn_guard *g)
{
    *g = (struct tarn_guard){.heads = span->heads};
    const bool naive = call->options.precision == TARN_FAST && !span->weights;
    if (naive || g->heads == 0) return TARN_OK;
    g->seen = tarn_alloc(call->ctx, 1, marks_bytes(g));
    if (!g->seen) return TARN_ENOMEM;
    memset(g->seen, 0, marks_bytes(g));
    g->data = tarn_device_alloc(call->ctx, call->device, marks_bytes(g));
    if (!g->data) return TARN_ENOMEM;
    tarn_status status =
        call->device->copy(call->ctx, g->data, g->seen, marks_bytes(g), TARN_TO_DEVICE);
    if (status || call->sums.sound) return status;
    struct tarn_search state = searching(g, span);
    state.found = g->data;
    add_state(&state, span);
    return search(call, &state);
}

static tarn_status look(const struct tarn_call *call, const struct tarn_guard *g)
{
    return call->device->copy(call->ctx, g->seen, g->data, marks_bytes(g),
                              TARN_FROM_DEVICE);
}

static bool any_suspect(const struct tarn_guard *g)
{
    for (size_t h = 0; h < g->heads; h++)
        if (g->seen[g->heads + h]) return true;
    return false;
}

static bool any_overflow(const struct tarn_guard *g)
{
    for (size_t h = 0; h < g->heads; h++)
        if (g->seen[g->heads + h] && !g->seen[h]) return true;
    return false;
}

/* After an overflow: is the state finite all the same? */
static tarn_status look_at_state(const struct tarn_call *call,
                                 const struct tarn_span *span, struct tarn_guard *g)
{
    memset(g->seen, 0, marks_bytes(g));
    tarn_status status =
        call->device->copy(call->ctx, g->data, g->seen, marks_bytes(g), TARN_TO_DEVICE);
    struct tarn_search state = searching(g, span);
    state.found = g->data + g->heads;
    add_state(&state, span);
    if (!status) status = search(call, &state);
    if (!status) status = look(call, g);
    g->sound = !status && !any_suspect(g);
    return status ? status : TARN_ERANGE;
}

tarn_status tarn_guard_judge(const struct tarn_call *call, const struct tarn_span *span,
                             struct tarn_guard *g)
{
    if (!g->data) return TARN_OK;
    struct tarn_search results = searching(g, span), inputs = results;
    results.found = g->data + g->heads;
    add_results(&results, span);
    tarn_status status = search(call, &results);
    if (!status) status = look(call, g);
    const bool finite = !status && !any_suspect(g);
    g->sound = finite && span->N_q > 0; /* or nothing was read */
    if (status || finite) return status;
    inputs.found = g->data, inputs.only = results.found;
    add_inputs(&inputs, call, span);
    status = search(call, &inputs);
    if (!status) status = look(call, g);
    return !status && any_overflow(g) ? look_at_state(call, span, g) : status;
}

void tarn_guard_close(const struct tarn_call *call, struct tarn_guard *g)
{
    tarn_device_release(call->ctx, call->device, g->data, marks_bytes(g));
    tarn_release(g->seen);
}
