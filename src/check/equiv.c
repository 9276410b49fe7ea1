/* equiv.c: every form against the oracle. Chapter 8 (one answer, many forms).
 *
 * Two orders of summation give two roundings, so "the same" needs a bound. With u = eps/2
 * a form's sum of n terms errs by at most n u times the sum of the absolute terms, which
 * the oracle gives as the magnitude. The longest chain of additions behind an output is
 *
 *     C        phi(q_i).z_i and phi(q_i)^T S_i, or phi(q_i).phi(k_j)
 *     L        one block of the two-level sums, L = 64 (N if it is shorter)
 *     N / L    the blocks
 *     a        exp(x): rounding x - max by u |x| changes exp by u |x|, a the largest |x|
 *     8        products, the division, the maximum's scale, the exp itself
 *
 * once for the numerator and once for the denominator, n u + n u = n eps:
 *
 *     tol = eps n    n = C + min(N, L) + N / L + a + 8
 *
 * For softmax and rbf, C drops out and x is itself a sum of D terms, whose roundings add
 * up like a random walk: n = min(N, L) + N / L + (sqrt(D) + 2) a + 8. In a gradient
 * dout_i . out_i / den_i brings in 4 n u, and two products over M terms bring M u each:
 * n_grad = 2 n + M. These are bounds, not estimates: the worst of random inputs, over all
 * shapes, comes to between a half and a fiftieth of them. */
#include "check/forms.h"
#include "check/oracle.h"
#include "check/report.h"
#include "backend.h"
#include "devices.h"
#include <float.h>
#include <math.h>
#include <string.h>

/* The inputs in one type, on one device, and what the oracle makes of them. */
struct side {
    tarn_dtype dtype;
    const struct tarn_device *device; /* NULL: the host */
    tarn_tensor *q, *k, *v, *dout, *S0, *z0, *dS, *dz;
    tarn_rnn *state;
    struct tarn_oracle oracle;
};

struct comparison {
    tarn_context *ctx;
    const tarn_tensor *q, *k, *v;
    const tarn_equiv_options *options;
    tarn_tensor *S0, *z0,
        *dout; /* the state before token 1; what arrives at the output */
    tarn_report report;
};

tarn_equiv_options tarn_equiv_defaults(void)
{
    tarn_equiv_options options = {.attention = tarn_defaults(),
                                  .float32 = true,
                                  .float64 = true,
                                  .tol = (double)NAN};
    options.attention.by = TARN_PHI;
    options.attention.causal = true;
    return options;
}

/* ---- How far two sums may differ ------------------------------------------------------- */

static double tolerance(const struct comparison *c, const struct side *s, bool grad)
{
    if (!isnan(c->options->tol)) return c->options->tol;
    const tarn_options *o = &c->options->attention;
    const double eps = s->dtype == TARN_FLOAT32 ? (double)FLT_EPSILON : DBL_EPSILON;
    const double N = (double)s->k->shape[s->k->rank - 2], L = 64;
    const double D = (double)s->q->shape[s->q->rank - 1];
    const double M = (double)s->v->shape[s->v->rank - 1], a = s->oracle.exponent;
    double n = o->precision == TARN_FAST ? N : fmin(N, L) + ceil(N / L);
    n += o->by == TARN_SOFTMAX || o->by == TARN_RBF ? (sqrt(D) + 2) * a
                                                    : (double)s->oracle.features + a;
    n += 8;
    return eps * (grad ? 2 * n + M : n);
}

/* ---- Rows ------------------------------------------------------------------------------ */

/* Compares a tensor with the oracle's and adds the row. */
static tarn_status add_row(struct comparison *c, const struct side *s, tarn_row row,
                           const tarn_tensor *got,
                           const struct tarn_oracle_sum *expected)
{
    tarn_tensor *rows, *wide;
    tarn_status status = tarn_host_rows(c->ctx, got, &rows);
    if (status) return status;
    status = tarn_as(c->ctx, rows, TARN_FLOAT64, &wide);
    tarn_tensor_free(rows);
    if (status) return status;
    const double *x = wide->data, *value = expected->value->data,
                 *magnitude = expected->magnitude->data;
    row.device = tarn_device_name(s->device);
    if (s->device) row.impl = c->ctx->ran;
    row.dtype = s->dtype;
    row.tol = tolerance(c, s, strcmp(row.what, "out") != 0);
    for (size_t n = 0; n < tarn_tensor_numel(expected->value); n++)
        tarn_row_compare(&row, expected->value, n, x[n], value[n], magnitude[n]);
    tarn_tensor_free(wide);
    return tarn_report_add(c->ctx, &c->report, row);
}

/* The most that was held at a time since `begin_workspace` beside what is held now. */
static void begin_workspace(tarn_context *ctx)
{
    ctx->most = tarn_bytes(ctx);
}

static size_t end_workspace(const tarn_context *ctx)
{
    return ctx->most - tarn_bytes(ctx);
}

/* A device may still be at work when a function has returned. */
static tarn_status finish(struct comparison *c, const struct side *s)
{
    return s->device ? s->device->finish(c->ctx) : TARN_OK;
}

static tarn_status compare_output(struct comparison *c, const struct side *s,
                                  const struct tarn_form_entry *form,
                                  const struct tarn_form_input *in)
{
    tarn_row row = {.form = form->name, .impl = in->options.impl, .what = "out"};
    tarn_tensor *out = NULL;
    const double start = tarn_report_clock();
    begin_workspace(c->ctx);
    tarn_status status = form->run(in, form->method, &out, &row.state_bytes);
    if (status) return status;
    status = finish(c, s);
    row.seconds = tarn_report_clock() - start;
    row.workspace_bytes = end_workspace(c->ctx);
    if (!status) status = add_row(c, s, row, out, &s->oracle.out);
    tarn_tensor_free(out);
    return status;
}

static tarn_status compare_gradients(struct comparison *c, const struct side *s,
                                     const struct tarn_form_entry *form,
                                     const struct tarn_form_input *in)
{
    tarn_row row = {.form = form->name, .impl = in->options.impl};
    tarn_grads grads = {0};
    const double start = tarn_report_clock();
    begin_workspace(c->ctx);
    tarn_status status =
        form->grad(c->ctx, s->q, s->k, s->v, s->dout, &in->options, &grads);
    if (status) return status;
    status = finish(c, s);
    row.seconds = tarn_report_clock() - start;
    row.workspace_bytes = end_workspace(c->ctx);

    const struct tarn_oracle *o = &s->oracle;
    const struct {
        const char *what;
        const tarn_tensor *got;
        const struct tarn_oracle_sum *expected;
    } parts[] = {
        {"dq", grads.dq, &o->dq},    {"dk", grads.dk, &o->dk},
        {"dv", grads.dv, &o->dv},    {"dS0", grads.dS0, &o->dS0},
        {"dz0", grads.dz0, &o->dz0},
    };
    for (size_t p = 0; !status && p < sizeof parts / sizeof *parts; p++) {
        if (!parts[p].expected->value) continue;
        row.what = parts[p].what;
        status = add_row(c, s, row, parts[p].got, parts[p].expected);
    }
    tarn_grads_free(&grads);
    return status;
}

/* ---- Forms and implementations --------------------------------------------------------- */

/* Ladders differ in length: a form without the kernels that were asked for has no row. */
static bool lacks_kernel(const struct comparison *c, const struct side *s,
                         const char *impl, tarn_status status)
{
    return status == TARN_EDEVICE && s->device && impl && !c->ctx->ran;
}

static tarn_status compare_forms(struct comparison *c, const struct side *s,
                                 const char *impl)
{
    struct tarn_form_input in = {.ctx = c->ctx,
                                 .q = s->q,
                                 .k = s->k,
                                 .v = s->v,
                                 .options = c->options->attention};
    in.options.impl = impl;
    in.options.state = s->state;
    in.options.dS = s->dS;
    in.options.dz = s->dz;
    const struct tarn_form_entry *form;
    tarn_status status = TARN_OK;
    for (size_t f = 0; !status && (form = tarn_form_at(f)); f++) {
        if (!form->fits(&in)) continue;
        if (form->run) status = compare_output(c, s, form, &in);
        if (!status && form->grad && c->options->grad)
            status = compare_gradients(c, s, form, &in);
        if (lacks_kernel(c, s, impl, status)) status = TARN_OK;
    }
    return status;
}

/* On the host: each implementation there is, or the one that was asked for. */
static tarn_status compare_impls(struct comparison *c, const struct side *s)
{
    tarn_status status = TARN_OK;
    tarn_backend_info info;
    for (size_t b = 0; !status && tarn_backend_at(b, &info); b++) {
        const bool wanted =
            !c->options->impl || strcmp(c->options->impl, info.name) == 0;
        if (!info.usable || !wanted || strcmp(info.device, "cpu") != 0) continue;
        status = compare_forms(c, s, info.name);
    }
    return status;
}

/* A name of kernels, such as "k1", is one of devices, any other one of the host. */
static bool is_kernel(const char *impl)
{
    return impl[0] == 'k' && impl[1] >= '1' && impl[1] <= '9';
}

/* ---- The inputs in one type ------------------------------------------------------------ */

/* t in a type, on the host: a copy, or t itself with its strides. NULL stays NULL. */
static tarn_status convert(tarn_context *ctx, const tarn_tensor *t, tarn_dtype dtype,
                           tarn_tensor **out)
{
    if (!t) return TARN_OK;
    if (tarn_device_of(t)) {
        tarn_tensor *rows;
        tarn_status status = tarn_host_rows(ctx, t, &rows);
        if (status) return status;
        status = tarn_as(ctx, rows, dtype, out);
        tarn_tensor_free(rows);
        return status;
    }
    return t->dtype == dtype ? tarn_view_new(ctx, t, out)
                             : tarn_clone(ctx, t, dtype, out);
}

static tarn_status convert_state(struct comparison *c, struct side *s)
{
    const tarn_rnn *given = c->options->attention.state;
    if (!given) return TARN_OK;
    tarn_cell cell = *tarn_rnn_cell(given);
    cell.dtype = s->dtype;
    cell.device = NULL;
    tarn_status status = convert(c->ctx, c->S0, s->dtype, &s->S0);
    if (!status) status = convert(c->ctx, c->z0, s->dtype, &s->z0);
    if (!status) status = tarn_rnn_new(c->ctx, &cell, &s->state);
    if (!status) status = tarn_rnn_set_state(c->ctx, s->state, s->S0, s->z0);
    return status;
}

static tarn_status convert_inputs(struct comparison *c, struct side *s)
{
    const tarn_options *o = &c->options->attention;
    tarn_status status = convert(c->ctx, c->q, s->dtype, &s->q);
    if (!status) status = convert(c->ctx, c->k, s->dtype, &s->k);
    if (!status) status = convert(c->ctx, c->v, s->dtype, &s->v);
    if (!status) status = convert(c->ctx, c->dout, s->dtype, &s->dout);
    if (!status) status = convert(c->ctx, o->dS, s->dtype, &s->dS);
    if (!status) status = convert(c->ctx, o->dz, s->dtype, &s->dz);
    if (!status) status = convert_state(c, s);
    return status;
}

static void free_inputs(struct side *s)
{
    tarn_tensor **owned[] = {&s->q,  &s->k,  &s->v,  &s->dout,
                             &s->S0, &s->z0, &s->dS, &s->dz};
    for (size_t n = 0; n < sizeof owned / sizeof *owned; n++) {
        tarn_tensor_free(*owned[n]);
        *owned[n] = NULL;
    }
    tarn_rnn_free(s->state);
    s->state = NULL;
}

static tarn_status run_oracle(struct comparison *c, struct side *s)
{
    tarn_options options = c->options->attention;
    options.state = NULL;
    options.dS = s->dS;
    options.dz = s->dz;
    const struct tarn_oracle_problem problem = {.function = "equiv",
                                                .q = s->q,
                                                .k = s->k,
                                                .v = s->v,
                                                .options = &options,
                                                .S0 = s->S0,
                                                .z0 = s->z0,
                                                .dout = s->dout};
    tarn_oracle_free(&s->oracle);
    return tarn_oracle_run(c->ctx, &problem, &s->oracle);
}

/* Tells whether every input is float32: then float64 holds the same numbers, and the
 * oracle's answer serves both types. */
static bool all_float32(const struct comparison *c)
{
    const tarn_options *o = &c->options->attention;
    const tarn_tensor *inputs[] = {c->q, c->k, c->v, c->S0, o->dS, o->dz};
    for (size_t n = 0; n < sizeof inputs / sizeof *inputs; n++)
        if (inputs[n] && inputs[n]->dtype != TARN_FLOAT32) return false;
    return true;
}

/* ---- The inputs on one device ------------------------------------------------------------ */

static tarn_status move_state(struct comparison *c, const struct side *from,
                              struct side *to)
{
    if (!from->state) return TARN_OK;
    tarn_cell cell = *tarn_rnn_cell(from->state);
    cell.device = to->device->name;
    tarn_status status = tarn_rnn_new(c->ctx, &cell, &to->state);
    return status ? status : tarn_rnn_set_state(c->ctx, to->state, to->S0, to->z0);
}

static tarn_status move_side(struct comparison *c, const struct side *from,
                             struct side *to)
{
    const struct {
        const tarn_tensor *from;
        tarn_tensor **to;
    } moves[] = {{from->q, &to->q},       {from->k, &to->k},   {from->v, &to->v},
                 {from->dout, &to->dout}, {from->S0, &to->S0}, {from->z0, &to->z0},
                 {from->dS, &to->dS},     {from->dz, &to->dz}};
    tarn_status status = TARN_OK;
    for (size_t n = 0; !status && n < sizeof moves / sizeof *moves; n++)
        if (moves[n].from)
            status = tarn_move(c->ctx, moves[n].from, to->device, moves[n].to);
    return status ? status : move_state(c, from, to);
}

static tarn_status compare_on(struct comparison *c, const struct side *s,
                              const char *name)
{
    const char *impl = c->options->impl;
    struct side there = {.dtype = s->dtype, .oracle = s->oracle};
    tarn_status status = tarn_find_device(c->ctx, "equiv", name, &there.device);
    if (status || (impl && is_kernel(impl) != (there.device != NULL))) return status;
    if (!there.device) return compare_impls(c, s);
    status = move_side(c, s, &there);
    if (!status) status = compare_forms(c, &there, impl);
    free_inputs(&there);
    return status;
}

static tarn_status compare_devices(struct comparison *c, const struct side *s)
{
    const tarn_equiv_options *o = c->options;
    if (o->device_count == 0) return compare_on(c, s, tarn_tensor_device(c->q));
    tarn_status status = TARN_OK;
    for (size_t n = 0; !status && n < o->device_count; n++)
        status = compare_on(c, s, o->devices[n]);
    return status;
}

static tarn_status compare_dtype(struct comparison *c, struct side *s, tarn_dtype dtype)
{
    s->dtype = dtype;
    tarn_status status = convert_inputs(c, s);
    if (!status && !(s->oracle.out.value && all_float32(c))) status = run_oracle(c, s);
    if (!status) status = compare_devices(c, s);
    free_inputs(s);
    return status;
}

/* ---- The whole ------------------------------------------------------------------------- */

static tarn_status check_options(struct comparison *c)
{
    const tarn_equiv_options *e = c->options;
    const tarn_options *o = &e->attention;
    const bool linear_causal = o->by == TARN_PHI && o->causal && !o->lengths_count;
    tarn_context *ctx = c->ctx;
    if (!e->float32 && !e->float64)
        return tarn_fail(ctx, TARN_EINVAL, "equiv: no dtype, expected one or more");
    if ((o->state || o->dS || o->dz) && !linear_causal)
        return tarn_fail(ctx, TARN_EINVAL,
                         "equiv: a state needs causal attention by a feature map, "
                         "without lengths");
    if (o->by == TARN_PHI && !isnan(o->scale))
        return tarn_fail(
            ctx, TARN_EINVAL,
            "equiv: scale is %g, but with a feature map only sim has a scale",
            o->scale);
    if (o->by == TARN_PAIR && e->grad)
        return tarn_fail(ctx, TARN_EINVAL,
                         "equiv: a function as similarity has no gradient");
    tarn_backend_info info;
    if (!e->impl || is_kernel(e->impl)) return TARN_OK;
    for (size_t b = 0; tarn_backend_at(b, &info); b++)
        if (strcmp(e->impl, info.name) == 0) return TARN_OK;
    return tarn_fail(ctx, TARN_EDEVICE, "equiv: impl is \"%s\", which is not there",
                     e->impl);
}

/* What arrives at the output: random numbers, the same in both types. */
static tarn_status make_dout(struct comparison *c)
{
    if (!c->options->grad) return TARN_OK;
    const uint64_t seed = 1;
    size_t shape[TARN_MAX_RANK];
    for (int d = 0; d < c->q->rank; d++) shape[d] = c->q->shape[d];
    if (c->v->rank == c->q->rank) shape[c->q->rank - 1] = c->v->shape[c->q->rank - 1];
    return tarn_random(c->ctx, TARN_NORMAL, &seed, TARN_FLOAT32, c->q->rank, shape,
                       &c->dout);
}

static tarn_status compare_all(struct comparison *c)
{
    const tarn_rnn *state = c->options->attention.state;
    struct side s = {0};
    tarn_status status = check_options(c);
    if (!status && state) status = tarn_rnn_state(c->ctx, state, &c->S0, &c->z0);
    if (!status) status = make_dout(c);
    if (!status && c->options->float32) status = compare_dtype(c, &s, TARN_FLOAT32);
    if (!status && c->options->float64) status = compare_dtype(c, &s, TARN_FLOAT64);
    tarn_oracle_free(&s.oracle);
    if (status || c->report.count > 0 || !c->options->impl) return status;
    return tarn_fail(c->ctx, TARN_EDEVICE,
                     "equiv: impl is \"%s\", which is on none of the devices",
                     c->options->impl);
}

tarn_status tarn_equiv(tarn_context *ctx, const tarn_tensor *q, const tarn_tensor *k,
                       const tarn_tensor *v, const tarn_equiv_options *options,
                       tarn_report *report)
{
    const tarn_equiv_options defaults = tarn_equiv_defaults();
    struct comparison c = {.ctx = ctx,
                           .q = q,
                           .k = k,
                           .v = v,
                           .options = options ? options : &defaults,
                           .report.ok = true};
    if (c.options->tol < 0)
        return tarn_fail(ctx, TARN_EINVAL, "equiv: tol is %g, expected 0 or more",
                         c.options->tol);
    tarn_status status = compare_all(&c);
    tarn_tensor_free(c.S0);
    tarn_tensor_free(c.z0);
    tarn_tensor_free(c.dout);
    if (status)
        tarn_report_free(&c.report);
    else
        *report = c.report;
    return status;
}
