/* on_device.c: calls whose tensors lie on a device. The contract is in on_device.h. */
#include "on_device.h"
#include "core/tensor.h"
#include "stages/flops.h"
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* ---- The forms of devices ------------------------------------------------------------------ */

#define LADDER(name) .ladder = offsetof(struct tarn_device_forms, name)

static const struct tarn_form sim = {LADDER(sim), .flops = tarn_sim_flops};
static const struct tarn_form sim_grad = {LADDER(sim_grad),
                                          .flops = tarn_sim_grad_flops};
static const struct tarn_form assoc = {LADDER(assoc), .flops = tarn_assoc_flops};
static const struct tarn_form assoc_grad = {LADDER(assoc_grad),
                                            .flops = tarn_assoc_grad_flops};
static const struct tarn_form prefix = {LADDER(prefix), .flops = tarn_causal_flops};
static const struct tarn_form prefix_grad = {LADDER(prefix_grad),
                                             .flops = tarn_causal_grad_flops};
static const struct tarn_form rnn = {LADDER(rnn), .flops = tarn_causal_flops};
static const struct tarn_form rnn_grad = {LADDER(rnn_grad),
                                          .flops = tarn_causal_grad_flops};

const struct tarn_operations *tarn_device_operations(tarn_dtype dtype)
{
    static const struct tarn_operations operations = {
        .sim = &sim,
        .sim_grad = &sim_grad,
        .assoc = &assoc,
        .assoc_grad = &assoc_grad,
        .prefix = {&prefix, &prefix, &prefix},
        .prefix_grad = &prefix_grad,
        .rnn = &rnn,
        .rnn_grad = &rnn_grad,
    };
    (void)dtype; /* the device's own tables are by type */
    return &operations;
}

const char *tarn_device_precision(tarn_precision precision)
{
    switch (precision) {
    case TARN_TF32: return "tf32";
    case TARN_BF16: return "bf16";
    default: return NULL;
    }
}

/* ---- Rungs ----------------------------------------------------------------------------------- */

static const struct tarn_ladder *ladder_of(const struct tarn_device *device,
                                           tarn_dtype dtype,
                                           const struct tarn_form *form)
{
    const char *forms = (const char *)device->forms(dtype);
    const struct tarn_ladder *ladder;
    memcpy(&ladder, forms + form->ladder, sizeof ladder);
    return ladder;
}

/* The rung that was asked for: by name, as tensor cores, or as the plain loop that
 * "sequential" means. */
static const char *wanted_rung(const struct tarn_form *form, const tarn_options *o)
{
    if (o->impl) return o->impl;
    if (tarn_device_precision(o->precision)) return tarn_device_precision(o->precision);
    return form == &prefix && o->method == TARN_SEQUENTIAL ? "k1" : NULL;
}

static const struct tarn_rung *find_rung(const struct tarn_ladder *ladder,
                                         const char *name)
{
    if (!ladder || !name) return ladder ? &ladder->rungs[ladder->best] : NULL;
    for (int i = 0; i < ladder->count; i++)
        if (strcmp(ladder->rungs[i].name, name) == 0) return &ladder->rungs[i];
    return NULL;
}

static tarn_status no_rung(const struct tarn_call *call,
                           const struct tarn_ladder *ladder, const char *name)
{
    char names[200] = "";
    size_t used = 0;
    for (int i = 0; ladder && i < ladder->count && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s\"%s\"",
                                 i == 0                   ? ""
                                 : i == ladder->count - 1 ? " or "
                                                          : ", ",
                                 ladder->rungs[i].name);
    if (!ladder)
        return tarn_fail(call->ctx, TARN_EDEVICE,
                         "%s: %s has no kernel for this; use tensors on the cpu",
                         call->function, call->device->name);
    if (!call->options.impl && tarn_device_precision(call->options.precision))
        return tarn_fail(call->ctx, TARN_EDEVICE,
                         "%s: precision is \"%s\", for which %s has no kernel of this "
                         "form in %s; expected \"accurate\" or \"fast\"",
                         call->function, name, call->device->name,
                         tarn_dtype_name(call->dtype));
    return tarn_fail(call->ctx, TARN_EDEVICE, "%s: impl is \"%s\", expected %s on %s",
                     call->function, name, names, call->device->name);
}

bool tarn_device_fuses(const struct tarn_call *call, const struct tarn_form *form)
{
    const struct tarn_ladder *ladder = ladder_of(call->device, call->dtype, form);
    const struct tarn_rung *wanted =
        find_rung(ladder, wanted_rung(form, &call->options));
    const struct tarn_span span = {.N_q = call->N_q,
                                   .N = call->N,
                                   .C = call->D,
                                   .M = call->M,
                                   .phi = call->options.phi->builtin};
    return wanted && tarn_rung_for(wanted, &span)->fused;
}

/* ---- The call as a span ------------------------------------------------------------------------ */

static struct tarn_span span_of(const struct tarn_call *call)
{
    const struct tarn_attn *a = &call->first;
    const struct tarn_sums *s = &call->sums;
    return (struct tarn_span){.ctx = call->ctx,
                              .heads = tarn_call_heads(call),
                              .N_q = a->N_q,
                              .N = a->N,
                              .C = a->C,
                              .M = a->M,
                              .q = a->q,
                              .k = a->k,
                              .v = a->v,
                              .out = a->out,
                              .by = a->by,
                              .scale = a->scale,
                              .causal = a->causal,
                              .past = a->past,
                              .weights = a->weights,
                              .phi = a->phi,
                              .scaled = call->options.precision != TARN_FAST,
                              .eps = a->eps,
                              .eps_row = a->eps_row,
                              .S = s->S,
                              .z = s->z,
                              .S_part = s->S_part,
                              .z_part = s->z_part,
                              .count = s->count,
                              .dout = a->dout,
                              .dS = a->dS,
                              .dz = a->dz,
                              .dq = a->dq,
                              .dk = a->dk,
                              .dv = a->dv,
                              .dS0 = a->dS0,
                              .dz0 = a->dz0};
}

/* What a call borrows of the device while it runs. */
struct borrowed {
    void *work, *lengths;
    size_t work_bytes, length_bytes;
};

/* The number of keys of each head, on the device. */
static tarn_status lend_lengths(const struct tarn_call *call, struct tarn_span *s,
                                struct borrowed *b)
{
    const size_t heads = s->heads;
    if (call->options.lengths_count == 0 || heads == 0) return TARN_OK;
    int64_t *host = tarn_alloc(call->ctx, heads, sizeof *host);
    if (!host) return TARN_ENOMEM;
    for (size_t h = 0; h < heads; h++) host[h] = call->options.lengths[h / call->H];
    b->length_bytes = heads * sizeof *host;
    b->lengths = tarn_device_alloc(call->ctx, call->device, b->length_bytes);
    tarn_status status = b->lengths
                             ? call->device->copy(call->ctx, b->lengths, host,
                                                  b->length_bytes, TARN_TO_DEVICE)
                             : TARN_ENOMEM;
    tarn_release(host);
    s->lengths = b->lengths;
    return status;
}

static tarn_status lend(const struct tarn_call *call, const struct tarn_rung *rung,
                        struct tarn_span *s, struct borrowed *b)
{
    tarn_status status = lend_lengths(call, s, b);
    b->work_bytes = !status && rung->work ? rung->work(s) : 0;
    if (status || b->work_bytes == 0) return status;
    b->work = tarn_device_alloc(call->ctx, call->device, b->work_bytes);
    s->work = b->work;
    return b->work ? TARN_OK : TARN_ENOMEM;
}

static void give_back(const struct tarn_call *call, const struct borrowed *b)
{
    tarn_device_release(call->ctx, call->device, b->work, b->work_bytes);
    tarn_device_release(call->ctx, call->device, b->lengths, b->length_bytes);
}

/* ---- Which rung runs ------------------------------------------------------------------------- */

/* What was asked for and is not to be had is an error. */
static tarn_status check_rung(const struct tarn_call *call,
                              const struct tarn_rung *rung)
{
    const int kind = call->device->kind();
    const char *precision = tarn_device_precision(call->options.precision);
    if (precision && strcmp(rung->name, precision) != 0)
        return tarn_fail(call->ctx, TARN_EINVAL,
                         "%s: impl is \"%s\" and precision \"%s\", which is another "
                         "kernel; expected one of them",
                         call->function, rung->name, precision);
    if (kind < rung->least_gpu)
        return tarn_fail(
            call->ctx, TARN_EDEVICE,
            "%s: kernel %s needs the tensor cores of sm_%d or newer, and %s "
            "is sm_%d; expected precision \"accurate\" or \"fast\"",
            call->function, rung->name, rung->least_gpu, call->device->name, kind);
    if (call->first.pair)
        return tarn_fail(
            call->ctx, TARN_EDEVICE,
            "%s: by is a function of yours, which runs on the cpu; q, k, v "
            "are on %s",
            call->function, call->device->name);
    return TARN_OK;
}

/* Says once a session that another kernel runs than one would think, and why. What is no
 * loss, and was not asked for by name, goes without saying. `subject`: form and kernel. */
static void announce(const struct tarn_call *call, const void *subject,
                     const struct tarn_rung *wanted, const struct tarn_span *span)
{
    const struct tarn_rung *rung = tarn_rung_for(wanted, span);
    if (rung == wanted) return;
    if (!call->options.impl && wanted->fit(span) == TARN_NO_GAIN) return;
    tarn_note_once(call->ctx, subject,
                   "%s: kernel %s is for %s; with N = %zu and C = %zu %s runs in its "
                   "place",
                   call->function, wanted->name, wanted->limit, span->N, span->C,
                   rung->name);
}

/* The length of a chunk is part of each kernel. */
static void announce_chunk(const struct tarn_call *call)
{
    if (call->options.chunk != TARN_BLOCK)
        tarn_note_once(call->ctx, &prefix_grad,
                       "%s: chunk is %zu, which is for the cpu; kernels have chunks of "
                       "their own",
                       call->function, call->options.chunk);
}

/* The rung, with what it borrows, under guard. */
static tarn_status run_rung(struct tarn_call *call, const struct tarn_rung *rung,
                            struct tarn_span *span)
{
    struct tarn_guard guard;
    struct borrowed borrowed = {0};
    call->ctx->ran = rung->name;
    tarn_status status = tarn_guard_open(call, span, &guard);
    if (!status) status = lend(call, rung, span, &borrowed);
    if (!status) status = rung->run(span);
    if (!status) status = tarn_guard_judge(call, span, &guard);
    if (status == TARN_EINTR) tarn_poll(call->ctx, call->function); /* not the kernel */
    call->sums.count = span->count;
    call->sums.sound = (!status || status == TARN_ERANGE) && guard.sound;
    give_back(call, &borrowed);
    tarn_guard_close(call, &guard);
    return status;
}

tarn_status tarn_device_run(struct tarn_call *call, const struct tarn_form *form)
{
    const struct tarn_ladder *ladder = ladder_of(call->device, call->dtype, form);
    const char *name = wanted_rung(form, &call->options);
    const struct tarn_rung *wanted = find_rung(ladder, name);
    call->ctx->ran = wanted ? wanted->name : NULL;
    if (!wanted) return no_rung(call, ladder, name);
    tarn_status status = check_rung(call, wanted);
    if (status) return status;
    struct tarn_span span = span_of(call);
    announce(call, (const char *)form + (wanted - ladder->rungs), wanted, &span);
    announce_chunk(call);
    return run_rung(call, tarn_rung_for(wanted, &span), &span);
}
