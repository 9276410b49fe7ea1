/* test_equiv_report.c: whether equiv would notice a fault, what it reports and refuses. */
#include "comparison.h"

TestSuite(equiv_report, .init = open, .fini = close);

/* ---- Whether a fault would be seen ----------------------------------------------------- */

/* phi = exp, wrong in float32 by the factor *user in the first entry of a row. */
static tarn_status faulty(tarn_context *context, void *user, const tarn_tensor *x,
                          tarn_tensor **features)
{
    tarn_status status = tarn_unary(context, TARN_EXP, x, features);
    if (status || tarn_tensor_dtype(x) != TARN_FLOAT32) return status;
    float *f = tarn_tensor_data(*features);
    const size_t D = tarn_tensor_shape(x)[1];
    for (size_t r = 0; r < tarn_tensor_shape(x)[0]; r++)
        f[r * D] = (float)((double)f[r * D] * *(double *)user);
    return TARN_OK;
}

static tarn_status faulty_grad(tarn_context *context, void *user, const tarn_tensor *x,
                               const tarn_tensor *df, tarn_tensor **dx)
{
    tarn_tensor *f;
    tarn_status status = faulty(context, user, x, &f);
    if (status) return status;
    status = tarn_binary(context, TARN_MUL, f, df, dx);
    tarn_tensor_free(f);
    return status;
}

Test(equiv_report, a_fault_of_100_roundings_is_seen)
{
    double factor = 1;
    const tarn_phi phi = {.name = "faulty",
                          .builtin = -1,
                          .apply = faulty,
                          .grad = faulty_grad,
                          .user = &factor};
    options.attention.phi = &phi;
    options.grad = true;
    make_inputs((struct sizes){20, 20, 2, 3}, TARN_FLOAT32, 1, 0);
    run();
    expect_ok("no fault");

    factor = 1 + 100 * (double)FLT_EPSILON;
    run();
    cr_assert(!report.ok);
    for (size_t r = 0; r < report.count; r++) {
        const tarn_row *row = &report.rows[r];
        const bool seen = row->dtype == TARN_FLOAT32 && strcmp(row->what, "out") == 0;
        if (seen)
            cr_assert(!row->ok, "%s: %g, bound %g", row->form, row->max_rel, row->tol);
        if (row->dtype == TARN_FLOAT64) cr_assert(row->ok);
    }
}

/* The bound may not be so wide that nothing reaches it: across random inputs the worst row
 * comes within a factor of 50. */
Test(equiv_report, the_bound_is_near_what_happens)
{
    make_inputs((struct sizes){300, 300, 16, 16}, TARN_FLOAT64, 1, 0);
    run();
    double nearest = 0;
    for (size_t r = 0; r < report.count; r++)
        nearest = fmax(nearest, report.rows[r].max_rel / report.rows[r].tol);
    cr_assert_leq(nearest, 1);
    cr_assert_geq(nearest, 0.02, "%g", nearest);
}

/* A user's similarity that differs by type at one pair: the worst entry is found. */
static tarn_status one_wrong_pair(tarn_context *context, void *user,
                                  const tarn_tensor *q_i, const tarn_tensor *k_j,
                                  double *similarity)
{
    const double wrong = *(double *)user;
    (void)context;
    *similarity = 1;
    if (tarn_tensor_dtype(q_i) == TARN_FLOAT32 && flat(q_i, 0) == 7 &&
        flat(k_j, 0) == 2)
        *similarity = wrong;
    return TARN_OK;
}

Test(equiv_report, the_worst_element_is_named_and_NaN_fails)
{
    double values[10], wrong = 9;
    for (int i = 0; i < 10; i++) values[i] = i;
    q = matrix(ctx, TARN_FLOAT32, 10, 1, values);
    k = matrix(ctx, TARN_FLOAT32, 10, 1, values);
    v = matrix(ctx, TARN_FLOAT32, 10, 1, values);
    options.attention.by = TARN_PAIR;
    options.attention.pair = one_wrong_pair;
    options.attention.user = &wrong;
    options.attention.eps = 0;
    run();
    const tarn_row *row = row_of("sim", "out", TARN_FLOAT32);
    cr_assert(!report.ok && !row->ok);
    cr_assert_eq(row->worst.rank, 2);
    cr_assert_eq(row->worst.index[0], 7);
    cr_assert_eq(row->worst.index[1], 0);
    cr_assert_eq(row->worst.expected, 3.5);
    cr_assert_eq(row->worst.got, (28 + 8 * 2) / 16.);
    cr_assert_eq(row->max_abs, 0.75);
    cr_assert(row_of("sim", "out", TARN_FLOAT64)->ok);

    wrong = (double)NAN;
    run();
    row = row_of("sim", "out", TARN_FLOAT32);
    cr_assert(!row->ok && isnan(row->worst.got));
    cr_assert_eq(row->max_abs, (double)INFINITY);
    cr_assert_eq(row->max_rel, (double)INFINITY);
}

Test(equiv_report, NaN_fails_even_where_every_form_has_it)
{
    make_inputs((struct sizes){130, 130, 3, 2}, TARN_FLOAT32, 1, 0);
    OK(tarn_tensor_set(ctx, v, (size_t[]){0, 70, 1}, (double)NAN));
    for (int causal = 0; causal < 2; causal++) {
        options.attention.causal = causal;
        run();
        for (size_t r = 0; r < report.count; r++) {
            cr_assert(!report.rows[r].ok, "%s", report.rows[r].form);
            cr_assert(isnan(report.rows[r].worst.expected));
        }
    }
}

Test(equiv_report, infinities_of_one_sign_agree)
{
    make_inputs((struct sizes){130, 130, 3, 2}, TARN_FLOAT32, 1, 0);
    OK(tarn_tensor_set(ctx, v, (size_t[]){1, 3, 0}, (double)INFINITY));
    for (int causal = 0; causal < 2; causal++) {
        options.attention.causal = causal;
        run();
        expect_ok("Inf in v");
    }
}

Test(equiv_report, a_negative_tolerance_is_refused)
{
    make_inputs((struct sizes){5, 5, 2, 2}, TARN_FLOAT32, 1, 0);
    options.tol = -1;
    cr_assert_eq(tarn_equiv(ctx, q, k, v, &options, &report), TARN_EINVAL);
    cr_assert_str_eq(tarn_error(ctx), "equiv: tol is -1, expected 0 or more");
    cr_assert_eq(tarn_gradcheck(ctx, "sim", q, k, v, NULL, -1, &report), TARN_EINVAL);
}

/* ---- What a report says ---------------------------------------------------------------- */

Test(equiv_report, rows_are_the_forms_that_compute_what_was_asked)
{
    static const char *const causal[] = {
        "sim", "prefix sequential", "prefix chunked", "prefix scan", "rnn", "rnn step"};
    make_inputs((struct sizes){5, 5, 2, 2}, TARN_FLOAT32, 1, 0);
    run();
    cr_assert_eq(report.count, 24);
    for (size_t f = 0; f < 12; f++) {
        cr_assert_str_eq(report.rows[f].form, causal[f % 6]);
        cr_assert_str_eq(report.rows[f].impl, f < 6 ? "fast" : "plain");
        cr_assert_str_eq(report.rows[f].device, "cpu");
        cr_assert_eq(report.rows[f].dtype, TARN_FLOAT32);
        cr_assert_eq(report.rows[12 + f].dtype, TARN_FLOAT64);
        cr_assert_geq(report.rows[f].seconds, 0);
    }
    options.attention.causal = false;
    options.float64 = false;
    run();
    cr_assert_eq(report.count, 4);
    cr_assert_str_eq(report.rows[1].form, "assoc");
    options.attention.causal = true;
    options.attention.by = TARN_SOFTMAX;
    run();
    cr_assert_eq(report.count, 4);
    cr_assert_str_eq(report.rows[1].form, "kv");
}

/* Constant memory against memory that grows: what the paper is about. */
Test(equiv_report, only_the_state_of_sim_and_kv_grows_with_N)
{
    size_t bytes[2][4];
    for (size_t n = 0; n < 2; n++) {
        make_inputs((struct sizes){n ? 512 : 128, n ? 512 : 128, 4, 6}, TARN_FLOAT32, 1,
                    0);
        options.attention.by = TARN_PHI;
        run();
        bytes[n][0] = row_of("rnn", "out", TARN_FLOAT32)->state_bytes;
        bytes[n][1] = row_of("prefix chunked", "out", TARN_FLOAT32)->state_bytes;
        bytes[n][2] = row_of("sim", "out", TARN_FLOAT32)->state_bytes;
        options.attention.by = TARN_SOFTMAX;
        run();
        bytes[n][3] = row_of("kv", "out", TARN_FLOAT32)->state_bytes;
    }
    cr_assert_gt(bytes[0][0], 0);
    cr_assert_eq(bytes[0][0], bytes[1][0]);
    cr_assert_eq(bytes[0][1], bytes[1][1]);
    cr_assert_eq(bytes[0][2], 2 * 128 * (4 + 6) * sizeof(float));
    cr_assert_eq(bytes[1][2], 4 * bytes[0][2]);
    cr_assert_eq(bytes[1][3], 4 * bytes[0][3]);
    cr_assert_eq(bytes[0][3], bytes[0][2]);
}

Test(equiv_report, a_tolerance_of_the_users_takes_the_place_of_the_derived_one)
{
    make_inputs((struct sizes){50, 50, 3, 2}, TARN_FLOAT32, 1, 0);
    options.tol = 0;
    run();
    cr_assert(!report.ok);
    cr_assert_eq(report.rows[0].tol, 0);
    options.tol = 1;
    run();
    cr_assert(report.ok);
}

Test(equiv_report, the_inputs_stay_as_they_are)
{
    make_inputs((struct sizes){50, 50, 3, 2}, TARN_FLOAT32, 1, 0);
    tarn_tensor *copies[3], *inputs[] = {q, k, v};
    for (int n = 0; n < 3; n++)
        OK(tarn_clone(ctx, inputs[n], TARN_FLOAT32, &copies[n]));
    tarn_rnn *st = random_state(3, 2, TARN_FLOAT32), *same;
    OK(tarn_rnn_clone(ctx, st, &same));
    options.attention.state = st;
    options.grad = true;
    run();
    for (int n = 0; n < 3; n++) {
        cr_assert_eq(largest_difference(ctx, inputs[n], copies[n]), 0);
        tarn_tensor_free(copies[n]);
    }
    tarn_tensor *S, *T;
    OK(tarn_rnn_state(ctx, st, &S, NULL));
    OK(tarn_rnn_state(ctx, same, &T, NULL));
    cr_assert_eq(largest_difference(ctx, S, T), 0);
    tarn_tensor_free(S);
    tarn_tensor_free(T);
    tarn_rnn_free(st);
    tarn_rnn_free(same);
}

/* ---- What it refuses ------------------------------------------------------------------- */

static void expect_refusal(tarn_status expected, const char *message)
{
    tarn_report untouched = {.count = 7};
    cr_assert_eq(tarn_equiv(ctx, q, k, v, &options, &untouched), expected, "%s",
                 message);
    cr_assert_str_eq(tarn_error(ctx), message);
    cr_assert_eq(untouched.count, 7);
}

Test(equiv_report, options_without_meaning_are_refused)
{
    make_inputs((struct sizes){5, 5, 2, 2}, TARN_FLOAT32, 1, 0);
    const tarn_equiv_options defaults = options;
    options.impl = "slow";
    expect_refusal(TARN_EDEVICE, "equiv: impl is \"slow\", which is not there");
    options = defaults;
    options.float32 = options.float64 = false;
    expect_refusal(TARN_EINVAL, "equiv: no dtype, expected one or more");
    options = defaults;
    options.attention.scale = 2;
    expect_refusal(TARN_EINVAL,
                   "equiv: scale is 2, but with a feature map only sim has a scale");
    options = defaults;
    options.attention.by = TARN_PAIR;
    options.grad = true;
    expect_refusal(TARN_EINVAL, "equiv: a function as similarity has no gradient");
    options = defaults;
    tarn_rnn *st = random_state(2, 2, TARN_FLOAT32);
    options.attention.state = st;
    options.attention.causal = false;
    expect_refusal(TARN_EINVAL,
                   "equiv: a state needs causal attention by a feature map, "
                   "without lengths");
    tarn_rnn_free(st);
}

Test(equiv_report, a_standing_interrupt_stops_it)
{
    make_inputs((struct sizes){5, 5, 2, 2}, TARN_FLOAT32, 1, 0);
    tarn_interrupt(ctx);
    cr_assert_eq(tarn_equiv(ctx, q, k, v, &options, &report), TARN_EINTR);
    cr_assert_null(report.rows);
}
