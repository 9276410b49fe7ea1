/* test_forms.c: every form against the hand-computed tables, and what they refuse.
 *
 * REF-A, GST-01 and GST-15 are tables of the field cases, computed outside of tarn; the
 * bound 1e-9 is that of their printed digits. */
#include "attention.h"
#include <string.h>

static tarn_context *ctx;
static tarn_options options;
static tarn_tensor *q, *k, *v;

static void open(void)
{
    cr_assert_eq(tarn_context_new(&ctx), TARN_OK);
    options = tarn_defaults();
    options.eps = 0;
    options.by = TARN_PHI;
    q = matrix(ctx, TARN_FLOAT64, 3, 2, (double[]){0, 1, -1, .5, 2, -2});
    k = matrix(ctx, TARN_FLOAT64, 3, 2, (double[]){1, 0, 0, -1, -.5, 2});
    v = matrix(ctx, TARN_FLOAT64, 3, 2, (double[]){1, 2, 3, -1, 0, 4});
}

static void close(void)
{
    tarn_tensor_free(q);
    tarn_tensor_free(k);
    tarn_tensor_free(v);
    cr_assert_eq(tarn_bytes(ctx), 0, "%zu bytes of tensors are left", tarn_bytes(ctx));
    tarn_context_free(ctx);
}
TestSuite(forms, .init = open, .fini = close);

static const double causal_table[] = {1,           2,           1.582925682,
                                      1.125611477, 1.339503226, 1.588267395};
static const double full_table[] = {.745994219,  2.648646643, .633978438,
                                    2.848777067, 1.339503226, 1.588267395};

Test(forms, sim_gives_REF_A_causal_and_full)
{
    for (int causal = 0; causal < 2; causal++)
        for (int fast = 0; fast < 2; fast++) {
            tarn_tensor *out = NULL;
            options.causal = causal;
            options.precision = fast ? TARN_FAST : TARN_ACCURATE;
            OK(tarn_sim(ctx, q, k, v, &options, &out, NULL));
            expect_values(out, causal ? causal_table : full_table, 1e-9);
            tarn_tensor_free(out);
        }
}

//> region assoc_by_hand
Test(forms, assoc_gives_REF_A_full)
{
    for (int fast = 0; fast < 2; fast++) {
        tarn_tensor *out = NULL;
        options.precision = fast ? TARN_FAST : TARN_ACCURATE;
        OK(tarn_assoc(ctx, q, k, v, &options, &out));
        expect_values(out, full_table, 1e-9);
        tarn_tensor_free(out);
    }
}
//< region assoc_by_hand

//> region prefix_by_hand
Test(forms, prefix_gives_REF_A_causal_by_each_method_and_any_chunk)
{
    const size_t chunks[] = {0, 1, 2, 3, 5};
    for (int method = TARN_CHUNKED; method <= TARN_SCAN; method++)
        for (int fast = 0; fast < 2; fast++)
            for (int c = 0; c < 5; c++) {
                tarn_tensor *out = NULL;
                options.method = (tarn_method)method;
                options.precision = fast ? TARN_FAST : TARN_ACCURATE;
                options.chunk = chunks[c];
                OK(tarn_prefix(ctx, q, k, v, &options, &out, NULL));
                expect_values(out, causal_table, 1e-9);
                tarn_tensor_free(out);
            }
}
//< region prefix_by_hand

/* The expectation is computed here from eqs 2 and 3, with a scale and without. */
Test(forms, softmax_is_the_default_similarity)
{
    const double scales[] = {NAN, 0.3};
    for (int s = 0; s < 2; s++) {
        tarn_tensor *out = NULL;
        options.by = TARN_SOFTMAX;
        options.scale = scales[s];
        const double scale = s ? 0.3 : 1 / sqrt(2);
        OK(tarn_sim(ctx, q, k, v, &options, &out, NULL));
        for (size_t i = 0; i < 3; i++)
            for (size_t m = 0; m < 2; m++) {
                double num = 0, den = 0;
                for (size_t j = 0; j < 3; j++) {
                    double e = exp(scale * (flat(q, 2 * i) * flat(k, 2 * j) +
                                            flat(q, 2 * i + 1) * flat(k, 2 * j + 1)));
                    num += e * flat(v, 2 * j + m);
                    den += e;
                }
                cr_assert_float_eq(flat(out, 2 * i + m), num / den, 1e-14);
            }
        tarn_tensor_free(out);
    }
}

/* Distances whose exp is far below the smallest number: only the nearest key counts. */
Test(forms, rbf_survives_distances_that_underflow)
{
    tarn_tensor *far_q = matrix(ctx, TARN_FLOAT64, 1, 1, (double[]){1000});
    tarn_tensor *two_k = matrix(ctx, TARN_FLOAT64, 2, 1, (double[]){0, 1});
    tarn_tensor *two_v = matrix(ctx, TARN_FLOAT64, 2, 1, (double[]){5, 7}), *out = NULL;
    options.by = TARN_RBF;
    OK(tarn_sim(ctx, far_q, two_k, two_v, &options, &out, NULL));
    cr_assert_eq(flat(out, 0), 7);
    tarn_tensor_free(far_q);
    tarn_tensor_free(two_k);
    tarn_tensor_free(two_v);
    tarn_tensor_free(out);
}

//> region weights
Test(forms, weights_are_what_the_output_is_made_of)
{
    tarn_tensor *out = NULL, *w = NULL, *product = NULL;
    options.causal = true;
    OK(tarn_sim(ctx, q, k, v, &options, &out, &w));
    OK(tarn_mm(ctx, w, v, &product));
    cr_assert_leq(largest_difference(ctx, out, product), 1e-14);
    cr_assert_eq(flat(w, 1), 0);
    cr_assert_float_eq(flat(w, 3) + flat(w, 4), 1, 1e-15);
    tarn_tensor_free(out);
    tarn_tensor_free(w);
    tarn_tensor_free(product);
}
//< region weights

/* SHP-11, at the level of C: keys beyond their length do not exist. */
Test(forms, lengths_hide_keys_and_their_gradients)
{
    tarn_tensor *zero = matrix(ctx, TARN_FLOAT64, 5, 1, (double[]){0, 0, 0, 0, 0});
    tarn_tensor *values =
        matrix(ctx, TARN_FLOAT64, 5, 1, (double[]){1, 2, 3, 100, 100});
    tarn_tensor *ones = matrix(ctx, TARN_FLOAT64, 5, 1, (double[]){1, 1, 1, 1, 1});
    options.lengths = (int64_t[]){3};
    options.lengths_count = 1;
    for (int form = 0; form < 2; form++) {
        tarn_tensor *out = NULL;
        tarn_grads g = {0};
        if (form == 0) {
            OK(tarn_sim(ctx, zero, zero, values, &options, &out, NULL));
            OK(tarn_sim_grad(ctx, zero, zero, values, ones, &options, &g));
        } else {
            OK(tarn_assoc(ctx, zero, zero, values, &options, &out));
            OK(tarn_assoc_grad(ctx, zero, zero, values, ones, &options, &g));
        }
        expect_values(out, (double[]){2, 2, 2, 2, 2}, 1e-15);
        expect_values(g.dv, (double[]){5. / 3, 5. / 3, 5. / 3, 0, 0}, 1e-15);
        cr_assert(flat(g.dk, 3) == 0 && flat(g.dk, 4) == 0);
        tarn_tensor_free(out);
        tarn_grads_free(&g);
    }
    tarn_tensor_free(zero);
    tarn_tensor_free(values);
    tarn_tensor_free(ones);
}

/* NUM-19 of no table, but the rule of the header: no key, no output, no gradient. */
Test(forms, a_row_that_no_key_reaches_is_zero)
{
    const tarn_similarity by[] = {TARN_SOFTMAX, TARN_RBF, TARN_PHI};
    for (int s = 0; s < 3; s++) {
        tarn_tensor *out = NULL, *w = NULL;
        options.by = by[s];
        options.lengths = (int64_t[]){0};
        options.lengths_count = 1;
        OK(tarn_sim(ctx, q, k, v, &options, &out, &w));
        for (size_t i = 0; i < 6; i++) cr_assert_eq(flat(out, i), 0);
        for (size_t i = 0; i < 9; i++) cr_assert_eq(flat(w, i), 0);
        tarn_tensor_free(out);
        tarn_tensor_free(w);
    }
}

/* A similarity of the user's that is elu1's gives elu1's table. */
static tarn_status pair(tarn_context *c, void *user, const tarn_tensor *q_i,
                        const tarn_tensor *k_j, double *similarity)
{
    (void)c;
    ++*(int *)user;
    *similarity = 0;
    for (size_t i = 0; i < tarn_tensor_numel(q_i); i++) {
        double a = flat(q_i, i), b = flat(k_j, i);
        *similarity += (a > 0 ? a + 1 : exp(a)) * (b > 0 ? b + 1 : exp(b));
    }
    return TARN_OK;
}

Test(forms, sim_takes_a_function_of_pairs_and_calls_it_for_visible_pairs_only)
{
    int calls = 0;
    tarn_tensor *out = NULL;
    options.by = TARN_PAIR;
    options.pair = pair;
    options.user = &calls;
    options.causal = true;
    OK(tarn_sim(ctx, q, k, v, &options, &out, NULL));
    expect_values(out, causal_table, 1e-9);
    cr_assert_eq(calls, 6);
    tarn_tensor_free(out);
}

static tarn_status failing(tarn_context *c, void *user, const tarn_tensor *q_i,
                           const tarn_tensor *k_j, double *similarity)
{
    (void)user, (void)q_i, (void)k_j, (void)similarity;
    return tarn_raise(c, TARN_EUSER, "my own trouble");
}

Test(forms, an_error_of_the_users_function_comes_through)
{
    tarn_tensor *out = NULL;
    options.by = TARN_PAIR;
    options.pair = failing;
    cr_assert_eq(tarn_sim(ctx, q, k, v, &options, &out, NULL), TARN_EUSER);
    cr_assert_str_eq(tarn_error(ctx), "my own trouble");
    cr_assert_null(out);
}

/* GST-01 and GST-15: the denominator's path to k, and full tables. */
Test(forms, gradients_match_the_tables)
{
    tarn_tensor *q15 =
        matrix(ctx, TARN_FLOAT64, 3, 2, (double[]){.3, 1, -1, .5, 2, -2});
    tarn_tensor *k15 =
        matrix(ctx, TARN_FLOAT64, 3, 2, (double[]){1, .2, .4, -1, -.5, 2});
    tarn_tensor *ones = matrix(ctx, TARN_FLOAT64, 3, 2, (double[]){1, 1, 1, 1, 1, 1});
    const double dq[] = {0, 0, -.04014628, .02676419, -.01200724, .03602172};
    const double dk[] = {.06826110,  .12501448, -.27123695,
                         -.11112137, .16704153, .01242400};
    const double dv[] = {2.19148450, 2.19148450, .63240889,
                         .63240889,  .17610661,  .17610661};
    options.causal = true;
    for (int form = 0; form < 4; form++) {
        tarn_grads g = {0};
        options.precision = form == 3 ? TARN_FAST : TARN_ACCURATE;
        if (form == 0) OK(tarn_sim_grad(ctx, q15, k15, v, ones, &options, &g));
        if (form == 1) OK(tarn_rnn_grad(ctx, q15, k15, v, ones, &options, &g));
        if (form >= 2) OK(tarn_prefix_grad(ctx, q15, k15, v, ones, &options, &g));
        expect_values(g.dq, dq, 1e-8);
        expect_values(g.dk, dk, 1e-8);
        expect_values(g.dv, dv, 1e-8);
        cr_assert_null(g.dS0);
        tarn_grads_free(&g);
    }
    options.causal = false;
    const double full_dk[] = {-.00812566, -.11854747, -.38032345,
                              -.16512237, .22082090,  .21175419};
    tarn_grads g = {0};
    OK(tarn_assoc_grad(ctx, q15, k15, v, ones, &options, &g));
    expect_values(g.dk, full_dk, 1e-8);
    tarn_grads_free(&g);
    OK(tarn_sim_grad(ctx, q15, k15, v, ones, &options, &g));
    expect_values(g.dk, full_dk, 1e-8);
    tarn_grads_free(&g);
    tarn_tensor_free(q15);
    tarn_tensor_free(k15);
    tarn_tensor_free(ones);
}

/* ---- What is refused, in words --------------------------------------------------------------- */

static void expect_refusal(tarn_status got, tarn_status status, const char *message)
{
    cr_assert_eq(got, status, "status %d: %s", got, tarn_error(ctx));
    cr_assert_str_eq(tarn_error(ctx), message);
}

Test(forms, messages_name_the_argument_the_pattern_and_both_shapes)
{
    tarn_tensor *out = NULL, *wide = NULL, *deep = NULL, *flat_q = NULL;
    OK(tarn_tensor_new(ctx, TARN_FLOAT64, 2, (size_t[]){3, 5}, &wide));
    OK(tarn_tensor_new(ctx, TARN_FLOAT64, 3, (size_t[]){4, 3, 2}, &deep));
    OK(tarn_tensor_new(ctx, TARN_FLOAT64, 1, (size_t[]){8}, &flat_q));

    expect_refusal(tarn_prefix(ctx, q, wide, v, &options, &out, NULL), TARN_ESHAPE,
                   "prefix: k is [3, 5], expected [N, D] = [3, 2] to match q");
    expect_refusal(tarn_assoc(ctx, q, wide, v, &options, &out), TARN_ESHAPE,
                   "assoc: k is [3, 5], expected [N, D] = [any, 2] to match q");
    expect_refusal(tarn_sim(ctx, q, k, deep, &options, &out, NULL), TARN_ESHAPE,
                   "sim: v is [4, 3, 2], expected [N, M] = [3, any] to match k");
    expect_refusal(tarn_sim(ctx, flat_q, k, v, &options, &out, NULL), TARN_ESHAPE,
                   "sim: q is [8], expected [N, D], [H, N, D] or [B, H, N, D]");
    options.eps = -1;
    expect_refusal(tarn_assoc(ctx, q, k, v, &options, &out), TARN_EINVAL,
                   "assoc: eps is -1, expected 0 or more");
    options.eps = 0;
    options.lengths = (int64_t[]){4};
    options.lengths_count = 1;
    expect_refusal(tarn_assoc(ctx, q, k, v, &options, &out), TARN_EINVAL,
                   "assoc: lengths[1] is 4, expected 0 to N = 3");
    options.lengths_count = 0;
    options.impl = "quick";
    expect_refusal(tarn_assoc(ctx, q, k, v, &options, &out), TARN_EDEVICE,
                   "assoc: impl is \"quick\", expected \"fast\" or \"plain\"");
    cr_assert_null(out);
    tarn_tensor_free(wide);
    tarn_tensor_free(deep);
    tarn_tensor_free(flat_q);
}

/* An interrupt that stands stops every form and leaves nothing behind (checked by close). */
Test(forms, a_standing_interrupt_stops_every_form)
{
    tarn_tensor *out = NULL;
    tarn_grads g = {0};
    tarn_interrupt(ctx);
    cr_assert_eq(tarn_sim(ctx, q, k, v, &options, &out, NULL), TARN_EINTR);
    cr_assert_eq(tarn_assoc(ctx, q, k, v, &options, &out), TARN_EINTR);
    cr_assert_eq(tarn_prefix(ctx, q, k, v, &options, &out, NULL), TARN_EINTR);
    cr_assert_eq(tarn_prefix_grad(ctx, q, k, v, v, &options, &g), TARN_EINTR);
    cr_assert_eq(tarn_rnn_grad(ctx, q, k, v, v, &options, &g), TARN_EINTR);
    cr_assert_null(out);
    tarn_clear_interrupt(ctx);
    OK(tarn_assoc(ctx, q, k, v, &options, &out));
    tarn_tensor_free(out);
}
