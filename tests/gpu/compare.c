/* compare.c: every rung of every form against the oracle. See gpu.h.
 *
 * Calls go the way of users' calls: features, scaled rows and states are those of the device,
 * too. Shapes are awkward: none, one, around squares, wide. */
#include "gpu.h"
#include "check/oracle.h"
#include "devices.h"
#include "tolerance.h"
#include <string.h>

/* Causal forms take N_q keys. */
static const struct problem {
    size_t B, H, N_q, N, D, M;
    bool state, lengths;
} problems[] = {
    {1, 1, 1, 1, 1, 1, false, false},       {2, 1, 33, 33, 17, 15, false, false},
    {1, 2, 65, 65, 3, 5, true, false},      {3, 1, 20, 70, 8, 9, false, true},
    {1, 1, 64, 64, 64, 64, false, false},   {2, 1, 3, 0, 4, 4, false, false},
    {1, 1, 5, 130, 70, 40, false, false},   {1, 2, 130, 63, 40, 70, true, false},
    {1, 1, 300, 300, 64, 64, false, false}, {1, 1, 2, 5, 1030, 3, true, false},
    {1, 1, 3, 2, 3, 1030, false, false},
};
enum { PROBLEMS = sizeof problems / sizeof problems[0], QUICK_PROBLEMS = 5 };
static const int64_t lengths[] = {40, 0, 70};

/* The tensors of one problem, on the host or on a device. */
enum { Q, K, V, DOUT, S0, Z0, DS, DZ, INPUTS };
struct side {
    tarn_tensor *t[INPUTS]; /* NULL: the problem has none */
    tarn_rnn *state;
};

static bool fits(const struct form *form, const struct problem *p)
{
    if (p->lengths) return !form->causal;
    return !p->state || form->recurrent;
}

/* ---- Inputs ------------------------------------------------------------------------------- */

static tarn_status make_side(tarn_context *ctx, const struct form *form,
                             const struct problem *p, tarn_dtype dtype, struct side *s)
{
    const size_t N = form->causal ? p->N_q : p->N, B = p->B, H = p->H;
    const struct {
        bool wanted;
        tarn_distribution kind;
        int rank;
        size_t shape[4];
    } made[INPUTS] = {[Q] = {true, TARN_NORMAL, 4, {B, H, p->N_q, p->D}},
                      [K] = {true, TARN_NORMAL, 4, {B, H, N, p->D}},
                      [V] = {true, TARN_NORMAL, 4, {B, H, N, p->M}},
                      [DOUT] = {true, TARN_NORMAL, 4, {B, H, p->N_q, p->M}},
                      [S0] = {p->state, TARN_NORMAL, 4, {B, H, p->D, p->M}},
                      [Z0] = {p->state, TARN_UNIFORM, 3, {B, H, p->D}},
                      [DS] = {p->state, TARN_NORMAL, 4, {B, H, p->D, p->M}},
                      [DZ] = {p->state, TARN_NORMAL, 3, {B, H, p->D}}};
    tarn_status status = TARN_OK;
    for (uint64_t i = 0; !status && i < INPUTS; i++)
        if (made[i].wanted)
            status = tarn_random(ctx, made[i].kind, &i, dtype, made[i].rank,
                                 made[i].shape, &s->t[i]);
    return status;
}

static void free_side(struct side *s)
{
    for (int i = 0; i < INPUTS; i++) tarn_tensor_free(s->t[i]);
    tarn_rnn_free(s->state);
    *s = (struct side){0};
}

static tarn_status make_state(tarn_context *ctx, struct side *s)
{
    if (!s->t[S0]) return TARN_OK;
    const size_t *shape = tarn_tensor_shape(s->t[S0]);
    const tarn_cell cell = {.B = shape[0],
                            .H = shape[1],
                            .D = shape[2],
                            .M = shape[3],
                            .eps = tarn_defaults().eps,
                            .dtype = tarn_tensor_dtype(s->t[S0]),
                            .device = tarn_tensor_device(s->t[S0])};
    tarn_status status = tarn_rnn_new(ctx, &cell, &s->state);
    return status ? status : tarn_rnn_set_state(ctx, s->state, s->t[S0], s->t[Z0]);
}

static tarn_status move_side(tarn_context *ctx, const struct side *from,
                             const struct tarn_device *device, struct side *to)
{
    tarn_status status = TARN_OK;
    for (int i = 0; !status && i < INPUTS; i++)
        if (from->t[i]) status = tarn_move(ctx, from->t[i], device, &to->t[i]);
    return status ? status : make_state(ctx, to);
}

static tarn_options options_of(const struct form *form, const struct problem *p,
                               const struct side *s)
{
    tarn_options o = tarn_defaults();
    o.by = form->by, o.causal = form->causal;
    o.state = s->state, o.dS = s->t[DS], o.dz = s->t[DZ];
    if (p->lengths) o.lengths = lengths, o.lengths_count = p->B;
    return o;
}

static tarn_status ask_oracle(tarn_context *ctx, const struct form *form,
                              const struct problem *p, const struct side *s,
                              struct tarn_oracle *oracle)
{
    tarn_options options = options_of(form, p, s);
    options.causal = form->causal;
    const struct tarn_oracle_problem problem = {.function = "oracle",
                                                .q = s->t[Q],
                                                .k = s->t[K],
                                                .v = s->t[V],
                                                .options = &options,
                                                .S0 = s->t[S0],
                                                .z0 = s->t[Z0],
                                                .dout = s->t[DOUT]};
    return tarn_oracle_run(ctx, &problem, oracle);
}

/* ---- Results ------------------------------------------------------------------------------- */

/* What one call gave, in float64 on the host. */
enum { OUT, DQ, DK, DV, DS0, DZ0, RESULTS };
static const char *const result_names[RESULTS] = {"out", "dq",  "dk",
                                                  "dv",  "dS0", "dz0"};
struct given {
    tarn_tensor *t[RESULTS];
};

static void free_given(struct given *g)
{
    for (int i = 0; i < RESULTS; i++) tarn_tensor_free(g->t[i]);
}

static tarn_status run_once(tarn_context *ctx, const struct form *form, bool grad,
                            const struct side *s, const tarn_options *o,
                            struct given *g)
{
    tarn_tensor *out = NULL;
    tarn_grads grads = {0};
    tarn_tensor *const *const q = s->t;
    tarn_status status = grad ? form->grad(ctx, q[Q], q[K], q[V], q[DOUT], o, &grads)
                              : form->run(ctx, q[Q], q[K], q[V], o, &out);
    const tarn_tensor *const there[RESULTS] = {out,      grads.dq,  grads.dk,
                                               grads.dv, grads.dS0, grads.dz0};
    for (int i = 0; !status && i < RESULTS; i++) {
        tarn_tensor *host = NULL;
        if (!there[i]) continue;
        status = tarn_to(ctx, there[i], "cpu", &host);
        if (!status) status = tarn_clone(ctx, host, TARN_FLOAT64, &g->t[i]);
        tarn_tensor_free(host);
    }
    tarn_tensor_free(out);
    tarn_grads_free(&grads);
    return status;
}

/* How far x is from y in units of the bound; NaN agrees with NaN. */
static double over(double x, double y, double bound)
{
    if (x == y || (isnan(x) && isnan(y))) return 0;
    const double d = fabs(x - y) / bound;
    return isnan(d) ? HUGE_VAL : d;
}

static void complain(struct compared *row, const struct problem *p, const char *what)
{
    if (*row->complaint) return;
    snprintf(row->complaint, sizeof row->complaint,
             "B %zu, H %zu, N_q %zu, N %zu, D %zu, M %zu%s%s: %s", p->B, p->H, p->N_q,
             p->N, p->D, p->M, p->state ? ", state" : "", p->lengths ? ", lengths" : "",
             what);
}

static void judge(struct compared *row, const struct problem *p, double tol,
                  const struct given *got, const struct given *emu,
                  const struct tarn_oracle *oracle)
{
    const struct tarn_oracle_sum *const sums[RESULTS] = {&oracle->out, &oracle->dq,
                                                         &oracle->dk,  &oracle->dv,
                                                         &oracle->dS0, &oracle->dz0};
    for (int i = 0; i < RESULTS; i++) {
        if (!got->t[i]) continue;
        const double *x = tarn_tensor_data(got->t[i]);
        const double *y = emu->t[i] ? tarn_tensor_data(emu->t[i]) : x;
        const double *value = tarn_tensor_data(sums[i]->value);
        const double *magnitude = tarn_tensor_data(sums[i]->magnitude);
        double worst = 0;
        for (size_t e = 0; e < tarn_tensor_numel(got->t[i]); e++) {
            const double bound = tol * magnitude[e] + (double)FLT_MIN;
            worst = fmax(worst, over(x[e], value[e], bound));
            row->apart = fmax(row->apart, over(x[e], y[e], bound));
        }
        row->worst = fmax(row->worst, worst);
        if (worst > 1) complain(row, p, result_names[i]);
    }
}

/* ---- Rows ------------------------------------------------------------------------------------- */

static struct compared *row_of(struct gpu_results *r, struct compared like)
{
    for (size_t i = 0; i < r->compared_count; i++) {
        struct compared *row = &r->compared[i];
        if (row->form == like.form && row->grad == like.grad &&
            row->dtype == like.dtype && strcmp(row->rung, like.rung) == 0)
            return row;
    }
    if (r->compared_count == GPU_ROWS) return NULL;
    r->compared[r->compared_count] = like;
    return &r->compared[r->compared_count++];
}

/* One problem on the device and, where it is another one, on the emulated device. */
struct meeting {
    const struct form *form;
    const struct problem *p;
    tarn_dtype dtype;
    const struct tarn_device *device;
    struct side there, emu;
    bool with_emu;
    struct tarn_oracle oracle;
};

static tarn_status compare_rung(tarn_context *ctx, const struct meeting *m, bool grad,
                                const char *rung, double factor, struct compared *row)
{
    const struct summed sum = {.dtype = m->dtype,
                               .N = m->p->N > m->p->N_q ? m->p->N : m->p->N_q,
                               .C = m->p->D,
                               .M = m->p->M,
                               .by = m->form->by,
                               .exponent = m->oracle.exponent,
                               .grad = grad,
                               .bits = bits_of_factors(rung)};
    struct given got = {{NULL}}, emu = {{NULL}};
    tarn_options o = options_of(m->form, m->p, &m->there);
    o.impl = rung;
    row->problems++;
    tarn_status status = run_once(ctx, m->form, grad, &m->there, &o, &got);
    if (status) {
        complain(row, m->p, tarn_error(ctx));
        row->worst = HUGE_VAL;
        free_given(&got);
        return TARN_OK;
    }
    if (m->with_emu) {
        o = options_of(m->form, m->p, &m->emu);
        o.impl = rung;
        status = run_once(ctx, m->form, grad, &m->emu, &o, &emu);
    }
    if (!status) judge(row, m->p, factor * sum_tolerance(&sum), &got, &emu, &m->oracle);
    free_given(&got);
    free_given(&emu);
    return status;
}

/* Where a rung does not fit another runs, which has its turn. */
static bool runs_itself(const struct problem *p, const struct tarn_rung *rung)
{
    const struct tarn_span s = {.N_q = p->N_q, .N = p->N, .C = p->D, .M = p->M};
    return tarn_rung_for(rung, &s) == rung;
}

static tarn_status compare_rungs(tarn_context *ctx, const struct meeting *m,
                                 struct gpu_results *r)
{
    tarn_status status = TARN_OK;
    for (int grad = 0; grad < 2; grad++) {
        const struct tarn_ladder *ladder =
            gpu_ladder(m->device, m->dtype, m->form, grad);
        for (int i = 0; !status && ladder && i < ladder->count; i++) {
            const char *rung = ladder->rungs[i].name;
            if (!runs_itself(m->p, &ladder->rungs[i])) continue;
            struct compared *row = row_of(
                r, (struct compared){
                       .form = m->form, .grad = grad, .rung = rung, .dtype = m->dtype});
            if (row) status = compare_rung(ctx, m, grad, rung, r->bound, row);
        }
    }
    return status;
}

static tarn_status compare_problem(tarn_context *ctx, struct meeting *m,
                                   struct gpu_results *r)
{
    const struct tarn_device *emu = NULL;
    struct side host = {0};
    m->there = m->emu = (struct side){0}, m->oracle = (struct tarn_oracle){0};
    m->with_emu = strcmp(m->device->name, "emu") != 0 && tarn_device_compiled("emu");
    tarn_status status = make_side(ctx, m->form, m->p, m->dtype, &host);
    if (!status) status = ask_oracle(ctx, m->form, m->p, &host, &m->oracle);
    if (!status) status = move_side(ctx, &host, m->device, &m->there);
    if (!status && m->with_emu) status = tarn_find_device(ctx, "check", "emu", &emu);
    if (!status && m->with_emu) status = move_side(ctx, &host, emu, &m->emu);
    if (!status) status = compare_rungs(ctx, m, r);
    free_side(&host);
    free_side(&m->there);
    free_side(&m->emu);
    tarn_oracle_free(&m->oracle);
    return status;
}

tarn_status gpu_compare(tarn_context *ctx, const struct tarn_device *device, bool quick,
                        struct gpu_results *results)
{
    tarn_status status = TARN_OK;
    for (size_t f = 0; f < gpu_form_count; f++)
        for (int type = 0; type < 2; type++)
            for (int p = 0; !status && p < (quick ? QUICK_PROBLEMS : PROBLEMS); p++) {
                struct meeting m = {.form = &gpu_forms[f],
                                    .p = &problems[p],
                                    .dtype = type ? TARN_FLOAT64 : TARN_FLOAT32,
                                    .device = device};
                if (fits(m.form, m.p)) status = compare_problem(ctx, &m, results);
            }
    for (size_t i = 0; i < results->compared_count; i++) {
        const struct compared *row = &results->compared[i];
        if (row->worst > 1 || row->apart > 2) results->ok = false;
    }
    return status;
}
