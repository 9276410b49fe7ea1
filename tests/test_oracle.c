/* test_oracle.c: the oracle against tables that were computed without tarn.
 *
 * Three sources: REF-A and the gradient tables of the field cases (printed to 9 and 8
 * digits), sums small enough to be done by hand, and golden/attention.h, computed with 240
 * decimal digits. There the bound is 1e-13 of an element's magnitude: some hundred
 * roundings of float64, the longest sum having some ten terms of a few roundings each;
 * an exponent x, itself rounded, adds eps |x|. */
#include "attention.h"
#include "check/oracle.h"
#include "golden/attention.h"
#include <float.h>

static tarn_context *ctx;
static tarn_options options;
static struct tarn_oracle oracle;

static void open(void)
{
    cr_assert_eq(tarn_context_new(&ctx), TARN_OK);
    options = tarn_defaults();
    options.by = TARN_PHI;
    options.eps = 0;
    oracle = (struct tarn_oracle){0};
}

static void close(void)
{
    tarn_oracle_free(&oracle);
    cr_assert_eq(tarn_bytes(ctx), 0, "%zu bytes of tensors are left", tarn_bytes(ctx));
    tarn_context_free(ctx);
}
TestSuite(oracle, .init = open, .fini = close);

/* Sizes and tables of one problem; a table that is NULL is left out. */
struct tables {
    size_t N_q, N, D, M, C;
    const double *q, *k, *v, *S0, *z0, *dout;
};

static tarn_tensor *table(size_t rows, size_t columns, const double *values)
{
    return values ? matrix(ctx, TARN_FLOAT64, rows, columns, values) : NULL;
}

static tarn_status run(struct tables t, size_t past)
{
    tarn_tensor *q = table(t.N_q, t.D, t.q), *k = table(t.N, t.D, t.k);
    tarn_tensor *v = table(t.N, t.M, t.v), *dout = table(t.N_q, t.M, t.dout);
    tarn_tensor *S0 = table(t.C, t.M, t.S0), *z0 = table(1, t.C, t.z0);
    const struct tarn_oracle_problem problem = {.function = "oracle",
                                                .q = q,
                                                .k = k,
                                                .v = v,
                                                .options = &options,
                                                .past = past,
                                                .S0 = S0,
                                                .z0 = z0,
                                                .dout = dout};
    tarn_oracle_free(&oracle);
    tarn_status status = tarn_oracle_run(ctx, &problem, &oracle);
    tarn_tensor *inputs[] = {q, k, v, dout, S0, z0};
    for (size_t n = 0; n < 6; n++) tarn_tensor_free(inputs[n]);
    return status;
}

/* ---- Golden values --------------------------------------------------------------------- */

static void expect_golden(const struct golden *g, const char *what,
                          struct tarn_oracle_sum got, const double *expected)
{
    if (!expected) return;
    const double bound = 1e-13 + DBL_EPSILON * oracle.exponent;
    cr_assert_not_null(got.value, "%s: no %s", g->name, what);
    for (size_t n = 0; n < tarn_tensor_numel(got.value); n++) {
        const double error = fabs(flat(got.value, n) - expected[n]);
        cr_expect(error <= bound * fmax(flat(got.magnitude, n), DBL_MIN),
                  "%s: %s[%zu] is %.17g, expected %.17g, magnitude %g", g->name, what,
                  n, flat(got.value, n), expected[n], flat(got.magnitude, n));
    }
}

Test(oracle, gives_the_golden_values_and_gradients)
{
    for (size_t n = 0; n < sizeof golden / sizeof *golden; n++) {
        const struct golden *g = &golden[n];
        const int64_t length = (int64_t)g->length;
        options.by = g->by;
        options.phi = tarn_phi_find(g->phi);
        options.causal = g->causal;
        options.eps = g->eps;
        options.scale = g->scale;
        options.lengths = &length;
        options.lengths_count = g->length < g->N;
        OK(run((struct tables){g->N_q, g->N, g->D, g->M, g->C, g->q, g->k, g->v, g->S0,
                               g->z0, g->dout},
               0));
        expect_golden(g, "out", oracle.out, g->out);
        expect_golden(g, "dq", oracle.dq, g->dq);
        expect_golden(g, "dk", oracle.dk, g->dk);
        expect_golden(g, "dv", oracle.dv, g->dv);
        expect_golden(g, "dS0", oracle.dS0, g->dS0);
        expect_golden(g, "dz0", oracle.dz0, g->dz0);
    }
}

/* ---- Tables of the field cases --------------------------------------------------------- */

static const struct tables ref_a = {
    .N_q = 3,
    .N = 3,
    .D = 2,
    .M = 2,
    .C = 2,
    .q = (double[]){0, 1, -1, .5, 2, -2},
    .k = (double[]){1, 0, 0, -1, -.5, 2},
    .v = (double[]){1, 2, 3, -1, 0, 4},
};

Test(oracle, gives_REF_A_causal_and_full)
{
    options.causal = true;
    OK(run(ref_a, 0));
    expect_values(oracle.out.value,
                  (double[]){1, 2, 1.582925682, 1.125611477, 1.339503226, 1.588267395},
                  1e-9);
    options.causal = false;
    OK(run(ref_a, 0));
    expect_values(oracle.out.value,
                  (double[]){.745994219, 2.648646643, .633978438, 2.848777067,
                             1.339503226, 1.588267395},
                  1e-9);
}

Test(oracle, gives_the_full_gradient_table_of_GST_15)
{
    const struct tables t = {
        .N_q = 3,
        .N = 3,
        .D = 2,
        .M = 2,
        .C = 2,
        .q = (double[]){.3, 1, -1, .5, 2, -2},
        .k = (double[]){1, .2, .4, -1, -.5, 2},
        .v = (double[]){1, 2, 3, -1, 0, 4},
        .dout = (double[]){1, 1, 1, 1, 1, 1},
    };
    options.causal = true;
    OK(run(t, 0));
    expect_values(oracle.dq.value,
                  (double[]){0, 0, -.04014628, .02676419, -.01200724, .03602172}, 5e-9);
    expect_values(
        oracle.dk.value,
        (double[]){.06826110, .12501448, -.27123695, -.11112137, .16704153, .01242400},
        5e-9);
    expect_values(
        oracle.dv.value,
        (double[]){2.19148450, 2.19148450, .63240889, .63240889, .17610661, .17610661},
        5e-9);
    options.causal = false;
    OK(run(t, 0));
    expect_values(oracle.dk.value,
                  (double[]){-.00812566, -.11854747, -.38032345, -.16512237, .22082090,
                             .21175419},
                  5e-9);
}

Test(oracle, differentiates_the_denominator_GST_01)
{
    const struct tables t = {.N_q = 2,
                             .N = 2,
                             .D = 1,
                             .M = 1,
                             .C = 1,
                             .q = (double[]){0, 0},
                             .k = (double[]){0, 1},
                             .v = (double[]){0, 1},
                             .dout = (double[]){1, 1}};
    options.causal = true;
    OK(run(t, 0));
    expect_values(oracle.out.value, (double[]){0, 2. / 3}, 1e-15);
    expect_values(oracle.dk.value, (double[]){-2. / 9, 1. / 9}, 1e-15);
    expect_values(oracle.dq.value, (double[]){0, 0}, 1e-15);
    expect_values(oracle.dv.value, (double[]){4. / 3, 2. / 3}, 1e-15);
}

Test(oracle, does_not_count_keys_beyond_the_length_SHP_11)
{
    const double zeros[5] = {0};
    const struct tables t = {.N_q = 5,
                             .N = 5,
                             .D = 1,
                             .M = 1,
                             .C = 1,
                             .q = zeros,
                             .k = zeros,
                             .v = (double[]){1, 2, 3, 100, (double)NAN},
                             .dout = (double[]){1, 1, 1, 1, 1}};
    options.lengths = (int64_t[]){3};
    options.lengths_count = 1;
    OK(run(t, 0));
    expect_values(oracle.out.value, (double[]){2, 2, 2, 2, 2}, 1e-15);
    expect_values(oracle.dv.value, (double[]){5. / 3, 5. / 3, 5. / 3, 0, 0}, 1e-15);
    cr_assert_eq(flat(oracle.dk.value, 3), 0);
    cr_assert_eq(flat(oracle.dk.value, 4), 0);
}

/* ---- Sums done by hand ----------------------------------------------------------------- */

/* Features of zeros are 1: the output is the mean of the values seen so far. */
Test(oracle, sees_past_keys_and_its_own)
{
    const double zeros[4] = {0};
    const struct tables t = {.N_q = 2,
                             .N = 4,
                             .D = 1,
                             .M = 1,
                             .C = 1,
                             .q = zeros,
                             .k = zeros,
                             .v = (double[]){1, 2, 3, 4}};
    options.causal = true;
    OK(run(t, 2));
    expect_values(oracle.out.value, (double[]){2, 2.5}, 0);
}

/* Terms 1 and -1 times 1e8 leave 1: the sum is 1, its magnitude 2e8 + 1. */
Test(oracle, magnitudes_are_sums_of_absolute_terms)
{
    const double zeros[3] = {0};
    const struct tables t = {.N_q = 1,
                             .N = 3,
                             .D = 1,
                             .M = 1,
                             .C = 1,
                             .q = zeros,
                             .k = zeros,
                             .v = (double[]){1e8, 1, -1e8}};
    OK(run(t, 0));
    cr_assert_eq(flat(oracle.out.value, 0), 1. / 3);
    cr_assert_eq(flat(oracle.out.magnitude, 0), (2e8 + 1) / 3);
}

/* Sums of 10^6 equal terms, above 0.11 and below 1.1, would lose five digits if they were
 * not compensated. */
Test(oracle, error_does_not_grow_with_the_number_of_keys)
{
    const size_t N = 1000000;
    double *values = malloc(N * sizeof *values), zero = 0;
    double *keys = malloc(N * sizeof *keys);
    cr_assert(values && keys);
    for (size_t j = 0; j < N; j++) values[j] = keys[j] = 0.1;
    const struct tables t = {
        .N_q = 1, .N = N, .D = 1, .M = 1, .C = 1, .q = &zero, .k = keys, .v = values};
    OK(run(t, 0));
    cr_expect_leq(fabs(flat(oracle.out.value, 0) - 0.1), 2 * DBL_EPSILON * 0.1);
    free(values);
    free(keys);
}

/* One finite row, then NaN from the second key on. */
Test(oracle, nan_goes_only_where_it_is_seen_NUM_15)
{
    struct tables t = ref_a;
    t.v = (double[]){1, 2, (double)NAN, -1, 0, 4};
    options.causal = true;
    OK(run(t, 0));
    const tarn_tensor *out = oracle.out.value;
    cr_assert_eq(flat(out, 0), 1);
    cr_assert(isnan(flat(out, 2)) && isnan(flat(out, 4)));
    cr_assert(isfinite(flat(out, 3)) && isfinite(flat(out, 5)));
    t.v = (double[]){1, 2, (double)INFINITY, -1, 0, 4};
    OK(run(t, 0));
    cr_assert_eq(flat(oracle.out.value, 2), (double)INFINITY);
}

Test(oracle, a_row_that_no_key_reaches_is_zero)
{
    const struct tables t = {.N_q = 1,
                             .N = 1,
                             .D = 1,
                             .M = 1,
                             .C = 1,
                             .q = (double[]){-1},
                             .k = (double[]){1},
                             .v = (double[]){5},
                             .dout = (double[]){1}};
    options.phi = tarn_phi_find("relu");
    OK(run(t, 0));
    cr_assert_eq(flat(oracle.out.value, 0), 0);
    cr_assert_eq(flat(oracle.dq.value, 0), 0);
    cr_assert_eq(flat(oracle.dk.value, 0), 0);
    cr_assert_eq(flat(oracle.dv.value, 0), 0);
}

/* ---- Functions of the user's ----------------------------------------------------------- */

/* phi(x) = [x0 - x1, x0 x1], of mixed signs, so that |J| and J differ. */
static tarn_status mixed(tarn_context *context, void *user, const tarn_tensor *x,
                         tarn_tensor **features)
{
    (void)user;
    const size_t R = tarn_tensor_shape(x)[0];
    tarn_status status =
        tarn_tensor_new(context, TARN_FLOAT64, 2, (size_t[]){R, 2}, features);
    if (status) return status;
    const double(*in)[2] = tarn_tensor_data(x);
    double(*f)[2] = tarn_tensor_data(*features);
    for (size_t r = 0; r < R; r++) {
        f[r][0] = in[r][0] - in[r][1];
        f[r][1] = in[r][0] * in[r][1];
    }
    return TARN_OK;
}

static tarn_status mixed_grad(tarn_context *context, void *user, const tarn_tensor *x,
                              const tarn_tensor *df, tarn_tensor **dx)
{
    (void)user;
    const size_t R = tarn_tensor_shape(x)[0];
    tarn_status status =
        tarn_tensor_new(context, TARN_FLOAT64, 2, (size_t[]){R, 2}, dx);
    if (status) return status;
    const double(*in)[2] = tarn_tensor_data(x), (*g)[2] = tarn_tensor_data(df);
    double(*to)[2] = tarn_tensor_data(*dx);
    for (size_t r = 0; r < R; r++) {
        to[r][0] = g[r][0] + g[r][1] * in[r][1];
        to[r][1] = -g[r][0] + g[r][1] * in[r][0];
    }
    return TARN_OK;
}

/* One query, two keys; sims are phi(2,1).phi(k) = (1,2).(2,3) = 8 and (1,2).(1,0) = 1.
 * out = (8 * 1 + 1 * 10) / 9 = 2. d out/d sim = (1 - 2) / 9 and (10 - 2) / 9, so
 * dphi(q) = -(2,3)/9 + 8 (1,0)/9 = (6,-3)/9 and dq = (6 - 3, -6 - 6)/9. */
Test(oracle, takes_a_users_feature_map)
{
    const tarn_phi phi = {
        .name = "mixed", .builtin = -1, .apply = mixed, .grad = mixed_grad};
    const struct tables t = {.N_q = 1,
                             .N = 2,
                             .D = 2,
                             .M = 1,
                             .C = 2,
                             .q = (double[]){2, 1},
                             .k = (double[]){3, 1, 1, 0},
                             .v = (double[]){1, 10},
                             .dout = (double[]){1}};
    options.phi = &phi;
    OK(run(t, 0));
    expect_values(oracle.out.value, (double[]){2}, 1e-15);
    expect_values(oracle.dq.value, (double[]){3. / 9, -12. / 9}, 1e-15);
    expect_values(oracle.dv.value, (double[]){8. / 9, 1. / 9}, 1e-15);
    /* |J|^T of positive magnitudes: never below the value, and not 0 where signs mix. */
    for (size_t c = 0; c < 2; c++)
        cr_assert_geq(flat(oracle.dq.magnitude, c), fabs(flat(oracle.dq.value, c)));
    cr_assert_gt(flat(oracle.dq.magnitude, 0), 15. / 9 - 1e-12);
}

static tarn_status product(tarn_context *context, void *user, const tarn_tensor *q_i,
                           const tarn_tensor *k_j, double *similarity)
{
    (void)context;
    ++*(int *)user;
    *similarity = flat(q_i, 0) * flat(k_j, 0);
    return TARN_OK;
}

/* Similarities 1 * 2 and 1 * 6, doubled by the scale: (4 * 10 + 12 * 2) / 16 = 4. */
Test(oracle, takes_a_users_similarity)
{
    int calls = 0;
    const struct tables t = {.N_q = 1,
                             .N = 2,
                             .D = 1,
                             .M = 1,
                             .C = 1,
                             .q = (double[]){1},
                             .k = (double[]){2, 6},
                             .v = (double[]){10, 2}};
    options.by = TARN_PAIR;
    options.pair = product;
    options.user = &calls;
    options.scale = 2;
    OK(run(t, 0));
    expect_values(oracle.out.value, (double[]){4}, 0);
    cr_assert_eq(calls, 2);
}

/* ---- What it refuses ------------------------------------------------------------------- */

Test(oracle, shapes_that_do_not_fit_are_refused_by_name)
{
    const tarn_dtype f = TARN_FLOAT64;
    tarn_tensor *q = matrix(ctx, f, 1, 2, ref_a.q), *k = matrix(ctx, f, 1, 1, ref_a.k);
    struct tarn_oracle_problem p = {.function = "equiv", .q = q, .k = k, .v = k};
    p.options = &options;
    cr_assert_eq(tarn_oracle_run(ctx, &p, &oracle), TARN_ESHAPE);
    cr_assert_str_eq(tarn_error(ctx),
                     "equiv: k is [1, 1], expected [.., N, D] to match q, "
                     "which is [1, 2]");
    p.k = q;
    options.lengths = (int64_t[]){2};
    options.lengths_count = 1;
    cr_assert_eq(tarn_oracle_run(ctx, &p, &oracle), TARN_EINVAL);
    cr_assert_str_eq(tarn_error(ctx), "equiv: length 1 is 2, expected 0 to N = 1");
    cr_assert_null(oracle.out.value);
    tarn_tensor_free(q);
    tarn_tensor_free(k);
}
