/* attend.c: the public functions of stages 1 to 3: what each form needs around its heads.
 *
 * sim takes q and k as they are (or features, by a feature map); assoc and prefix take
 * features. prefix also carries a state in and out. */
#include "call.h"
#include "cell.h"
#include "core/tensor.h"
#include "stages/phi.h"
#include <math.h>

/* ---- Stage 1 ------------------------------------------------------------------------------- */

/* The user's similarity of one pair: rows of q and k as tensors of their own. */
static tarn_status call_pair(void *data, size_t i, size_t j, double *similarity)
{
    struct tarn_call *call = data;
    tarn_tensor *q_i = NULL, *k_j = NULL;
    tarn_status status =
        tarn_select(call->ctx, call->q_rows, 0, call->pair_head * call->N_q + i, &q_i);
    if (!status)
        status = tarn_select(call->ctx, call->k_rows, 0, call->pair_head * call->N + j,
                             &k_j);
    if (!status)
        status =
            call->options.pair(call->ctx, call->options.user, q_i, k_j, similarity);
    tarn_tensor_free(q_i);
    tarn_tensor_free(k_j);
    return status;
}

static tarn_status open_pair(struct tarn_call *call)
{
    const size_t heads = tarn_call_heads(call);
    tarn_status status = tarn_reshape(
        call->ctx, call->q.t, 2, (size_t[]){heads * call->N_q, call->D}, &call->q_rows);
    if (!status)
        status = tarn_reshape(call->ctx, call->k.t, 2,
                              (size_t[]){heads * call->N, call->D}, &call->k_rows);
    call->first.pair = call_pair;
    call->first.pair_data = call;
    return status;
}

/* Opens a call of sim, or of its gradient, up to the similarity. */
static tarn_status open_sim(tarn_context *ctx, const char *function,
                            struct tarn_arguments args, struct tarn_call *call)
{
    args.same_length = args.options && args.options->causal;
    tarn_status status = tarn_call_open(ctx, function, &args, call);
    if (status) return status;
    const tarn_options *o = &call->options;
    struct tarn_attn *a = &call->first;
    a->by = o->by;
    a->causal = o->causal;
    a->scale = o->by == TARN_SOFTMAX ? 1 / sqrt((double)call->D) : 1;
    if (!isnan(o->scale)) a->scale = o->scale;
    if (o->by == TARN_SOFTMAX) a->eps = 0;
    if (o->by == TARN_PHI)
        return tarn_call_features(call,
                                  args.dout ? call->ops->sim_grad : call->ops->sim);
    return o->by == TARN_PAIR ? open_pair(call) : TARN_OK;
}

tarn_status tarn_sim(tarn_context *ctx, const tarn_tensor *q, const tarn_tensor *k,
                     const tarn_tensor *v, const tarn_options *options,
                     tarn_tensor **out, tarn_tensor **weights)
{
    struct tarn_call call;
    tarn_tensor *result = NULL, *w = NULL;
    struct tarn_arguments args = {
        .q = q, .k = k, .v = v, .options = options, .want_M = TARN_ANY};
    tarn_status status = open_sim(ctx, "sim", args, &call);
    if (!status) status = tarn_call_new(&call, call.N_q, call.M, &result);
    if (!status && weights) status = tarn_call_new(&call, call.N_q, call.N, &w);
    if (!status) {
        call.first.out = tarn_tensor_data(result);
        if (w) call.first.weights = tarn_tensor_data(w);
        status = tarn_call_run(&call, call.ops->sim, call.options.by == TARN_PAIR);
    }
    tarn_call_close(&call);
    if (status) {
        tarn_tensor_free(result);
        tarn_tensor_free(w);
        return status;
    }
    *out = result;
    if (weights) *weights = w;
    return TARN_OK;
}

/* ---- Stages 2 and 3 -------------------------------------------------------------------------- */

tarn_status tarn_assoc(tarn_context *ctx, const tarn_tensor *q, const tarn_tensor *k,
                       const tarn_tensor *v, const tarn_options *options,
                       tarn_tensor **out)
{
    struct tarn_call call;
    tarn_tensor *result = NULL;
    struct tarn_arguments args = {
        .q = q, .k = k, .v = v, .options = options, .want_M = TARN_ANY};
    tarn_status status = tarn_call_open(ctx, "assoc", &args, &call);
    if (!status) status = tarn_call_features(&call, call.ops->assoc);
    if (!status) status = tarn_call_new(&call, call.N_q, call.M, &result);
    if (!status) {
        call.first.out = tarn_tensor_data(result);
        status = tarn_call_run(&call, call.ops->assoc, false);
    }
    tarn_call_close(&call);
    if (status)
        tarn_tensor_free(result);
    else
        *out = result;
    return status;
}

tarn_status tarn_prefix(tarn_context *ctx, const tarn_tensor *q, const tarn_tensor *k,
                        const tarn_tensor *v, const tarn_options *options,
                        tarn_tensor **out, tarn_rnn **final)
{
    struct tarn_call call;
    tarn_tensor *result = NULL;
    tarn_rnn *st = NULL;
    struct tarn_arguments args = {.q = q,
                                  .k = k,
                                  .v = v,
                                  .options = options,
                                  .want_M = TARN_ANY,
                                  .same_length = true};
    tarn_status status = tarn_call_open(ctx, "prefix", &args, &call);
    const struct tarn_form *form =
        status ? NULL : call.ops->prefix[call.options.method];
    if (!status) status = tarn_call_features(&call, form);
    if (!status) status = tarn_cell_for(&call, &st);
    if (!status) status = tarn_call_new(&call, call.N_q, call.M, &result);
    if (!status) {
        call.first.out = tarn_tensor_data(result);
        tarn_cell_attach(&call, st);
        status = tarn_call_run(&call, form, false);
    }
    if (!status) tarn_cell_advance(&call, st);
    tarn_call_close(&call);
    if (status) tarn_tensor_free(result);
    if (status || !final) tarn_rnn_free(st);
    if (status) return status;
    *out = result;
    if (final) *final = st;
    return TARN_OK;
}

/* ---- Gradients ---------------------------------------------------------------------------------- */

/* The tensors that a gradient writes, and buffers for the gradients of features. */
struct grad_outputs {
    tarn_tensor *dq, *dk, *dv, *dS0, *dz0;
    tarn_tensor *dfq, *dfk; /* [.., C]; NULL where the form takes q and k as they are */
};

static void free_outputs(struct grad_outputs *g)
{
    tarn_tensor_free(g->dq);
    tarn_tensor_free(g->dk);
    tarn_tensor_free(g->dv);
    tarn_tensor_free(g->dS0);
    tarn_tensor_free(g->dz0);
    tarn_tensor_free(g->dfq);
    tarn_tensor_free(g->dfk);
    *g = (struct grad_outputs){0};
}

/* A fresh tensor, zeros where lengths leave rows out: keys that do not exist have no
 * gradient. */
static tarn_status new_rows(struct tarn_call *call, size_t rows, size_t columns,
                            tarn_tensor **out)
{
    tarn_status status = tarn_call_new(call, rows, columns, out);
    if (status || call->options.lengths_count == 0) return status;
    return tarn_fill(call->ctx, *out, 0);
}

static tarn_status new_outputs(struct tarn_call *call, bool has_phi,
                               struct grad_outputs *g)
{
    struct tarn_attn *a = &call->first;
    const bool features = has_phi && a->phi == TARN_PHI_NONE;
    tarn_status status = new_rows(call, call->N_q, call->D, &g->dq);
    if (!status) status = new_rows(call, call->N, call->D, &g->dk);
    if (!status) status = new_rows(call, call->N, call->M, &g->dv);
    if (!status && features) status = new_rows(call, call->N_q, a->C, &g->dfq);
    if (!status && features) status = new_rows(call, call->N, a->C, &g->dfk);
    if (status) return status;
    a->dq = tarn_tensor_data(features ? g->dfq : g->dq);
    a->dk = tarn_tensor_data(features ? g->dfk : g->dk);
    a->dv = tarn_tensor_data(g->dv);
    return TARN_OK;
}

/* From gradients of features to those of q and k, through stage 0. */
static tarn_status through_phi(struct tarn_call *call, struct grad_outputs *g)
{
    const size_t heads = tarn_call_heads(call);
    struct tarn_rows q = {call->dtype, heads * call->N_q, call->D,
                          tarn_tensor_data(call->q.t), call->device};
    struct tarn_rows k = {call->dtype, heads * call->N, call->D,
                          tarn_tensor_data(call->k.t), call->device};
    tarn_status status =
        tarn_features_grad(call->ctx, call->function, call->options.phi, q, &call->fq,
                           tarn_tensor_data(g->dfq), tarn_tensor_data(g->dq));
    if (!status)
        status = tarn_features_grad(call->ctx, call->function, call->options.phi, k,
                                    &call->fk, tarn_tensor_data(g->dfk),
                                    tarn_tensor_data(g->dk));
    return status;
}

/* Zeros for the keys past the length of batch entry b. */
static tarn_status clear_past_length(struct tarn_call *call, tarn_tensor *dk, size_t b)
{
    const int rank = tarn_tensor_rank(dk);
    const size_t length = (size_t)call->options.lengths[b];
    tarn_tensor *entry = NULL, *rows = NULL;
    tarn_status status = rank < 3 ? tarn_narrow(call->ctx, dk, 0, 0, call->N, 1, &entry)
                                  : tarn_narrow(call->ctx, dk, 0, b, 1, 1, &entry);
    if (!status)
        status =
            tarn_narrow(call->ctx, entry, rank - 2, length, call->N - length, 1, &rows);
    if (!status) status = tarn_fill(call->ctx, rows, 0);
    tarn_tensor_free(rows);
    tarn_tensor_free(entry);
    return status;
}

/* A key that does not exist has no gradient. Through phi, what lies in its place would show:
 * 0 times the derivative at NaN is NaN. */
static tarn_status clear_missing_keys(struct tarn_call *call, tarn_tensor *dk)
{
    tarn_status status = TARN_OK;
    for (size_t b = 0; !status && b < call->options.lengths_count; b++)
        status = clear_past_length(call, dk, b);
    return status;
}

/* What all gradients have in common once their call is open: run, then phi, then hand
 * over. Takes the outputs' ownership. */
static tarn_status finish_grad(struct tarn_call *call, const struct tarn_form *form,
                               struct grad_outputs *g, tarn_status status,
                               tarn_grads *grads)
{
    if (!status) status = tarn_call_run(call, form, false);
    if (!status && g->dfq) status = through_phi(call, g);
    if (!status && g->dfq) status = clear_missing_keys(call, g->dk);
    if (!status) {
        *grads = (tarn_grads){g->dq, g->dk, g->dv, g->dS0, g->dz0};
        g->dq = g->dk = g->dv = g->dS0 = g->dz0 = NULL;
    }
    free_outputs(g);
    tarn_call_close(call);
    return status;
}

void tarn_grads_free(tarn_grads *grads)
{
    tarn_tensor_free(grads->dq);
    tarn_tensor_free(grads->dk);
    tarn_tensor_free(grads->dv);
    tarn_tensor_free(grads->dS0);
    tarn_tensor_free(grads->dz0);
    *grads = (tarn_grads){0};
}

static struct tarn_arguments
grad_arguments(const tarn_tensor *q, const tarn_tensor *k, const tarn_tensor *v,
               const tarn_tensor *dout, const tarn_options *options, bool same_length)
{
    return (struct tarn_arguments){.q = q,
                                   .k = k,
                                   .v = v,
                                   .dout = dout,
                                   .options = options,
                                   .want_M = TARN_ANY,
                                   .same_length = same_length};
}

tarn_status tarn_sim_grad(tarn_context *ctx, const tarn_tensor *q, const tarn_tensor *k,
                          const tarn_tensor *v, const tarn_tensor *dout,
                          const tarn_options *options, tarn_grads *grads)
{
    struct tarn_call call;
    struct grad_outputs g = {0};
    if (options && options->by == TARN_PAIR)
        return tarn_fail(
            ctx, TARN_EINVAL,
            "sim_grad: by is a function of pairs, whose derivative is not known; "
            "expected \"softmax\", \"rbf\" or a feature map");
    struct tarn_arguments args = grad_arguments(q, k, v, dout, options, false);
    tarn_status status = open_sim(ctx, "sim_grad", args, &call);
    if (!status) status = new_outputs(&call, call.options.by == TARN_PHI, &g);
    return finish_grad(&call, status ? NULL : call.ops->sim_grad, &g, status, grads);
}

tarn_status tarn_assoc_grad(tarn_context *ctx, const tarn_tensor *q,
                            const tarn_tensor *k, const tarn_tensor *v,
                            const tarn_tensor *dout, const tarn_options *options,
                            tarn_grads *grads)
{
    struct tarn_call call;
    struct grad_outputs g = {0};
    struct tarn_arguments args = grad_arguments(q, k, v, dout, options, false);
    tarn_status status = tarn_call_open(ctx, "assoc_grad", &args, &call);
    if (!status) status = tarn_call_features(&call, call.ops->assoc_grad);
    if (!status) status = new_outputs(&call, true, &g);
    return finish_grad(&call, status ? NULL : call.ops->assoc_grad, &g, status, grads);
}

/* Checks a gradient that arrives at the final state: both parts, of the state's shape. */
static tarn_status check_dstate(struct tarn_call *call)
{
    const tarn_options *o = &call->options;
    const size_t C = call->first.C;
    if (!o->dS && !o->dz) return TARN_OK;
    if (!o->dS || !o->dz)
        return tarn_fail(call->ctx, TARN_EINVAL,
                         "%s: dstate has only %s, expected S and z", call->function,
                         o->dS ? "S" : "z");
    struct tarn_extents S = {{call->B, call->H, C, call->M}};
    tarn_status status =
        tarn_call_expect(call, "dstate.S", o->dS, S, "C, M", "the state");
    struct tarn_call flat = *call;
    flat.token = true; /* z has no N, and C where a token has D */
    struct tarn_extents z = {{call->B, call->H, 1, C}};
    return status ? status
                  : tarn_call_expect(&flat, "dstate.z", o->dz, z, "C", "the state");
}

/* States of the recurrent gradients: the initial one in, its gradient out. */
static tarn_status open_states(struct tarn_call *call, tarn_rnn *st,
                               struct grad_outputs *g, tarn_tensor **dS,
                               tarn_tensor **dz)
{
    struct tarn_attn *a = &call->first;
    tarn_cell_attach(call, st);
    tarn_status status = check_dstate(call);
    if (!status && call->options.dS)
        status = tarn_as(call->ctx, call->options.dS, call->dtype, dS);
    if (!status && call->options.dz)
        status = tarn_as(call->ctx, call->options.dz, call->dtype, dz);
    if (!status && call->options.state) {
        status = tarn_call_new(call, a->C, call->M, &g->dS0);
        call->token = true; /* z [(B, (H,)) C] */
        if (!status) status = tarn_call_new(call, 1, a->C, &g->dz0);
        call->token = false;
    }
    if (status) return status;
    a->dS = *dS ? tarn_tensor_data(*dS) : NULL;
    a->dz = *dz ? tarn_tensor_data(*dz) : NULL;
    a->dS0 = g->dS0 ? tarn_tensor_data(g->dS0) : NULL;
    a->dz0 = g->dz0 ? tarn_tensor_data(g->dz0) : NULL;
    return TARN_OK;
}

/* prefix_grad and rnn_grad differ in how they go back, not in what goes in and out. */
static tarn_status state_grad(tarn_context *ctx, const char *function, bool is_rnn,
                              struct tarn_arguments args, tarn_grads *grads)
{
    struct tarn_call call;
    struct grad_outputs g = {0};
    tarn_rnn *st = NULL;
    tarn_tensor *dS = NULL, *dz = NULL;
    tarn_status status = tarn_call_open(ctx, function, &args, &call);
    const struct tarn_form *form = NULL;
    if (!status) form = is_rnn ? call.ops->rnn_grad : call.ops->prefix_grad;
    if (!status) status = tarn_call_features(&call, form);
    if (!status) status = tarn_cell_for(&call, &st);
    if (!status) status = new_outputs(&call, true, &g);
    if (!status) status = open_states(&call, st, &g, &dS, &dz);
    status = finish_grad(&call, form, &g, status, grads);
    tarn_rnn_free(st);
    tarn_tensor_free(dS);
    tarn_tensor_free(dz);
    return status;
}

tarn_status tarn_prefix_grad(tarn_context *ctx, const tarn_tensor *q,
                             const tarn_tensor *k, const tarn_tensor *v,
                             const tarn_tensor *dout, const tarn_options *options,
                             tarn_grads *grads)
{
    struct tarn_arguments args = grad_arguments(q, k, v, dout, options, true);
    return state_grad(ctx, "prefix_grad", false, args, grads);
}

tarn_status tarn_rnn_grad(tarn_context *ctx, const tarn_tensor *q, const tarn_tensor *k,
                          const tarn_tensor *v, const tarn_tensor *dout,
                          const tarn_options *options, tarn_grads *grads)
{
    struct tarn_arguments args = grad_arguments(q, k, v, dout, options, true);
    return state_grad(ctx, "rnn_grad", true, args, grads);
}
