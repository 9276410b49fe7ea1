/* kernels.h: what the tests of kernels share: a problem, and every rung of a ladder on it.
 *
 *     struct problem p = problem_of((struct sizes){2, 65, 65, 17, 15});
 *     p.options.causal = true;
 *     check_outputs(&p, LADDERS(prefix), "prefix");
 *     check_gradients(&p, LADDERS(prefix_grad), "prefix_grad");
 *
 * A check runs each rung, as float and as double, with the threads in two orders. The result
 * must be near the oracle's (src/check/oracle.h), and its bits must not depend on the order.
 * Device memory starts as NaN, so what a rung forgets to write is found too. */
#ifndef TARN_TESTS_KERNELS_H
#define TARN_TESTS_KERNELS_H

#include "kernels_device.h"
#include "tolerance.h"

/* ---- Ladders --------------------------------------------------------------------------- */

#define DECLARE(form)                                                                  \
    extern const struct tarn_ladder tarn_emu_##form##_f32, tarn_emu_##form##_f64
DECLARE(sim);
DECLARE(sim_grad);
DECLARE(assoc);
DECLARE(assoc_grad);
DECLARE(prefix);
DECLARE(prefix_grad);
DECLARE(rnn);
DECLARE(rnn_grad);

/* The ladders of one form, of float and of double. */
struct ladders {
    const struct tarn_ladder *of[2];
};
#define LADDERS(form)                                                                  \
    (struct ladders)                                                                   \
    {                                                                                  \
        {                                                                              \
            &tarn_emu_##form##_f32, &tarn_emu_##form##_f64                             \
        }                                                                              \
    }

/* ---- How near a result must be ----------------------------------------------------------- */

static inline double tolerance(const struct problem *p, const struct inputs *in,
                               const char *rung)
{
    return sum_tolerance(&(struct summed){.dtype = in->dtype,
                                          .N = p->n.N > p->n.N_q ? p->n.N : p->n.N_q,
                                          .C = p->n.C,
                                          .M = p->n.M,
                                          .by = p->options.by,
                                          .exponent = in->oracle.exponent,
                                          .grad = in->dout != NULL,
                                          .bits = bits_of_factors(rung)});
}

struct claim {
    const char *form, *rung, *what;
    double tol;
    struct sizes n;
};

/* Every element within tol times the magnitude of what it is a sum of. NaN fails. */
static inline void expect_sum(const tarn_tensor *got, const struct tarn_oracle_sum *sum,
                              struct claim claim)
{
    if (!sum->value) return;
    cr_assert(got != NULL, "%s: no %s", claim.form, claim.what);
    const double smallest = (double)FLT_MIN;
    for (size_t i = 0; i < tarn_tensor_numel(sum->value); i++) {
        const double x = flat(got, i), expected = flat(sum->value, i);
        const double bound = claim.tol * flat(sum->magnitude, i) + smallest;
        const bool same = x == expected || (isnan(x) && isnan(expected));
        cr_assert(
            same || fabs(x - expected) <= bound,
            "%s %s, %s, heads %zu, N_q %zu, N %zu, C %zu, M %zu: element %zu of %s "
            "is %.9g, expected %.9g within %.3g",
            claim.form, claim.rung,
            tarn_tensor_dtype(got) == TARN_FLOAT32 ? "float" : "double", claim.n.heads,
            claim.n.N_q, claim.n.N, claim.n.C, claim.n.M, i, claim.what, x, expected,
            bound);
    }
}

static inline void expect_oracle(const struct results *r, const struct inputs *in,
                                 struct claim claim)
{
    const struct tarn_oracle *o = &in->oracle;
    const struct {
        const char *what;
        const tarn_tensor *got;
        const struct tarn_oracle_sum *expected;
    } parts[] = {{"dq", r->dq, &o->dq},    {"dk", r->dk, &o->dk},
                 {"dv", r->dv, &o->dv},    {"dS0", r->dS0, &o->dS0},
                 {"dz0", r->dz0, &o->dz0}, {"out", r->out, &o->out}};
    const size_t count = sizeof parts / sizeof *parts;
    for (size_t t = in->dout ? 0 : count - 1; t < (in->dout ? count - 1 : count); t++) {
        claim.what = parts[t].what;
        expect_sum(parts[t].got, parts[t].expected, claim);
    }
}

static inline void expect_same_bits(const struct results *a, const struct results *b,
                                    struct claim claim)
{
    const tarn_tensor *const x[] = {a->out, a->weights, a->S,   a->z,  a->dq,
                                    a->dk,  a->dv,      a->dS0, a->dz0};
    const tarn_tensor *const y[] = {b->out, b->weights, b->S,   b->z,  b->dq,
                                    b->dk,  b->dv,      b->dS0, b->dz0};
    for (size_t t = 0; t < sizeof x / sizeof *x; t++) {
        if (!x[t]) continue;
        const void *bits = tarn_tensor_data(x[t]), *others = tarn_tensor_data(y[t]);
        cr_assert(
            memcmp(bits, others, bytes_of(x[t])) == 0,
            "%s %s, N_q %zu, N %zu, C %zu, M %zu: result %zu depends on the order "
            "of the threads",
            claim.form, claim.rung, claim.n.N_q, claim.n.N, claim.n.C, claim.n.M, t);
    }
}

/* ---- The checks -------------------------------------------------------------------------- */

static inline void set_order(int order)
{
    const enum tarn_emu_order orders[] = {TARN_EMU_FORWARD, TARN_EMU_REVERSED,
                                          TARN_EMU_RANDOM};
    tarn_emu_settings.order = orders[order];
    tarn_emu_settings.seed = (unsigned)order;
}
enum { ORDERS = 3 };

/* One rung in two orders: forward, and in turn reversed and random (of tensor cores random);
 * gives what it wrote. */
static inline struct results check_rung(const struct problem *p,
                                        const struct inputs *in,
                                        const struct tarn_rung *rung, const char *form)
{
    static int turn;
    const struct claim claim = {form, rung->name, "", tolerance(p, in, rung->name),
                                p->n};
    set_order(0);
    struct results first = run_rung(p, in, rung);
    expect_oracle(&first, in, claim);
    const int order = has_tensor_cores(rung->name) ? ORDERS - 1 : 1 + turn++ % 2;
    if (!p->once) {
        set_order(order);
        struct results other = run_rung(p, in, rung);
        expect_same_bits(&first, &other, claim);
        free_results(&other);
    }
    set_order(0);
    return first;
}

/* What else a test has to say of one rung's results; they end afterwards. */
typedef void look_fn(const struct problem *p, const struct inputs *in,
                     const struct results *r, const char *rung);

static inline bool fits(const struct problem *p, const struct tarn_rung *rung)
{
    const struct sizes n = p->n;
    const struct tarn_span s = {
        .N_q = n.N_q, .N = n.N, .C = n.C, .M = n.M, .phi = map_of(p)};
    return rung->fused == p->fused && tarn_rung_for(rung, &s) == rung;
}

static inline void check_ladders(const struct problem *p, struct ladders ladders,
                                 const char *form, bool grad, look_fn *look)
{
    for (int type = 0; type < 2; type++) {
        struct inputs in = inputs_of(p, type ? TARN_FLOAT64 : TARN_FLOAT32, grad);
        if (p->change) p->change(p, &in);
        ask_oracle(p, &in);
        for (int r = 0; r < ladders.of[type]->count; r++) {
            const struct tarn_rung *rung = &ladders.of[type]->rungs[r];
            if (!fits(p, rung)) continue; /* another one runs, which has its turn */
            struct results results = check_rung(p, &in, rung, form);
            if (look) look(p, &in, &results, rung->name);
            free_results(&results);
        }
        free_inputs(&in);
    }
}

static inline void check_outputs(const struct problem *p, struct ladders ladders,
                                 const char *form)
{
    check_ladders(p, ladders, form, false, NULL);
}

static inline void check_gradients(const struct problem *p, struct ladders ladders,
                                   const char *form)
{
    check_ladders(p, ladders, form, true, NULL);
}

/* More blocks than a grid may have are refused, and nothing of the rest is done. The span's
 * pointers are nobody's: it would need more memory than there is. */
static inline void expect_too_large(struct ladders ladders, size_t heads, size_t N)
{
    for (int type = 0; type < 2; type++)
        for (int r = 0; r < ladders.of[type]->count; r++) {
            struct tarn_span s = {.ctx = ctx, .heads = heads, .N_q = N, .N = N};
            s.C = s.M = 1, s.scale = 1, s.by = TARN_PHI;
            cr_assert_eq(ladders.of[type]->rungs[r].run(&s), TARN_EDEVICE, "%s",
                         ladders.of[type]->rungs[r].name);
            cr_assert(strstr(tarn_error(ctx), "launched with grid.x") != NULL, "%s",
                      tarn_error(ctx));
        }
}

#endif
