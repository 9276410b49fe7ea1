/* call.c: one call of attention taken apart. The contract is in call.h. */
#include "call.h"
#include "backend.h"
#include "cell.h"
#include "core/tensor.h"
#include "on_device.h"
#include "stages/phi.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Shapes ----------------------------------------------------------------------------- */

static size_t leading(const struct tarn_call *call)
{
    return (size_t)call->rank - 2;
}

/* Writes extents the way messages show them, "[2, 4, any, 64]". */
static struct tarn_text want_text(const struct tarn_call *call,
                                  struct tarn_extents want)
{
    struct tarn_text t = {"["};
    size_t used = 1;
    for (size_t i = 2 - leading(call); i < 4; i++) {
        if (call->token && i == 2) continue;
        const char *end = i == 3 ? "]" : ", ";
        int written = want.n[i] == TARN_ANY
                          ? snprintf(t.text + used, sizeof t.text - used, "any%s", end)
                          : snprintf(t.text + used, sizeof t.text - used, "%zu%s",
                                     want.n[i], end);
        used += (size_t)written;
    }
    return t;
}

/* The extents of t as [B, H, N, D]; false if its rank is not that of the call. */
static bool extents_of(const struct tarn_call *call, const tarn_tensor *t,
                       struct tarn_extents *e)
{
    const int rank = tarn_tensor_rank(t);
    const size_t *shape = tarn_tensor_shape(t);
    *e = (struct tarn_extents){{1, 1, 1, 1}};
    if (rank + call->token != call->rank) return false;
    for (int i = 0; i < rank; i++) {
        int place = 4 - call->rank + i;
        if (call->token && place >= 2) place = 3;
        e->n[place] = shape[i];
    }
    return true;
}

tarn_status tarn_call_expect(const struct tarn_call *call, const char *argument,
                             const tarn_tensor *t, struct tarn_extents want,
                             const char *letters, const char *match)
{
    static const char *const prefixes[] = {"", "H, ", "B, H, "};
    struct tarn_extents got;
    bool fits = extents_of(call, t, &got);
    for (int i = 0; fits && i < 4; i++)
        fits = want.n[i] == TARN_ANY || want.n[i] == got.n[i];
    if (fits) return TARN_OK;
    return tarn_fail(call->ctx, TARN_ESHAPE,
                     "%s: %s is %s, expected [%s%s] = %s to match %s", call->function,
                     argument, tarn_shape_text(t).text, prefixes[leading(call)],
                     letters, want_text(call, want).text, match);
}

/* The rank decides how everything else is read. */
static tarn_status open_rank(struct tarn_call *call, const tarn_tensor *q)
{
    call->rank = tarn_tensor_rank(q) + call->token;
    if (call->rank >= 2 && call->rank <= 4) return TARN_OK;
    return tarn_fail(call->ctx, TARN_ESHAPE, "%s: q is %s, expected %s", call->function,
                     tarn_shape_text(q).text,
                     call->token ? "[D], [H, D] or [B, H, D]"
                                 : "[N, D], [H, N, D] or [B, H, N, D]");
}

static tarn_status check_shapes(struct tarn_call *call,
                                const struct tarn_arguments *args)
{
    const char *q_letters = call->token ? "D" : "N, D";
    const char *v_letters = call->token ? "M" : "N, M";
    struct tarn_extents q, k, v;
    tarn_status status = TARN_OK;
    if (args->want_from)
        status = tarn_call_expect(call, "q", args->q, args->want_q, q_letters,
                                  args->want_from);
    if (status) return status;
    extents_of(call, args->q, &q);

    const size_t N = args->same_length ? q.n[2] : TARN_ANY;
    struct tarn_extents want_k = {{q.n[0], q.n[1], N, q.n[3]}};
    status = tarn_call_expect(
        call, "k", args->k, want_k, q_letters,
        args->options && args->options->causal ? "q, as attention is causal" : "q");
    if (status) return status;
    extents_of(call, args->k, &k);

    struct tarn_extents want_v = {{k.n[0], k.n[1], k.n[2], args->want_M}};
    status = tarn_call_expect(call, "v", args->v, want_v, v_letters,
                              args->want_M == TARN_ANY ? "k" : "k and the state");
    if (status) return status;
    extents_of(call, args->v, &v);

    call->B = q.n[0], call->H = q.n[1], call->N_q = q.n[2], call->N = k.n[2];
    call->D = q.n[3], call->M = v.n[3];
    call->key_rows = call->N;
    if (call->D == 0 || call->M == 0)
        return tarn_fail(call->ctx, TARN_ESHAPE, "%s: %s is %s, expected %s >= 1",
                         call->function, call->D == 0 ? "q" : "v",
                         tarn_shape_text(call->D == 0 ? args->q : args->v).text,
                         call->D == 0 ? "D" : "M");
    struct tarn_extents want_dout = {{q.n[0], q.n[1], q.n[2], v.n[3]}};
    return args->dout ? tarn_call_expect(call, "dout", args->dout, want_dout, v_letters,
                                         "the output")
                      : TARN_OK;
}

size_t tarn_call_heads(const struct tarn_call *call)
{
    return call->B * call->H;
}

/* ---- Options ------------------------------------------------------------------------------ */

static tarn_status check_lengths(const struct tarn_call *call)
{
    const tarn_options *o = &call->options;
    if (o->lengths_count == 0) return TARN_OK;
    if (o->lengths_count != call->B)
        return tarn_fail(call->ctx, TARN_ESHAPE,
                         "%s: lengths has %zu entries, expected B = %zu",
                         call->function, o->lengths_count, call->B);
    for (size_t b = 0; b < call->B; b++)
        if (o->lengths[b] < 0 || (uint64_t)o->lengths[b] > call->N)
            return tarn_fail(call->ctx, TARN_EINVAL,
                             "%s: lengths[%zu] is %lld, expected 0 to N = %zu",
                             call->function, b + 1, (long long)o->lengths[b], call->N);
    return TARN_OK;
}

static tarn_status resolve_options(struct tarn_call *call, const tarn_options *given)
{
    tarn_options *o = &call->options;
    *o = given ? *given : tarn_defaults();
    if (!o->phi) o->phi = tarn_phi_at(0);
    if (o->chunk == 0) o->chunk = TARN_BLOCK;
    if (!(o->eps >= 0) || isinf(o->eps))
        return tarn_fail(call->ctx, TARN_EINVAL, "%s: eps is %g, expected 0 or more",
                         call->function, o->eps);
    if (isinf(o->scale))
        return tarn_fail(call->ctx, TARN_EINVAL,
                         "%s: scale is %g, expected a finite number", call->function,
                         o->scale);
    if (o->by == TARN_PAIR && !o->pair)
        return tarn_fail(call->ctx, TARN_EINVAL,
                         "%s: by is a pair function, but none is set", call->function);
    return TARN_OK;
}

tarn_options tarn_defaults(void)
{
    return (tarn_options){.by = TARN_SOFTMAX,
                          .eps = 1e-6,
                          .scale = (double)NAN,
                          .method = TARN_CHUNKED,
                          .precision = TARN_ACCURATE};
}

/* ---- Open and close ------------------------------------------------------------------------ */

static tarn_dtype wider(tarn_dtype a, const tarn_tensor *t)
{
    return t && tarn_tensor_dtype(t) == TARN_FLOAT64 ? TARN_FLOAT64 : a;
}

/* float64 if an argument is, or the state that the call goes on from. */
static tarn_dtype widest(const struct tarn_arguments *args)
{
    const tarn_dtype state = args->options && args->options->state
                                 ? tarn_rnn_cell(args->options->state)->dtype
                                 : args->least;
    return wider(wider(wider(wider(state, args->q), args->k), args->v), args->dout);
}

/* Takes t as it is if it fits, else a copy that does. */
static tarn_status borrow(struct tarn_call *call, const tarn_tensor *t,
                          struct tarn_input *input)
{
    input->t = t;
    if (!t) return TARN_OK;
    if (tarn_tensor_dtype(t) == call->dtype && tarn_tensor_is_contiguous(t))
        return TARN_OK;
    tarn_status status = tarn_as(call->ctx, t, call->dtype, &input->owned);
    input->t = input->owned;
    return status;
}

static const void *data_of(struct tarn_input input)
{
    return input.t ? tarn_tensor_data(input.t) : NULL;
}

/* Head 0 as the stages see it when they take q and k as they are; what is not set is 0. */
static void fill_first(struct tarn_call *call)
{
    struct tarn_attn *a = &call->first;
    a->ctx = call->ctx;
    a->N_q = call->N_q;
    a->N = call->N;
    a->C = call->D;
    a->M = call->M;
    a->q = data_of(call->q);
    a->k = data_of(call->k);
    a->v = data_of(call->v);
    a->dout = data_of(call->dout);
    a->phi = TARN_PHI_NONE;
    a->parts = 1;
    a->scale = 1;
    a->eps = call->options.eps;
    a->weights_stride = call->N;
    a->chunk = call->options.chunk;
}

static tarn_status same_device(const struct tarn_call *call, const char *argument,
                               const char *device)
{
    const char *q = tarn_device_name(call->device);
    if (strcmp(q, device) == 0) return TARN_OK;
    return tarn_fail(call->ctx, TARN_EDEVICE,
                     "%s: %s is on %s and q on %s, expected both on one device; "
                     "t:to(device) moves a tensor",
                     call->function, argument, device, q);
}

/* Everything lies on the device of q, whose operations are taken. */
static tarn_status open_device(struct tarn_call *call,
                               const struct tarn_arguments *args)
{
    const tarn_options *o = &call->options;
    const struct {
        const char *name;
        const tarn_tensor *t;
    } others[] = {{"k", args->k},
                  {"v", args->v},
                  {"dout", args->dout},
                  {"dstate.S", o->dS},
                  {"dstate.z", o->dz}};
    call->device = tarn_device_of(args->q);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (!others[i].t) continue;
        tarn_status status =
            same_device(call, others[i].name, tarn_tensor_device(others[i].t));
        if (status) return status;
    }
    if (o->state) {
        tarn_status status = same_device(call, "state", tarn_cell_device(o->state));
        if (status) return status;
    }
    if (call->device) {
        call->ops = tarn_device_operations(call->dtype);
        return TARN_OK;
    }
    if (tarn_device_precision(o->precision))
        return tarn_fail(call->ctx, TARN_EDEVICE,
                         "%s: precision is \"%s\", which devices with tensor cores "
                         "have; on the cpu it is \"accurate\" or \"fast\"",
                         call->function, tarn_device_precision(o->precision));
    return tarn_backend_operations(call->ctx, call->function, o->impl, call->dtype,
                                   &call->ops);
}

tarn_status tarn_call_open(tarn_context *ctx, const char *function,
                           const struct tarn_arguments *args, struct tarn_call *call)
{
    *call = (struct tarn_call){.ctx = ctx, .function = function, .token = args->token};
    tarn_status status = open_rank(call, args->q);
    if (!status) status = check_shapes(call, args);
    if (!status) status = resolve_options(call, args->options);
    if (!status) status = check_lengths(call);
    call->dtype = widest(args);
    if (!status) status = open_device(call, args);
    if (!status) status = borrow(call, args->q, &call->q);
    if (!status) status = borrow(call, args->k, &call->k);
    if (!status) status = borrow(call, args->v, &call->v);
    if (!status) status = borrow(call, args->dout, &call->dout);
    if (!status) fill_first(call);
    return status;
}

void tarn_call_close(struct tarn_call *call)
{
    tarn_tensor_free(call->q.owned);
    tarn_tensor_free(call->k.owned);
    tarn_tensor_free(call->v.owned);
    tarn_tensor_free(call->dout.owned);
    tarn_tensor_free(call->q_rows);
    tarn_tensor_free(call->k_rows);
    tarn_features_free(&call->fq);
    tarn_features_free(&call->fk);
    tarn_release(call->room);
}

tarn_status tarn_call_new(struct tarn_call *call, size_t rows, size_t columns,
                          tarn_tensor **out)
{
    const size_t all[4] = {call->B, call->H, rows, columns};
    size_t shape[4];
    int rank = 0;
    for (size_t i = 2 - leading(call); i < 4; i++)
        if (!(call->token && i == 2)) shape[rank++] = all[i];
    return tarn_tensor_new_on(call->ctx, call->device, call->dtype, rank, shape, out);
}

tarn_status tarn_call_output(struct tarn_call *call, tarn_tensor *given,
                             tarn_tensor **out)
{
    if (!given) return tarn_call_new(call, call->N_q, call->M, out);
    const struct tarn_extents want = {{call->B, call->H, call->N_q, call->M}};
    tarn_status status = tarn_call_expect(call, "out", given, want,
                                          call->token ? "M" : "N, M", "the output");
    if (!status &&
        (tarn_tensor_dtype(given) != call->dtype || !tarn_tensor_is_contiguous(given)))
        status = tarn_fail(call->ctx, TARN_EDTYPE, "%s: out must be contiguous %s",
                           call->function, tarn_dtype_name(call->dtype));
    *out = given;
    return status;
}

/* ---- Stage 0 ------------------------------------------------------------------------------- */

/* True if the form makes the features itself, as it goes. */
static bool fuses(const struct tarn_call *call, const struct tarn_form *form)
{
    const tarn_phi *phi = call->options.phi;
    if (phi->apply || phi->builtin == TARN_PHI_POLY2) return false;
    return call->device ? tarn_device_fuses(call, form) : form->fused;
}

tarn_status tarn_call_features(struct tarn_call *call, const struct tarn_form *form)
{
    const tarn_options *o = &call->options;
    if (fuses(call, form)) {
        call->first.phi = o->phi->builtin;
        return TARN_OK;
    }
    const bool scaled = o->precision != TARN_FAST;
    struct tarn_rows q = {call->dtype, tarn_call_heads(call) * call->N_q, call->D,
                          data_of(call->q), call->device};
    struct tarn_rows k = {call->dtype, tarn_call_heads(call) * call->N, call->D,
                          data_of(call->k), call->device};
    tarn_status status = tarn_features_make(call->ctx, call->function, o->phi, q,
                                            scaled, o->eps, &call->fq);
    if (!status)
        status = tarn_features_make(call->ctx, call->function, o->phi, k, false, 0,
                                    &call->fk);
    if (status) return status;
    if (call->fq.C != call->fk.C)
        return tarn_fail(
            call->ctx, TARN_ESHAPE,
            "%s: phi gave %zu features for q and %zu for k, expected the same",
            call->function, call->fq.C, call->fk.C);
    call->first.C = call->fq.C;
    call->first.q = call->fq.f;
    call->first.k = call->fk.f;
    call->first.eps_row = call->fq.eps_row;
    return TARN_OK;
}
