/* test_cases_gradients.c: field cases about gradients and chunks, for every form: the tables,
 * and what causality means. */
#include "every_form.h"

static tarn_context *ctx;
static void open(void)
{
    cr_assert_eq(tarn_context_new(&ctx), TARN_OK);
}
static void close(void)
{
    cr_assert_eq(tarn_bytes(ctx), 0, "%zu bytes of tensors are left", tarn_bytes(ctx));
    tarn_context_free(ctx);
}
TestSuite(cases_gradients, .init = open, .fini = close);

/* ---- Tables ---------------------------------------------------------------------------- */

/* A gradient table; NULL where the case gives none. */
struct gradient_table {
    bool causal;
    double bound;
    const double *dq, *dk, *dv;
};

static void expect_table(const char *form, const tarn_tensor *t, const double *expected,
                         double bound)
{
    for (size_t i = 0; expected && i < tarn_tensor_numel(t); i++)
        cr_assert_float_eq(flat(t, i), expected[i], bound, "%s, element %zu: %.9g",
                           form, i, flat(t, i));
}

/* Every form's gradient of L = sum of out, in both types. */
static void expect_gradients(size_t N, size_t D, size_t M, const double *q,
                             const double *k, const double *v,
                             const struct gradient_table *expected)
{
    for (int f64 = 0; f64 < 2; f64++) {
        const tarn_dtype dtype = f64 ? TARN_FLOAT64 : TARN_FLOAT32;
        const double bound = f64 ? expected->bound : 1e-6;
        struct inputs x = {matrix(ctx, dtype, N, D, q), matrix(ctx, dtype, N, D, k),
                           matrix(ctx, dtype, N, M, v),
                           filled(ctx, dtype, 2, (size_t[]){N, M}, 1)};
        struct tarn_form_input in = linear(ctx, x.q, x.k, x.v, expected->causal);
        const struct tarn_form_entry *form;
        for (size_t at = 0; (form = next_form(&at, true, &in));) {
            tarn_grads g = gradients_of(form, &in, x.dout);
            expect_table(form->name, g.dq, expected->dq, bound);
            expect_table(form->name, g.dk, expected->dk, bound);
            expect_table(form->name, g.dv, expected->dv, bound);
            tarn_grads_free(&g);
        }
        free_inputs(&x);
    }
}

//> region claim_denominator_gradient
Test(cases_gradients, the_denominator_has_a_gradient_too_GST_01)
{
    const struct gradient_table table = {.causal = true,
                                         .bound = 1e-14,
                                         .dq = (double[]){0, 0},
                                         .dk = (double[]){-2. / 9, 1. / 9},
                                         .dv = (double[]){4. / 3, 2. / 3}};
    const double q[] = {0, 0}, k[] = {0, 1}, v[] = {0, 1};
    expect_gradients(2, 1, 1, q, k, v, &table);
}
//< region claim_denominator_gradient

Test(cases_gradients, every_gradient_matches_the_full_table_GST_15)
{
    static const double q[] = {.3, 1, -1, .5, 2, -2}, k[] = {1, .2, .4, -1, -.5, 2},
                        v[] = {1, 2, 3, -1, 0, 4};
    const struct gradient_table causal = {
        .causal = true,
        .bound = 1e-8,
        .dq = (double[]){0, 0, -.04014628, .02676419, -.01200724, .03602172},
        .dk = (double[]){.06826110, .12501448, -.27123695, -.11112137, .16704153,
                         .01242400},
        .dv = (double[]){2.19148450, 2.19148450, .63240889, .63240889, .17610661,
                         .17610661}};
    const struct gradient_table full = {.bound = 1e-8,
                                        .dk = (double[]){-.00812566, -.11854747,
                                                         -.38032345, -.16512237,
                                                         .22082090, .21175419}};
    expect_gradients(3, 2, 2, q, k, v, &causal);
    expect_gradients(3, 2, 2, q, k, v, &full);
}

Test(cases_gradients, zeroed_parameters_have_a_gradient_NUM_10)
{
    const struct gradient_table table = {
        .causal = true, .bound = 1e-14, .dk = (double[]){-1. / 4, 1. / 4}};
    expect_gradients(2, 1, 1, (double[]){0, 0}, (double[]){0, 0}, (double[]){0, 1},
                     &table);
    expect_gradients(2, 1, 1, (double[]){-0., 0}, (double[]){-0., 0}, (double[]){0, 1},
                     &table);
}

/* ---- GST-14: causality ----------------------------------------------------------------- */

static void expect_zero_rows(const char *form, const char *what, const tarn_tensor *t,
                             size_t first, size_t end)
{
    const size_t width = tarn_tensor_shape(t)[1];
    for (size_t i = first * width; i < end * width; i++)
        cr_assert_eq(flat(t, i), 0, "%s: %s of row %zu is %g", form, what,
                     i / width + 1, flat(t, i));
}

static bool is_zero_row(const tarn_tensor *t, size_t row)
{
    const size_t width = tarn_tensor_shape(t)[1];
    for (size_t i = row * width; i < (row + 1) * width; i++)
        if (flat(t, i) != 0) return false;
    return true;
}

//> region claim_gradient_is_causal
Test(cases_gradients, rows_after_the_one_that_is_asked_have_no_gradient_GST_14)
{
    struct inputs x = random_inputs(ctx, TARN_FLOAT32, 8, 4, 3);
    struct tarn_form_input in = linear(ctx, x.q, x.k, x.v, true);
    const struct tarn_form_entry *form;
    for (size_t i = 0; i < 24; i++)
        if (i / 3 != 2) ((float *)tarn_tensor_data(x.dout))[i] = 0;
    for (size_t at = 0; (form = next_form(&at, true, &in));) {
        tarn_grads g = gradients_of(form, &in, x.dout);
        expect_zero_rows(form->name, "dk", g.dk, 3, 8);
        expect_zero_rows(form->name, "dv", g.dv, 3, 8);
        expect_zero_rows(form->name, "dq", g.dq, 0, 2);
        expect_zero_rows(form->name, "dq", g.dq, 3, 8);
        cr_assert(!is_zero_row(g.dq, 2) && !is_zero_row(g.dk, 0) &&
                  !is_zero_row(g.dv, 2));
        tarn_grads_free(&g);
    }
    free_inputs(&x);
}
//< region claim_gradient_is_causal

//> region later_keys
Test(cases_gradients, a_later_key_changes_no_bit_of_an_earlier_output_GST_14)
{
    static const size_t lengths[] = {8, 64, 65, 200};
    for (size_t n = 0; n < 4; n++) {
        const size_t N = lengths[n];
        struct inputs x = random_inputs(ctx, TARN_FLOAT32, N, 4, 3);
        struct tarn_form_input in = linear(ctx, x.q, x.k, x.v, true);
        const struct tarn_form_entry *form;
        for (size_t at = 0; (form = next_form(&at, false, &in));) {
            tarn_tensor *before = output_of(form, &in), *after, *k, *v, *a, *b;
            OK(tarn_clone(ctx, x.k, TARN_FLOAT32, &k));
            OK(tarn_clone(ctx, x.v, TARN_FLOAT32, &v));
            OK(tarn_tensor_set(ctx, k, (size_t[]){N - 1, 0}, 50));
            OK(tarn_tensor_set(ctx, v, (size_t[]){N - 1, 0}, (double)NAN));
            struct tarn_form_input changed = linear(ctx, x.q, k, v, true);
            after = output_of(form, &changed);
            a = rows(ctx, before, 0, N - 1);
            b = rows(ctx, after, 0, N - 1);
            cr_assert(same_bits(a, b), "%s, N = %zu", form->name, N);
            cr_assert(isnan(flat(after, (N - 1) * 3)));
            tarn_tensor *all[] = {before, after, k, v, a, b};
            for (size_t i = 0; i < 6; i++) tarn_tensor_free(all[i]);
        }
        free_inputs(&x);
    }
}
//< region later_keys

/* ---- GST-02, GST-12: chunks ------------------------------------------------------------ */

static void expect_grads(const tarn_grads *got, const tarn_grads *expected,
                         double bound)
{
    cr_assert_leq(largest_difference(ctx, got->dq, expected->dq), bound);
    cr_assert_leq(largest_difference(ctx, got->dk, expected->dk), bound);
    cr_assert_leq(largest_difference(ctx, got->dv, expected->dv), bound);
}

static const size_t chunks[] = {1, 2, 3, 5, 12, 64};
static const tarn_method methods[] = {TARN_SEQUENTIAL, TARN_CHUNKED, TARN_SCAN};

//> region expect_all_chunks
static void expect_all_chunks(const struct inputs *x, double bound)
{
    struct tarn_form_input in = linear(ctx, x->q, x->k, x->v, true);
    tarn_options *o = &in.options;
    tarn_tensor *reference, *out;
    OK(tarn_sim(ctx, x->q, x->k, x->v, o, &reference, NULL));
    tarn_grads expected = {0}, got = {0};
    OK(tarn_sim_grad(ctx, x->q, x->k, x->v, x->dout, o, &expected));
    for (size_t c = 0; c < 6; c++)
        for (size_t m = 0; m < 3; m++) {
            o->chunk = chunks[c];
            o->method = methods[m];
            OK(tarn_prefix(ctx, x->q, x->k, x->v, o, &out, NULL));
            cr_assert_leq(largest_difference(ctx, out, reference), bound,
                          "chunk %zu, method %zu", chunks[c], m);
            tarn_tensor_free(out);
            OK(tarn_prefix_grad(ctx, x->q, x->k, x->v, x->dout, o, &got));
            expect_grads(&got, &expected, 2 * bound);
            tarn_grads_free(&got);
        }
    tarn_tensor_free(reference);
    tarn_grads_free(&expected);
}
//< region expect_all_chunks

Test(cases_gradients, chunks_of_any_size_give_the_same_answer_GST_12)
{
    struct inputs ref_a = {
        matrix(ctx, TARN_FLOAT64, 3, 2, (double[]){0, 1, -1, .5, 2, -2}),
        matrix(ctx, TARN_FLOAT64, 3, 2, (double[]){1, 0, 0, -1, -.5, 2}),
        matrix(ctx, TARN_FLOAT64, 3, 2, (double[]){1, 2, 3, -1, 0, 4}),
        matrix(ctx, TARN_FLOAT64, 3, 2, (double[]){1, 2, 3, 4, 5, 6})};
    expect_all_chunks(&ref_a, 1e-14);
    free_inputs(&ref_a);
    struct inputs x = random_inputs(ctx, TARN_FLOAT64, 12, 5, 4);
    expect_all_chunks(&x, 1e-14);
    free_inputs(&x);
    x = random_inputs(ctx, TARN_FLOAT32, 12, 5, 4);
    expect_all_chunks(&x, 2e-6);
    free_inputs(&x);
    x = random_inputs(ctx, TARN_FLOAT64, 150, 3, 2);
    expect_all_chunks(&x, 1e-13);
    free_inputs(&x);
}

//> region sums_go_on
Test(cases_gradients, the_sum_goes_on_from_chunk_to_chunk_GST_02)
{
    const size_t shape[2] = {4, 1};
    tarn_tensor *zeros = filled(ctx, TARN_FLOAT32, 2, shape, 0), *out;
    tarn_tensor *v = matrix(ctx, TARN_FLOAT32, 4, 1, (double[]){1, 2, 3, 4});
    struct tarn_form_input in = linear(ctx, zeros, zeros, v, true);
    in.options.chunk = 2;
    OK(tarn_prefix(ctx, zeros, zeros, v, &in.options, &out, NULL));
    expect_values(out, (double[]){1, 1.5, 2, 2.5}, 0);
    tarn_tensor *all[] = {zeros, v, out};
    for (size_t n = 0; n < 3; n++) tarn_tensor_free(all[n]);
}
//< region sums_go_on
