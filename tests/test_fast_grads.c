/* test_fast_grads.c: the tuned gradients against the plain ones in float64 and against
 * central differences. Chapters 7 and 10.
 *
 * The instruction set is chosen at the first call, and each test is a process of its own. */
#include "attention.h"
#include "fast/dispatch.h"
#include "stages/attn.h"
#include <string.h>

static tarn_context *ctx;

static void open(void)
{
    cr_assert_eq(tarn_context_new(&ctx), TARN_OK);
}
static void close_all(void)
{
    cr_assert_eq(tarn_bytes(ctx), 0, "%zu bytes of tensors are left", tarn_bytes(ctx));
    tarn_context_free(ctx);
}
TestSuite(fast_grads, .init = open, .fini = close_all);

/* ---- Inputs ---------------------------------------------------------------------------- */

struct sizes {
    size_t H, N, D, M;
};

/* Around tiles, blocks of 32 and stretches of 64; the smallest; rows of many vectors. */
static const struct sizes all_sizes[] = {
    {2, 1, 1, 1},    {1, 200, 1, 1},   {2, 65, 3, 5}, {1, 32, 16, 16},
    {1, 33, 17, 15}, {2, 64, 64, 64},  {1, 0, 4, 4},  {1, 130, 7, 40},
    {1, 63, 40, 7},  {1, 97, 128, 33}, {1, 5, 200, 1}};
enum { SIZES = sizeof all_sizes / sizeof *all_sizes };

/* What a gradient takes, as float64 and as float32 of the same values. */
struct inputs {
    tarn_tensor *q, *k, *v, *dout, *dS, *dz;
    tarn_rnn *st;
};

static tarn_tensor *random_like(tarn_dtype dtype, uint64_t seed, int rank,
                                const size_t *shape, double factor, double shift)
{
    tarn_tensor *single = normal(ctx, TARN_FLOAT32, seed, rank, shape, factor);
    tarn_tensor *moved = NULL, *t = NULL;
    OK(tarn_binary_number(ctx, TARN_ADD, single, shift, false, &moved));
    OK(tarn_clone(ctx, moved, dtype, &t));
    tarn_tensor_free(single);
    tarn_tensor_free(moved);
    return t;
}

/* A cell in the middle of a stretch of partial sums. */
static tarn_rnn *random_state(tarn_dtype dtype, struct sizes s, const tarn_phi *phi)
{
    const size_t rows[3] = {s.H, 11, s.D}, values[3] = {s.H, 11, s.M};
    const tarn_cell cell = {
        .H = s.H, .D = s.D, .M = s.M, .phi = phi, .eps = 1e-6, .dtype = dtype};
    tarn_tensor *k = random_like(dtype, 8, 3, rows, 1, 0);
    tarn_tensor *v = random_like(dtype, 9, 3, values, 1, 0), *out = NULL;
    tarn_rnn *st = NULL;
    OK(tarn_rnn_new(ctx, &cell, &st));
    OK(tarn_rnn_run(ctx, st, k, k, v, &out));
    tarn_tensor_free(k);
    tarn_tensor_free(v);
    tarn_tensor_free(out);
    return st;
}

static struct inputs inputs_of(tarn_dtype dtype, struct sizes s, const tarn_phi *phi,
                               bool with_state, double q_shift)
{
    const size_t rows[3] = {s.H, s.N, s.D}, values[3] = {s.H, s.N, s.M};
    struct inputs in = {.q = random_like(dtype, 1, 3, rows, 1, q_shift),
                        .k = random_like(dtype, 2, 3, rows, 1, 0),
                        .v = random_like(dtype, 3, 3, values, 1, 0),
                        .dout = random_like(dtype, 4, 3, values, 1, 0)};
    if (!with_state) return in;
    in.st = random_state(dtype, s, phi);
    const size_t C = tarn_rnn_features(in.st);
    in.dS = random_like(dtype, 5, 3, (size_t[]){s.H, C, s.M}, 1, 0);
    in.dz = random_like(dtype, 6, 2, (size_t[]){s.H, C}, 1, 0);
    return in;
}

static void free_inputs(struct inputs *in)
{
    tarn_tensor *all[] = {in->q, in->k, in->v, in->dout, in->dS, in->dz};
    for (int i = 0; i < 6; i++) tarn_tensor_free(all[i]);
    tarn_rnn_free(in->st);
}

/* ---- Gradients and their differences --------------------------------------------------- */

enum form { PREFIX, RNN, ASSOC };

static tarn_grads grads_of(const struct inputs *in, enum form form, const char *impl,
                           const tarn_phi *phi, tarn_precision precision)
{
    tarn_options o = tarn_defaults();
    tarn_grads g = {0};
    o.impl = impl;
    o.phi = phi;
    o.precision = precision;
    if (form == ASSOC) {
        OK(tarn_assoc_grad(ctx, in->q, in->k, in->v, in->dout, &o, &g));
        return g;
    }
    o.state = in->st;
    o.dS = in->dS;
    o.dz = in->dz;
    OK((form == RNN ? tarn_rnn_grad : tarn_prefix_grad)(ctx, in->q, in->k, in->v,
                                                        in->dout, &o, &g));
    return g;
}

/* The largest difference of a and b over the largest element of b, or over 1: where there
 * is one feature or one key, dq and dk cancel down to nothing. */
static double relative_difference(const tarn_tensor *a, const tarn_tensor *b)
{
    double worst = 0, size = 1;
    for (size_t i = 0; a && i < tarn_tensor_numel(a); i++) {
        const double error = fabs(flat(a, i) - flat(b, i));
        worst = error <= worst ? worst : error; /* NaN is the worst */
        size = fmax(size, fabs(flat(b, i)));
    }
    return worst / size;
}

static void expect_near(const tarn_grads *got, const tarn_grads *expected, double bound,
                        struct sizes s, const char *what)
{
    const tarn_tensor *a[] = {got->dq, got->dk, got->dv, got->dS0, got->dz0};
    const tarn_tensor *b[] = {expected->dq, expected->dk, expected->dv, expected->dS0,
                              expected->dz0};
    static const char *const names[] = {"dq", "dk", "dv", "dS0", "dz0"};
    for (int i = 0; i < 5; i++) {
        const double error = relative_difference(a[i], b[i]);
        cr_assert(error <= bound,
                  "%s: %s for [%zu, %zu, %zu, %zu] errs by %.3g, bound %.3g", what,
                  names[i], s.H, s.N, s.D, s.M, error, bound);
    }
}

/* One setting in float32 and float64, with both precisions. */
static void compare(struct sizes s, enum form form, const tarn_phi *phi, bool state,
                    double q_shift)
{
    struct inputs exact = inputs_of(TARN_FLOAT64, s, phi, state, q_shift);
    struct inputs single = inputs_of(TARN_FLOAT32, s, phi, state, q_shift);
    tarn_grads expected = grads_of(&exact, form, "plain", phi, TARN_ACCURATE);
    const bool both = q_shift == 0; /* precision "fast" does not promise the others */
    for (int precision = TARN_ACCURATE; precision <= both; precision++) {
        tarn_grads f64 = grads_of(&exact, form, "fast", phi, (tarn_precision)precision);
        tarn_grads f32 =
            grads_of(&single, form, "fast", phi, (tarn_precision)precision);
        expect_near(&f64, &expected, 1e-12, s, phi->name);
        expect_near(&f32, &expected, 2e-5, s, phi->name);
        tarn_grads_free(&f64);
        tarn_grads_free(&f32);
    }
    tarn_grads_free(&expected);
    free_inputs(&exact);
    free_inputs(&single);
}

static void compare_everything(const char *isa)
{
    use_isa(isa);
    const tarn_phi *phi;
    for (size_t p = 0; (phi = tarn_phi_at(p)); p++)
        for (size_t n = 0; n < SIZES; n++) {
            if (strcmp(phi->name, "identity") == 0) continue; /* den may be near 0 */
            if (strcmp(phi->name, "poly2") == 0 && all_sizes[n].D > 20) continue;
            for (int state = 0; state < 2; state++) {
                compare(all_sizes[n], PREFIX, phi, state, 0);
                compare(all_sizes[n], RNN, phi, state, 0);
            }
            compare(all_sizes[n], ASSOC, phi, false, 0);
        }
}

/* A set that the machine does not have is the best that it has. */
Test(fast_grads, agree_with_the_plain_ones_on_the_baseline)
{
    compare_everything("baseline");
}
Test(fast_grads, agree_with_the_plain_ones_on_v3)
{
    compare_everything("x86-64-v3");
}
Test(fast_grads, agree_with_the_plain_ones_on_v4)
{
    compare_everything("x86-64-v4");
}

/* ---- Rows of any size ------------------------------------------------------------------- */

/* phi(q) underflows in float32, or its sums are far from 1: such rows are scaled, alone or
 * among ordinary ones. */
Test(fast_grads, hold_for_queries_of_any_size)
{
    const tarn_phi *elu1 = tarn_phi_at(0);
    const double shifts[] = {-45, -60, -90, -300};
    for (size_t i = 0; i < sizeof shifts / sizeof *shifts; i++)
        for (size_t n = 0; n < SIZES; n++) {
            struct sizes s = all_sizes[n];
            struct inputs in = inputs_of(TARN_FLOAT32, s, elu1, true, shifts[i]);
            tarn_grads got = grads_of(&in, PREFIX, "fast", elu1, TARN_ACCURATE);
            tarn_grads expected = grads_of(&in, PREFIX, "plain", elu1, TARN_ACCURATE);
            expect_near(&got, &expected, 2e-5, s, "shifted");
            tarn_grads_free(&got);
            tarn_grads_free(&expected);
            free_inputs(&in);
        }
}

/* eps = 0, no key reaches the row: its den is 0, so is its output, and so are gradients. */
Test(fast_grads, rows_that_no_key_reaches_have_none)
{
    tarn_tensor *q = matrix(ctx, TARN_FLOAT32, 3, 2, (double[]){1, 0, 0, 1, 1, 1});
    tarn_tensor *k = matrix(ctx, TARN_FLOAT32, 3, 2, (double[]){2, 0, 3, 0, 0, 1});
    tarn_tensor *v = matrix(ctx, TARN_FLOAT32, 3, 1, (double[]){1, 2, 3});
    tarn_tensor *dout = matrix(ctx, TARN_FLOAT32, 3, 1, (double[]){1, INFINITY, 1});
    struct inputs in = {.q = q, .k = k, .v = v, .dout = dout};
    const char *impls[] = {"fast", "plain"};
    tarn_options o = tarn_defaults();
    o.phi = tarn_phi_at(1);
    o.eps = 0;
    tarn_grads g[2] = {0};
    for (int i = 0; i < 2; i++) {
        o.impl = impls[i];
        OK(tarn_prefix_grad(ctx, q, k, v, dout, &o, &g[i]));
    }
    cr_assert_eq(flat(g[0].dq, 2), 0);
    cr_assert_eq(flat(g[0].dq, 3), 0);
    expect_near(&g[0], &g[1], 1e-6, (struct sizes){1, 3, 2, 1}, "relu");
    for (int i = 0; i < 2; i++) tarn_grads_free(&g[i]);
    free_inputs(&in);
}

/* ---- Central differences ---------------------------------------------------------------- */

/* sum(dout * out) with the tuned forward form. */
static double loss(const struct inputs *in)
{
    tarn_options o = tarn_defaults();
    tarn_tensor *out = NULL;
    o.state = in->st;
    OK(tarn_prefix(ctx, in->q, in->k, in->v, &o, &out, NULL));
    double sum = 0;
    for (size_t i = 0; i < tarn_tensor_numel(out); i++)
        sum += flat(out, i) * flat(in->dout, i);
    tarn_tensor_free(out);
    return sum;
}

Test(fast_grads, are_the_slopes_of_the_output)
{
    const struct sizes s = {1, 40, 3, 2};
    const tarn_phi *elu1 = tarn_phi_at(0);
    const double step = 1e-5;
    struct inputs in = inputs_of(TARN_FLOAT64, s, elu1, true, 0);
    tarn_tensor_free(in.dS);
    tarn_tensor_free(in.dz);
    in.dS = in.dz = NULL;
    tarn_grads g = grads_of(&in, PREFIX, "fast", elu1, TARN_ACCURATE);
    tarn_tensor *const inputs[] = {in.q, in.k, in.v}, *const grads[] = {g.dq, g.dk,
                                                                        g.dv};
    for (int n = 0; n < 3; n++)
        for (size_t i = 0; i < tarn_tensor_numel(inputs[n]); i++) {
            double *x = (double *)tarn_tensor_data(inputs[n]) + i;
            const double at = *x;
            *x = at + step;
            const double above = loss(&in);
            *x = at - step;
            const double below = loss(&in);
            *x = at;
            cr_assert_float_eq(flat(grads[n], i), (above - below) / (2 * step), 1e-7,
                               "gradient %d, element %zu", n, i);
        }
    tarn_grads_free(&g);
    free_inputs(&in);
}

/* ---- Threads and memory --------------------------------------------------------------------- */

Test(fast_grads, are_the_same_bits_on_any_number_of_threads)
{
    const struct sizes s = {3, 300, 40, 33};
    const tarn_phi *elu1 = tarn_phi_at(0);
    struct inputs in = inputs_of(TARN_FLOAT32, s, elu1, true, 0);
    for (int form = PREFIX; form <= ASSOC; form++) {
        OK(tarn_set_threads(ctx, 1));
        tarn_grads one = grads_of(&in, (enum form)form, "fast", elu1, TARN_ACCURATE);
        for (int threads = 2; threads <= 4; threads++) {
            OK(tarn_set_threads(ctx, threads));
            tarn_grads many =
                grads_of(&in, (enum form)form, "fast", elu1, TARN_ACCURATE);
            expect_near(&many, &one, 0, s, "threads");
            tarn_grads_free(&many);
        }
        tarn_grads_free(&one);
    }
    free_inputs(&in);
}

//> region claim_gradient_memory
Test(fast_grads, work_in_memory_that_does_not_grow_with_N)
{
    const struct tarn_operations *ops = tarn_fast_operations(TARN_FLOAT32);
    const struct tarn_form *forms[] = {ops->prefix_grad, ops->rnn_grad,
                                       ops->assoc_grad};
    for (int i = 0; i < 3; i++) {
        const struct tarn_attn few = {
            .N = 100, .N_q = 100, .C = 64, .M = 64, .parts = 1};
        struct tarn_attn many = few;
        many.N = many.N_q = 1 << 20;
        cr_assert_eq(forms[i]->work(&few), forms[i]->work(&many));
    }
}
//< region claim_gradient_memory
