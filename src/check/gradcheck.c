/* gradcheck.c: a form's gradient against central differences of that form. Chapter 7.
 *
 *     df/dx ~ (f(x + h) - f(x - h)) / 2h       f = sum of out times fixed random weights
 *                                                  (+ S_N times dS + z_N times dz)
 *
 * in float64. The difference errs by f''' h^2 / 6 from the curve and by about eps |f| / h
 * from rounding; h = eps^(1/3) max(|x|, 1) makes both small, near 1e-10. Errors are taken
 * relative to the largest entry of the tensor's gradient, and what rounding alone explains
 * is left out of account.
 *
 * The form runs where its inputs lie. On a device that is one of its kernels for double: what
 * it puts out comes to the host, where the differences are taken.
 *
 * Nothing here knows a formula: a mistake in the derivation shows. Where phi has a kink a
 * difference is no judge: at x = 0 relu's comes out halfway between 0 and 1, its gradient
 * being 0, and such a row rightly fails; elu1, whose second derivative jumps there, is off
 * by h / 4, about 2e-6, which the default bound of 1e-5 lets through. */
#include "check/report.h"
#include "core/device.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum { MAX_ENTRIES = 256 };

typedef tarn_status gradient(tarn_context *ctx, const tarn_tensor *q,
                             const tarn_tensor *k, const tarn_tensor *v,
                             const tarn_tensor *dout, const tarn_options *options,
                             tarn_grads *grads);

struct check;

/* The function under test: five inputs (S0 and z0 only with a state), three outputs. */
enum { Q, K, V, S0, Z0, INPUTS };
enum { OUT, S_N, Z_N, OUTPUTS };

struct form {
    const char *name;
    tarn_status (*run)(const struct check *c, tarn_tensor **out, tarn_rnn **final);
    gradient *grad;
};

struct check {
    tarn_context *ctx;
    const struct form *form;
    tarn_options options;
    tarn_tensor *x[INPUTS];        /* float64 and contiguous: entries can be moved */
    tarn_tensor *arrives[OUTPUTS]; /* dout, dS, dz, where x lies; NULL counts as 0 */
    tarn_tensor *weight[OUTPUTS];  /* the same on the host */
    tarn_rnn *state;
    const char *impl; /* whose gradient it is */
    double tol;
    tarn_report report;
};

/* What one evaluation gives. */
struct outputs {
    tarn_tensor *y[OUTPUTS];
};

static void free_outputs(struct outputs *o)
{
    for (int n = 0; n < OUTPUTS; n++) tarn_tensor_free(o->y[n]);
}

/* ---- f --------------------------------------------------------------------------------- */

static tarn_status run_sim(const struct check *c, tarn_tensor **out, tarn_rnn **final)
{
    (void) final;
    return tarn_sim(c->ctx, c->x[Q], c->x[K], c->x[V], &c->options, out, NULL);
}

static tarn_status run_assoc(const struct check *c, tarn_tensor **out, tarn_rnn **final)
{
    (void) final;
    return tarn_assoc(c->ctx, c->x[Q], c->x[K], c->x[V], &c->options, out);
}

static tarn_status run_prefix(const struct check *c, tarn_tensor **out,
                              tarn_rnn **final)
{
    return tarn_prefix(c->ctx, c->x[Q], c->x[K], c->x[V], &c->options, out, final);
}

static tarn_status run_rnn(const struct check *c, tarn_tensor **out, tarn_rnn **final)
{
    const tarn_tensor *q = c->x[Q], *v = c->x[V];
    const tarn_cell cell = {.B = q->rank > 3 ? q->shape[0] : 0,
                            .H = q->rank > 2 ? q->shape[q->rank - 3] : 0,
                            .D = q->shape[q->rank - 1],
                            .M = v->shape[v->rank - 1],
                            .phi = c->options.phi,
                            .eps = c->options.eps,
                            .dtype = TARN_FLOAT64,
                            .impl = c->options.impl,
                            .device = tarn_tensor_device(q)};
    tarn_status status = c->state ? tarn_rnn_clone(c->ctx, c->state, final)
                                  : tarn_rnn_new(c->ctx, &cell, final);
    return status ? status : tarn_rnn_run(c->ctx, *final, q, c->x[K], v, out);
}

/* *t on the host: contiguous rows in the place of what lies on a device. */
static tarn_status bring_home(tarn_context *ctx, tarn_tensor **t)
{
    tarn_tensor *rows = NULL;
    if (!*t || !tarn_device_of(*t)) return TARN_OK;
    const tarn_status status = tarn_host_rows(ctx, *t, &rows);
    tarn_tensor_free(*t);
    *t = rows;
    return status;
}

/* Runs the form; the final state is looked at only if something arrives there. */
static tarn_status evaluate(struct check *c, struct outputs *o)
{
    const bool has_final = c->weight[S_N] || c->weight[Z_N];
    tarn_rnn *final = NULL;
    tarn_status status = TARN_OK;
    *o = (struct outputs){{NULL}};
    if (c->state) status = tarn_rnn_set_state(c->ctx, c->state, c->x[S0], c->x[Z0]);
    if (status) return status;

    status = c->form->run(c, &o->y[OUT], &final);
    if (!status && has_final)
        status = tarn_rnn_state(c->ctx, final, &o->y[S_N], &o->y[Z_N]);
    tarn_rnn_free(final);
    for (int n = 0; !status && n < OUTPUTS; n++) status = bring_home(c->ctx, &o->y[n]);
    if (status) free_outputs(o);
    return status;
}

/* sum w (above - below), and in *noise the size of what rounding puts in: the root of the
 * sum of squares of w above, as roundings are independent. */
static double weighted_difference(const struct check *c, const struct outputs *above,
                                  const struct outputs *below, double *noise)
{
    double sum = 0, squares = 0;
    for (int n = 0; n < OUTPUTS; n++) {
        if (!c->weight[n]) continue;
        const double *w = c->weight[n]->data, *a = above->y[n]->data,
                     *b = below->y[n]->data;
        for (size_t i = 0; i < tarn_tensor_numel(c->weight[n]); i++) {
            sum += w[i] * (a[i] - b[i]);
            squares += w[i] * a[i] * w[i] * a[i];
        }
    }
    *noise = sqrt(squares);
    return sum;
}

/* ---- One entry, one tensor ------------------------------------------------------------- */

struct entry {
    size_t position;
    double got, expected, noise;
};

/* The entry of x at a position, wherever x lies: read, and written. */
static tarn_status read_entry(tarn_context *ctx, const tarn_tensor *x, size_t position,
                              double *value)
{
    const struct tarn_device *device = tarn_device_of(x);
    const double *entry = (const double *)x->data + position;
    if (device) return device->copy(ctx, value, entry, sizeof *value, TARN_FROM_DEVICE);
    *value = *entry;
    return TARN_OK;
}

static tarn_status write_entry(tarn_context *ctx, tarn_tensor *x, size_t position,
                               double value)
{
    const struct tarn_device *device = tarn_device_of(x);
    double *entry = (double *)x->data + position;
    if (device) return device->copy(ctx, entry, &value, sizeof value, TARN_TO_DEVICE);
    *entry = value;
    return TARN_OK;
}

/* Runs the form with an entry of x changed. */
static tarn_status evaluate_at(struct check *c, tarn_tensor *x, size_t position,
                               double value, struct outputs *o)
{
    const tarn_status status = write_entry(c->ctx, x, position, value);
    return status ? status : evaluate(c, o);
}

static tarn_status difference(struct check *c, tarn_tensor *x, struct entry *e)
{
    double there = 0;
    struct outputs above, below;
    tarn_status status = read_entry(c->ctx, x, e->position, &there);
    if (status) return status;
    const double h = cbrt(DBL_EPSILON) * fmax(fabs(there), 1);
    const double upper = there + h, lower = there - h;
    const double width = upper - lower; /* 2 h as it came out */
    status = evaluate_at(c, x, e->position, upper, &above);
    if (status) return status;
    status = evaluate_at(c, x, e->position, lower, &below);
    if (!status) {
        e->expected = weighted_difference(c, &above, &below, &e->noise) / width;
        e->noise *= 8 * DBL_EPSILON / width;
        free_outputs(&below);
        status = write_entry(c->ctx, x, e->position, there);
    }
    free_outputs(&above);
    return status;
}

/* Chooses the entries: all of a small tensor, some by Philox numbers of a large one. */
static tarn_status choose(struct check *c, size_t numel, struct entry *entries,
                          size_t *count)
{
    *count = numel < MAX_ENTRIES ? numel : MAX_ENTRIES;
    for (size_t n = 0; n < *count; n++) entries[n].position = n;
    if (numel <= MAX_ENTRIES) return TARN_OK;
    const uint64_t seed = 2;
    const size_t shape[] = {MAX_ENTRIES};
    tarn_tensor *u;
    tarn_status status =
        tarn_random(c->ctx, TARN_UNIFORM, &seed, TARN_FLOAT64, 1, shape, &u);
    if (status) return status;
    for (size_t n = 0; n < *count; n++)
        entries[n].position = (size_t)(((const double *)u->data)[n] * (double)numel);
    tarn_tensor_free(u);
    return TARN_OK;
}

/* The implementation that ran on the CPU: the one asked for, or the first, its default. The
 * name is the table's own, which outlives the caller's. */
static const char *impl_of_cpu(const tarn_options *options)
{
    tarn_backend_info info;
    for (size_t b = 0; tarn_backend_at(b, &info); b++)
        if (options->impl ? strcmp(options->impl, info.name) == 0
                          : info.usable && strcmp(info.device, "cpu") == 0)
            return info.name;
    return "";
}

/* Differences of one input tensor against its gradient, as a row. */
static tarn_status check_tensor(struct check *c, const char *what, tarn_tensor *x,
                                const tarn_tensor *grad)
{
    struct entry entries[MAX_ENTRIES];
    size_t count;
    double largest = 0;
    const double start = tarn_report_clock();
    tarn_status status = choose(c, tarn_tensor_numel(x), entries, &count);
    for (size_t n = 0; !status && n < count; n++) {
        struct entry *e = &entries[n];
        e->got = ((const double *)grad->data)[e->position];
        status = difference(c, x, e);
        largest = fmax(largest, fmax(fabs(e->expected), fabs(e->got)));
    }
    if (status) return status;

    tarn_row row = {.form = c->form->name,
                    .impl = c->impl,
                    .device = tarn_tensor_device(x),
                    .dtype = TARN_FLOAT64,
                    .what = what,
                    .tol = c->tol,
                    .seconds = tarn_report_clock() - start};
    for (size_t n = 0; n < count; n++) {
        const struct entry *e = &entries[n];
        const bool is_noise = fabs(e->got - e->expected) <= e->noise;
        tarn_row_compare(&row, x, e->position, e->got, e->expected,
                         is_noise ? HUGE_VAL : largest);
    }
    return tarn_report_add(c->ctx, &c->report, row);
}

/* ---- The whole ------------------------------------------------------------------------- */

static const struct form *form_named(const char *name)
{
    static const struct form forms[] = {{"sim", run_sim, tarn_sim_grad},
                                        {"assoc", run_assoc, tarn_assoc_grad},
                                        {"prefix", run_prefix, tarn_prefix_grad},
                                        {"rnn", run_rnn, tarn_rnn_grad}};
    for (size_t n = 0; n < sizeof forms / sizeof *forms; n++)
        if (strcmp(name, forms[n].name) == 0) return &forms[n];
    return NULL;
}

/* Copies the state into a float64 cell and into tensors whose entries can be moved. */
static tarn_status copy_state(struct check *c, const tarn_rnn *given)
{
    tarn_tensor *S = NULL, *z = NULL;
    if (!given) return TARN_OK;
    tarn_cell cell = *tarn_rnn_cell(given);
    cell.dtype = TARN_FLOAT64;
    tarn_status status = tarn_rnn_state(c->ctx, given, &S, &z);
    if (!status) status = tarn_clone(c->ctx, S, TARN_FLOAT64, &c->x[S0]);
    if (!status) status = tarn_clone(c->ctx, z, TARN_FLOAT64, &c->x[Z0]);
    if (!status) status = tarn_rnn_new(c->ctx, &cell, &c->state);
    if (!status) status = tarn_rnn_set_state(c->ctx, c->state, c->x[S0], c->x[Z0]);
    tarn_tensor_free(S);
    tarn_tensor_free(z);
    return status;
}

static tarn_status copy_inputs(struct check *c, const tarn_tensor *const *x,
                               const tarn_options *given)
{
    tarn_status status = TARN_OK;
    for (int n = Q; !status && n <= V; n++)
        status = tarn_clone(c->ctx, x[n], TARN_FLOAT64, &c->x[n]);
    if (!status) status = copy_state(c, given->state);
    if (!status && given->dS)
        status = tarn_clone(c->ctx, given->dS, TARN_FLOAT64, &c->arrives[S_N]);
    if (!status && given->dz)
        status = tarn_clone(c->ctx, given->dz, TARN_FLOAT64, &c->arrives[Z_N]);
    for (int n = S_N; !status && n <= Z_N; n++)
        if (c->arrives[n])
            status = tarn_host_rows(c->ctx, c->arrives[n], &c->weight[n]);
    c->options.state = c->state;
    c->options.dS = c->arrives[S_N];
    c->options.dz = c->arrives[Z_N];
    return status;
}

/* Makes the weights of the output; running the form once also checks its arguments. */
static tarn_status make_weights(struct check *c)
{
    const uint64_t seed = 1;
    struct outputs o;
    tarn_status status = evaluate(c, &o);
    if (status) return status;
    status = tarn_random(c->ctx, TARN_NORMAL, &seed, TARN_FLOAT64, o.y[OUT]->rank,
                         o.y[OUT]->shape, &c->weight[OUT]);
    free_outputs(&o);
    return status ? status
                  : tarn_move(c->ctx, c->weight[OUT], tarn_device_of(c->x[Q]),
                              &c->arrives[OUT]);
}

/* The gradient of all inputs, brought to the host. */
static tarn_status differentiate(struct check *c, tarn_grads *grads)
{
    tarn_status status = c->form->grad(c->ctx, c->x[Q], c->x[K], c->x[V],
                                       c->arrives[OUT], &c->options, grads);
    tarn_tensor **all[] = {&grads->dq, &grads->dk, &grads->dv, &grads->dS0,
                           &grads->dz0};
    for (int n = Q; !status && n < INPUTS; n++) status = bring_home(c->ctx, all[n]);
    c->impl = tarn_device_of(c->x[Q]) ? c->ctx->ran : impl_of_cpu(&c->options);
    return status;
}

static tarn_status check_all(struct check *c)
{
    static const char *const names[INPUTS] = {"dq", "dk", "dv", "dS0", "dz0"};
    tarn_grads grads = {0};
    tarn_status status = make_weights(c);
    if (!status) status = differentiate(c, &grads);
    const tarn_tensor *got[INPUTS] = {grads.dq, grads.dk, grads.dv, grads.dS0,
                                      grads.dz0};
    for (int n = Q; !status && n < INPUTS; n++)
        if (c->x[n]) status = check_tensor(c, names[n], c->x[n], got[n]);
    tarn_grads_free(&grads);
    return status;
}

tarn_status tarn_gradcheck(tarn_context *ctx, const char *form, const tarn_tensor *q,
                           const tarn_tensor *k, const tarn_tensor *v,
                           const tarn_options *options, double tol, tarn_report *report)
{
    const tarn_options defaults = tarn_defaults();
    const tarn_tensor *const inputs[] = {q, k, v};
    if (!form_named(form))
        return tarn_fail(
            ctx, TARN_EINVAL,
            "gradcheck: form is \"%s\", expected sim, assoc, prefix or rnn", form);
    if (tol < 0)
        return tarn_fail(ctx, TARN_EINVAL, "gradcheck: tol is %g, expected 0 or more",
                         tol);
    struct check c = {.ctx = ctx,
                      .form = form_named(form),
                      .options = options ? *options : defaults,
                      .tol = isnan(tol) ? 1e-5 : tol,
                      .report.ok = true};
    tarn_status status = copy_inputs(&c, inputs, &c.options);
    if (!status) status = check_all(&c);
    for (int n = 0; n < INPUTS; n++) tarn_tensor_free(c.x[n]);
    for (int n = 0; n < OUTPUTS; n++) {
        tarn_tensor_free(c.arrives[n]);
        tarn_tensor_free(c.weight[n]);
    }
    tarn_rnn_free(c.state);
    if (status)
        tarn_report_free(&c.report);
    else
        *report = c.report;
    return status;
}
