/* operations.c: prepares an operation's inputs, times it, and compares what it gives with
 * the plain stages in float64. See operations.h.
 *
 * Inputs are the same float32 numbers for both types, so that one reference serves both. Of
 * several heads the first one is compared. */
#include "bench/operations.h"
#include "core/tensor.h"
#include <math.h>
#include <string.h>

/* Tokens that one round of rnn_step goes through. */
enum { STEPS = 256, OUTPUTS = 3 };

/* An operation about to be run: once(job) is one round, and leaves its outputs. */
struct job {
    tarn_context *ctx;
    const struct tarn_bench_case *of;
    tarn_options options;
    tarn_tensor *q, *k, *v, *dout;
    tarn_tensor *out[OUTPUTS];
    tarn_rnn *st;
    tarn_tensor *tokens[3][STEPS]; /* of q, k, v: views [H, D] */
};

static void free_outputs(struct job *j)
{
    for (int i = 0; i < OUTPUTS; i++) {
        tarn_tensor_free(j->out[i]);
        j->out[i] = NULL;
    }
}

/* ---- the operations ---------------------------------------------------------------- */

static tarn_status call_sim(struct job *j)
{
    return tarn_sim(j->ctx, j->q, j->k, j->v, &j->options, &j->out[0], NULL);
}

static tarn_status call_assoc(struct job *j)
{
    return tarn_assoc(j->ctx, j->q, j->k, j->v, &j->options, &j->out[0]);
}

static tarn_status call_prefix(struct job *j)
{
    return tarn_prefix(j->ctx, j->q, j->k, j->v, &j->options, &j->out[0], NULL);
}

static tarn_status call_prefix_grad(struct job *j)
{
    tarn_grads g = {0};
    tarn_status status =
        tarn_prefix_grad(j->ctx, j->q, j->k, j->v, j->dout, &j->options, &g);
    j->out[0] = g.dq;
    j->out[1] = g.dk;
    j->out[2] = g.dv;
    return status;
}

static tarn_status call_phi(struct job *j)
{
    return tarn_phi_apply(j->ctx, tarn_phi_find("elu1"), j->q, &j->out[0]);
}

/* As a model that generates does it: token after token, each output into the same place. */
static tarn_status call_steps(struct job *j)
{
    tarn_status status = TARN_OK;
    for (size_t t = 0; status == TARN_OK && t < STEPS; t++)
        status = tarn_rnn_step(j->ctx, j->st, j->tokens[0][t], j->tokens[1][t],
                               j->tokens[2][t], &j->out[0]);
    return status;
}

static const struct operation {
    const char *name;
    tarn_status (*call)(struct job *j);
    tarn_status (*reference)(struct job *j); /* of impl "plain" */
    bool causal;                             /* sim */
} operations[] = {
    {"phi_elu1", call_phi, call_phi, false},
    {"sim_softmax", call_sim, call_sim, false},
    {"sim_softmax_causal", call_sim, call_sim, true},
    {"assoc", call_assoc, call_assoc, false},
    {"prefix", call_prefix, call_prefix, false},
    {"prefix_grad", call_prefix_grad, call_prefix_grad, false},
    {"rnn_step", call_steps, call_prefix, false},
};

static const struct operation *operation_of(const struct tarn_bench_case *of)
{
    const struct operation *o = operations;
    while (strcmp(o->name, of->name) != 0) o++;
    return o;
}

/* ---- inputs ------------------------------------------------------------------------ */

static bool steps(const struct tarn_bench_case *of)
{
    return strcmp(of->name, "rnn_step") == 0;
}

/* Normal numbers [B, H, N, D], the same in each type; a token's heads lie side by side where
 * tokens come one at a time. */
static tarn_status draw(tarn_context *ctx, const struct tarn_bench_case *of,
                        tarn_dtype dtype, uint64_t seed, tarn_tensor **out)
{
    static const int heads_first[] = {0, 2, 1, 3};
    const size_t shape[] = {of->B, of->H, of->N, of->D};
    const size_t by_token[] = {of->B, STEPS, of->H, of->D};
    tarn_tensor *drawn = NULL, *ordered = NULL;
    tarn_status status = tarn_random(ctx, TARN_NORMAL, &seed, TARN_FLOAT32, 4,
                                     steps(of) ? by_token : shape, &drawn);
    if (status == TARN_OK) status = tarn_clone(ctx, drawn, dtype, &ordered);
    tarn_tensor_free(drawn);
    if (status != TARN_OK || !steps(of)) return tarn_deliver(status, ordered, out);
    status = tarn_permute(ctx, ordered, heads_first, out);
    tarn_tensor_free(ordered);
    return status;
}

static tarn_status split_tokens(struct job *j)
{
    const tarn_tensor *inputs[] = {j->q, j->k, j->v};
    for (int i = 0; i < 3; i++)
        for (size_t t = 0; t < STEPS; t++) {
            tarn_status status = tarn_select(j->ctx, inputs[i], 2, t, &j->tokens[i][t]);
            if (status != TARN_OK) return status;
        }
    return TARN_OK;
}

static tarn_status open_cell(struct job *j, tarn_dtype dtype)
{
    const struct tarn_bench_case *of = j->of;
    const tarn_cell cell = {.B = of->B,
                            .H = of->H,
                            .D = of->D,
                            .M = of->D,
                            .eps = j->options.eps,
                            .dtype = dtype};
    tarn_status status = tarn_rnn_new(j->ctx, &cell, &j->st);
    return status == TARN_OK ? split_tokens(j) : status;
}

static tarn_status open_job(struct job *j, tarn_context *ctx,
                            const struct tarn_bench_case *of, tarn_dtype dtype)
{
    *j = (struct job){.ctx = ctx, .of = of, .options = tarn_defaults()};
    j->options.precision = of->precision;
    j->options.causal = operation_of(of)->causal;
    tarn_tensor **inputs[] = {&j->q, &j->k, &j->v, &j->dout};
    for (uint64_t i = 0; i < 4; i++) {
        tarn_status status = draw(ctx, of, dtype, i + 1, inputs[i]);
        if (status != TARN_OK) return status;
    }
    return steps(of) ? open_cell(j, dtype) : TARN_OK;
}

static void close_job(struct job *j)
{
    free_outputs(j);
    for (int i = 0; i < 3; i++)
        for (size_t t = 0; t < STEPS; t++) tarn_tensor_free(j->tokens[i][t]);
    tarn_rnn_free(j->st);
    tarn_tensor_free(j->q);
    tarn_tensor_free(j->k);
    tarn_tensor_free(j->v);
    tarn_tensor_free(j->dout);
}

/* ---- errors ------------------------------------------------------------------------ */

/* Leaves the first head of a tensor [B, H, ..]. */
static tarn_status first_head(tarn_context *ctx, tarn_tensor **t)
{
    tarn_tensor *batch = NULL, *head = NULL;
    tarn_status status = tarn_narrow(ctx, *t, 0, 0, 1, 1, &batch);
    if (status == TARN_OK) status = tarn_narrow(ctx, batch, 1, 0, 1, 1, &head);
    tarn_tensor_free(batch);
    if (status != TARN_OK) return status;
    tarn_tensor_free(*t);
    *t = head;
    return TARN_OK;
}

/* The plain stages' outputs for the first head, in float64. */
static tarn_status make_reference(tarn_context *ctx, const struct tarn_bench_case *of,
                                  struct job *reference)
{
    tarn_status status = open_job(reference, ctx, of, TARN_FLOAT64);
    tarn_tensor **inputs[] = {&reference->q, &reference->k, &reference->v,
                              &reference->dout};
    for (int i = 0; status == TARN_OK && i < 4; i++)
        status = first_head(ctx, inputs[i]);
    reference->options.impl = "plain";
    reference->options.precision = TARN_ACCURATE;
    return status == TARN_OK ? operation_of(of)->reference(reference) : status;
}

/* The root of the mean squared difference, over that of what is right. Step's only output
 * is that of the last token. */
static tarn_status rms_error(tarn_context *ctx, const tarn_tensor *got,
                             const tarn_tensor *right, double *error)
{
    tarn_tensor *numbers = NULL;
    tarn_status status = tarn_clone(ctx, got, TARN_FLOAT64, &numbers);
    if (status != TARN_OK) return status;
    const size_t all = tarn_tensor_numel(right), have = tarn_tensor_numel(got);
    const size_t count = have < all ? have / (size_t)tarn_tensor_shape(got)[1] : all;
    const double *x = tarn_tensor_data(numbers);
    const double *y = (const double *)tarn_tensor_data(right) + (all - count);
    double squares = 0, total = 0;
    for (size_t i = 0; i < count; i++) {
        squares += (x[i] - y[i]) * (x[i] - y[i]);
        total += y[i] * y[i];
    }
    *error = sqrt(squares / total);
    tarn_tensor_free(numbers);
    return TARN_OK;
}

/* The largest error of the outputs. */
static tarn_status compare(const struct job *j, const struct job *reference,
                           double *worst)
{
    *worst = 0;
    for (int i = 0; i < OUTPUTS && j->out[i]; i++) {
        double error = 0;
        tarn_status status = rms_error(j->ctx, j->out[i], reference->out[i], &error);
        if (status != TARN_OK) return status;
        *worst = fmax(*worst, error);
    }
    return TARN_OK;
}

/* ---- a row ------------------------------------------------------------------------- */

static tarn_status once(void *data)
{
    struct job *j = data;
    if (!j->st) free_outputs(j);
    return operation_of(j->of)->call(j);
}

/* Times an operation. The round before the timed ones is the one whose outputs are compared
 * and whose arithmetic is counted. */
static tarn_status measure(struct job *j, const struct job *reference,
                           struct tarn_effort effort, struct tarn_bench_row *row)
{
    const double before = j->ctx->flops;
    tarn_status status = once(j);
    double work = j->ctx->flops - before;
    if (status == TARN_OK) status = compare(j, reference, &row->rms_error);
    if (status == TARN_OK)
        status = tarn_bench_time(tarn_threads(j->ctx), effort, once, j, &row->seconds);
    if (status != TARN_OK) return status;
    const double rounds = steps(j->of) ? STEPS : 1;
    row->counts = strcmp(j->of->name, "phi_elu1") != 0;
    if (!row->counts) work = (double)tarn_tensor_numel(j->out[0]);
    row->speed = work / row->seconds.min;
    row->seconds.median /= rounds;
    row->seconds.min /= rounds;
    row->seconds.max /= rounds;
    return TARN_OK;
}

tarn_status tarn_bench_run(tarn_context *ctx, const struct tarn_bench_case *of,
                           struct tarn_effort effort, struct tarn_bench_row rows[2])
{
    struct job reference = {0}, j = {0};
    tarn_status status = make_reference(ctx, of, &reference);
    for (int i = 0; status == TARN_OK && i < 2; i++) {
        const tarn_dtype dtype = i == 0 ? TARN_FLOAT32 : TARN_FLOAT64;
        rows[i] = (struct tarn_bench_row){.of = of, .dtype = dtype};
        status = open_job(&j, ctx, of, dtype);
        if (status == TARN_OK) status = measure(&j, &reference, effort, &rows[i]);
        close_job(&j);
    }
    close_job(&reference);
    return status;
}
