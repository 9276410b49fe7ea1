/* test_gradcheck.c: gradients against differences, and whether a wrong one is noticed. */
#include "attention.h"
#include <string.h>

static tarn_context *ctx;
static tarn_options options;
static tarn_tensor *q, *k, *v;
static tarn_report report;

static void make_inputs(size_t N, size_t D, size_t M)
{
    tarn_tensor_free(q);
    tarn_tensor_free(k);
    tarn_tensor_free(v);
    q = normal(ctx, TARN_FLOAT64, 1, 3, (size_t[]){2, N, D}, 1);
    k = normal(ctx, TARN_FLOAT64, 2, 3, (size_t[]){2, N, D}, 1);
    v = normal(ctx, TARN_FLOAT64, 3, 3, (size_t[]){2, N, M}, 1);
}

static void open(void)
{
    cr_assert_eq(tarn_context_new(&ctx), TARN_OK);
    options = tarn_defaults();
    options.by = TARN_PHI;
    report = (tarn_report){0};
    q = k = v = NULL;
    make_inputs(7, 3, 2);
}

static void close(void)
{
    tarn_report_free(&report);
    tarn_tensor_free(q);
    tarn_tensor_free(k);
    tarn_tensor_free(v);
    cr_assert_eq(tarn_bytes(ctx), 0, "%zu bytes of tensors are left", tarn_bytes(ctx));
    tarn_context_free(ctx);
}
TestSuite(gradcheck, .init = open, .fini = close);

static void run(const char *form)
{
    tarn_report_free(&report);
    OK(tarn_gradcheck(ctx, form, q, k, v, &options, (double)NAN, &report));
}

static void expect_ok(const char *what)
{
    for (size_t r = 0; r < report.count; r++) {
        const tarn_row *row = &report.rows[r];
        cr_assert(row->ok, "%s, %s: %s errs by %.3g; got %.9g, difference %.9g", what,
                  row->form, row->what, row->max_rel, row->worst.got,
                  row->worst.expected);
    }
    cr_assert(report.ok);
}

Test(gradcheck, every_map_passes_in_every_form)
{
    static const char *const forms[] = {"sim", "assoc", "prefix", "rnn"};
    const tarn_phi *phi;
    for (size_t p = 0; (phi = tarn_phi_at(p)); p++) {
        options.phi = phi;
        for (size_t f = 0; f < 4; f++) {
            run(forms[f]);
            expect_ok(phi->name);
            cr_assert_eq(report.count, 3);
            cr_assert_str_eq(report.rows[0].form, forms[f]);
            cr_assert_str_eq(report.rows[0].impl, "fast");
        }
    }
}

Test(gradcheck, softmax_and_rbf_pass_full_and_causal)
{
    for (int causal = 0; causal < 2; causal++) {
        options.causal = causal;
        options.by = TARN_SOFTMAX;
        run("sim");
        expect_ok("softmax");
        options.by = TARN_RBF;
        run("sim");
        expect_ok("rbf");
    }
}

Test(gradcheck, a_state_has_its_gradient_and_what_arrives_at_the_last_one_counts)
{
    static const char *const what[] = {"dq", "dk", "dv", "dS0", "dz0"};
    tarn_tensor *S = normal(ctx, TARN_FLOAT32, 4, 3, (size_t[]){2, 3, 2}, 1), *z;
    tarn_tensor *dS = normal(ctx, TARN_FLOAT64, 5, 3, (size_t[]){2, 3, 2}, 1);
    tarn_tensor *dz = normal(ctx, TARN_FLOAT64, 6, 2, (size_t[]){2, 3}, 1);
    const tarn_cell cell = {.H = 2, .D = 3, .M = 2, .eps = 1e-6, .dtype = TARN_FLOAT32};
    tarn_rnn *st;
    OK(tarn_tensor_new(ctx, TARN_FLOAT32, 2, (size_t[]){2, 3}, &z));
    OK(tarn_fill(ctx, z, 2));
    OK(tarn_rnn_new(ctx, &cell, &st));
    OK(tarn_rnn_set_state(ctx, st, S, z));
    options.state = st;
    for (int arrives = 0; arrives < 2; arrives++) {
        options.dS = arrives ? dS : NULL;
        options.dz = arrives ? dz : NULL;
        for (int f = 0; f < 2; f++) {
            run(f ? "rnn" : "prefix");
            expect_ok("state");
            cr_assert_eq(report.count, 5);
            for (size_t r = 0; r < 5; r++)
                cr_assert_str_eq(report.rows[r].what, what[r]);
        }
    }
    tarn_tensor *inputs[] = {S, z, dS, dz};
    for (int n = 0; n < 4; n++) tarn_tensor_free(inputs[n]);
    tarn_rnn_free(st);
}

/* phi = exp with a gradient that is off by the factor *user. */
static tarn_status apply(tarn_context *context, void *user, const tarn_tensor *x,
                         tarn_tensor **features)
{
    (void)user;
    return tarn_unary(context, TARN_EXP, x, features);
}

static tarn_status grad(tarn_context *context, void *user, const tarn_tensor *x,
                        const tarn_tensor *df, tarn_tensor **dx)
{
    tarn_tensor *f, *product;
    tarn_status status = apply(context, user, x, &f);
    if (status) return status;
    status = tarn_binary(context, TARN_MUL, f, df, &product);
    tarn_tensor_free(f);
    if (status) return status;
    status = tarn_binary_number(context, TARN_MUL, product, *(double *)user, false, dx);
    tarn_tensor_free(product);
    return status;
}

Test(gradcheck, a_gradient_that_is_off_by_1e_4_is_noticed)
{
    double factor = 1;
    const tarn_phi phi = {
        .name = "exp", .builtin = -1, .apply = apply, .grad = grad, .user = &factor};
    options.phi = &phi;
    run("prefix");
    expect_ok("right");
    factor = 1 + 1e-4;
    run("prefix");
    cr_assert(!report.ok);
    cr_assert(!report.rows[0].ok && !report.rows[1].ok, "dq and dk come through phi");
    cr_assert(report.rows[2].ok, "dv does not");
    cr_assert_float_eq(report.rows[0].max_rel, 1e-4, 1e-6);

    tarn_report_free(&report);
    OK(tarn_gradcheck(ctx, "prefix", q, k, v, &options, 0, &report));
    cr_assert(!report.ok, "a bound of 0 leaves room for noise only");
}

/* Where the gradient is 0, only rounding is left, which must not fail: with D = 1 and
 * eps = 0 the query cancels. */
Test(gradcheck, noise_alone_does_not_fail)
{
    options.eps = 0;
    make_inputs(40, 1, 3);
    run("prefix");
    expect_ok("D = 1");
    cr_assert_leq(report.rows[0].max_abs, 1e-8);
}

/* 2 * 300 * 4 entries a tensor would take 14,400 runs; 256 each take 1,536. */
static size_t calls;
static tarn_status counted(tarn_context *context, void *user, const tarn_tensor *x,
                           tarn_tensor **features)
{
    calls++;
    return apply(context, user, x, features);
}

Test(gradcheck, a_large_tensor_is_checked_at_256_entries)
{
    double factor = 1;
    const tarn_phi phi = {
        .name = "exp", .builtin = -1, .apply = counted, .grad = grad, .user = &factor};
    make_inputs(300, 4, 4);
    options.phi = &phi;
    run("assoc");
    expect_ok("large");
    cr_assert_leq(calls, 4 * (3 * 2 * 256 + 2), "%zu", calls);
    cr_assert_geq(calls, 2 * 3 * 2 * 256, "%zu", calls);
}

/* relu at 0: the difference lies halfway, and no gradient can please it. */
Test(gradcheck, a_kink_fails_and_elu1_at_zero_does_not)
{
    OK(tarn_fill(ctx, q, 0));
    OK(tarn_fill(ctx, k, 0));
    run("prefix");
    expect_ok("elu1 at 0");
    OK(tarn_fill(ctx, k, 1));
    OK(tarn_tensor_set(ctx, q, (size_t[]){0, 3, 0}, 1));
    OK(tarn_tensor_set(ctx, k, (size_t[]){0, 2, 0}, 3));
    options.phi = tarn_phi_find("relu");
    run("prefix");
    cr_assert(!report.rows[0].ok);
    cr_assert(report.rows[2].ok);
}

Test(gradcheck, no_elements_are_no_errors)
{
    make_inputs(0, 3, 2);
    run("prefix");
    expect_ok("N = 0");
    cr_assert_eq(report.rows[0].worst.rank, 0);
}

Test(gradcheck, unknown_forms_and_maps_without_gradient_are_refused)
{
    const tarn_phi phi = {.name = "mine", .builtin = -1, .apply = apply};
    cr_assert_eq(tarn_gradcheck(ctx, "kv", q, k, v, &options, 1, &report), TARN_EINVAL);
    cr_assert_str_eq(tarn_error(ctx), "gradcheck: form is \"kv\", expected sim, assoc, "
                                      "prefix or rnn");
    options.phi = &phi;
    cr_assert_eq(tarn_gradcheck(ctx, "rnn", q, k, v, &options, 1, &report),
                 TARN_EINVAL);
    cr_assert_null(report.rows);
}
