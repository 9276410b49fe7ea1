/* test_cases_numbers.c: field cases about numbers, for every form that they concern. */
#include "check/oracle.h"
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
TestSuite(cases_numbers, .init = open, .fini = close);

static void free_three(tarn_tensor *q, tarn_tensor *k, tarn_tensor *v)
{
    tarn_tensor_free(q);
    tarn_tensor_free(k);
    tarn_tensor_free(v);
}

/* ---- NUM-07: error that grows with N --------------------------------------------------- */

static double num_07_value(uint32_t j)
{
    return (j * 2654435761u >> 8 & 65535) / 65536.;
}

/* Features are constant, so the exact last output is the mean of v: multiples of 2^-16
 * whose sum is exact in a double. */
static double num_07_mean(size_t N)
{
    double sum = 0;
    for (size_t j = 0; j < N; j++) sum += num_07_value((uint32_t)j);
    return sum / (double)N;
}

static void num_07_inputs(size_t N, tarn_tensor **q, tarn_tensor **k, tarn_tensor **v)
{
    const size_t shape[2] = {N, 1};
    *q = filled(ctx, TARN_FLOAT32, 2, shape, 0);
    *k = filled(ctx, TARN_FLOAT32, 2, shape, 0.1);
    *v = filled(ctx, TARN_FLOAT32, 2, shape, 0);
    float *values = tarn_tensor_data(*v);
    for (size_t j = 0; j < N; j++) values[j] = (float)num_07_value((uint32_t)j);
}

static void expect_mean(const char *form, size_t N, double got, double bound)
{
    const double mean = num_07_mean(N);
    cr_assert_leq(fabs(got - mean), bound * mean, "%s, N = %zu: %.9g, expected %.9g",
                  form, N, got, mean);
}

/* Token by token, through one cell, without views: the loop of someone who generates. */
static double num_07_steps(size_t N)
{
    const tarn_cell cell = {.D = 1, .M = 1, .dtype = TARN_FLOAT32};
    const size_t one[1] = {1};
    tarn_tensor *q = filled(ctx, TARN_FLOAT32, 1, one, 0), *out = NULL;
    tarn_tensor *k = filled(ctx, TARN_FLOAT32, 1, one, 0.1);
    tarn_tensor *v = filled(ctx, TARN_FLOAT32, 1, one, 0);
    tarn_rnn *st;
    OK(tarn_rnn_new(ctx, &cell, &st));
    for (size_t j = 0; j < N; j++) {
        *(float *)tarn_tensor_data(v) = (float)num_07_value((uint32_t)j);
        OK(tarn_rnn_step(ctx, st, q, k, v, &out));
    }
    const double last = flat(out, 0);
    free_three(q, k, v);
    tarn_tensor_free(out);
    tarn_rnn_free(st);
    return last;
}

/* The causal forms that take O(N) time, by their last row, and the full ones by the one
 * query that a last row is. */
static void expect_num_07(size_t N, double bound)
{
    tarn_tensor *q, *k, *v, *last;
    num_07_inputs(N, &q, &k, &v);
    OK(tarn_narrow(ctx, q, 0, N - 1, 1, 1, &last));
    for (int causal = 0; causal < 2; causal++) {
        struct tarn_form_input in = linear(ctx, causal ? q : last, k, v, causal);
        const struct tarn_form_entry *form;
        for (size_t at = 0; (form = next_form(&at, false, &in));) {
            if (causal && strcmp(form->name, "sim") == 0) continue;
            tarn_tensor *out = output_of(form, &in);
            expect_mean(form->name, N, flat(out, causal ? N - 1 : 0), bound);
            tarn_tensor_free(out);
        }
    }
    expect_mean("step", N, num_07_steps(N), bound);
    free_three(q, k, v);
    tarn_tensor_free(last);
}

//> region claim_drift_bounds
Test(cases_numbers, float32_errs_by_2e_5_at_most_at_N_65536_NUM_07)
{
    expect_num_07(65536, 2e-5);
}

Test(cases_numbers, float32_errs_by_3e_4_at_most_at_N_2_to_the_20_NUM_07)
{
    expect_num_07(1048576, 3e-4);
}
//< region claim_drift_bounds

//> region claim_plain_sum_drifts
/* By this one sees what "accurate" is for: the plain loop errs more. */
Test(cases_numbers, the_plain_running_sum_errs_30_times_more_NUM_07)
{
    const size_t N = 65536;
    tarn_tensor *q, *k, *v, *out;
    num_07_inputs(N, &q, &k, &v);
    struct tarn_form_input in = linear(ctx, q, k, v, true);
    in.options.method = TARN_SEQUENTIAL;
    in.options.precision = TARN_FAST;
    in.options.impl = "plain";
    OK(tarn_prefix(ctx, q, k, v, &in.options, &out, NULL));
    const double error = fabs(flat(out, N - 1) / num_07_mean(N) - 1);
    cr_assert(error > 3e-4 && error < 1e-3, "%g", error);
    tarn_tensor_free(out);
    free_three(q, k, v);
}
//< region claim_plain_sum_drifts

/* ---- NUM-02, NUM-05, NUM-08: near the ends of the range -------------------------------- */

/* One key: out = phi(k) v / (phi(k) + eps), d out / dk = phi eps / (phi + eps)^2 <= 1/4. */
Test(cases_numbers, a_small_feature_and_eps_give_the_right_gradient_NUM_02)
{
    const struct {
        double eps, out, dk;
    } table[] = {
        {0, 1, 0}, {1e-10, 0.953728, 0.0441305}, {1e-6, 2.05691e-3, 2.05268e-3}};
    for (int f64 = 0; f64 < 2; f64++) {
        const tarn_dtype dtype = f64 ? TARN_FLOAT64 : TARN_FLOAT32;
        tarn_tensor *q = matrix(ctx, dtype, 1, 1, (double[]){0});
        tarn_tensor *k = matrix(ctx, dtype, 1, 1, (double[]){-20});
        tarn_tensor *v = matrix(ctx, dtype, 1, 1, (double[]){1});
        for (size_t n = 0; n < 3; n++)
            for (int causal = 0; causal < 2; causal++) {
                struct tarn_form_input in = linear(ctx, q, k, v, causal);
                const struct tarn_form_entry *form;
                in.options.eps = table[n].eps;
                for (size_t at = 0; (form = next_form(&at, false, &in));) {
                    tarn_tensor *out = output_of(form, &in);
                    expect_values(out, &table[n].out, 2e-6);
                    tarn_tensor_free(out);
                }
                for (size_t at = 0; (form = next_form(&at, true, &in));) {
                    tarn_grads grads = gradients_of(form, &in, v);
                    expect_values(grads.dk, &table[n].dk, 2e-6);
                    tarn_grads_free(&grads);
                }
            }
        free_three(q, k, v);
    }
}

Test(cases_numbers, z_passes_the_range_of_16_bits_NUM_05)
{
    const size_t N = 70000, shape[2] = {N, 1};
    tarn_tensor *zeros = filled(ctx, TARN_FLOAT32, 2, shape, 0), *out = NULL, *z;
    tarn_tensor *ones = filled(ctx, TARN_FLOAT32, 2, shape, 1);
    const tarn_cell cell = {.D = 1, .M = 1, .dtype = TARN_FLOAT32};
    tarn_rnn *st;
    OK(tarn_rnn_new(ctx, &cell, &st));
    OK(tarn_rnn_run(ctx, st, zeros, zeros, ones, &out));
    OK(tarn_rnn_state(ctx, st, NULL, &z));
    cr_assert_eq(flat(z, 0), 70000);
    cr_assert_float_eq(flat(out, N - 1), 1, 1e-6);
    free_three(zeros, ones, out);
    tarn_tensor_free(z);
    tarn_rnn_free(st);
}

//> region claim_large_inputs
Test(cases_numbers, q_and_k_of_1e19_give_running_means_NUM_08)
{
    const size_t shape[2] = {4, 8};
    tarn_tensor *q = filled(ctx, TARN_FLOAT32, 2, shape, 1e19);
    tarn_tensor *v = matrix(ctx, TARN_FLOAT32, 4, 1, (double[]){1, 2, 3, 4});
    for (int causal = 0; causal < 2; causal++) {
        struct tarn_form_input in = linear(ctx, q, q, v, causal);
        const struct tarn_form_entry *form;
        for (size_t at = 0; (form = next_form(&at, false, &in));) {
            tarn_tensor *out = output_of(form, &in);
            expect_values(out,
                          causal ? (double[]){1, 1.5, 2, 2.5}
                                 : (double[]){2.5, 2.5, 2.5, 2.5},
                          1e-6);
            tarn_tensor_free(out);
        }
        for (size_t at = 0; (form = next_form(&at, true, &in));) {
            tarn_grads grads = gradients_of(form, &in, v);
            tarn_tensor *all[3] = {grads.dq, grads.dk, grads.dv};
            for (size_t n = 0; n < 3; n++)
                for (size_t i = 0; i < tarn_tensor_numel(all[n]); i++) {
                    const double x = flat(all[n], i);
                    cr_assert(isfinite(x), "%s, %zu: %g", form->name, n, x);
                }
            tarn_grads_free(&grads);
        }
    }
    tarn_tensor_free(q);
    tarn_tensor_free(v);
}
//< region claim_large_inputs

/* ---- NUM-13, NUM-14, NUM-18: long inputs, odd lengths, gradients ----------------------- */

Test(cases_numbers, a_long_odd_input_stays_finite_and_matches_the_cell_NUM_13)
{
    const size_t N = 43884, shape[2] = {N, 64}, rows[] = {0, 63, 64, 43882, 43883};
    tarn_tensor *q = normal(ctx, TARN_FLOAT32, 1, 2, shape, 1);
    tarn_tensor *k = normal(ctx, TARN_FLOAT32, 2, 2, shape, 1);
    tarn_tensor *v = normal(ctx, TARN_FLOAT32, 3, 2, shape, 1), *reference = NULL;
    const tarn_cell cell = {.D = 64, .M = 64, .dtype = TARN_FLOAT32};
    struct tarn_form_input in = linear(ctx, q, k, v, true);
    const struct tarn_form_entry *form;
    tarn_rnn *st;
    OK(tarn_rnn_new(ctx, &cell, &st));
    OK(tarn_rnn_run(ctx, st, q, k, v, &reference));
    for (size_t at = 0; (form = next_form(&at, false, &in));) {
        if (strcmp(form->name, "sim") == 0) continue; /* O(N^2) */
        tarn_tensor *out = output_of(form, &in);
        for (size_t i = 0; i < N * 64; i++) cr_assert(isfinite(flat(out, i)));
        for (size_t r = 0; r < 5; r++)
            for (size_t i = rows[r] * 64; i < rows[r] * 64 + 64; i++)
                cr_assert_float_eq(flat(out, i), flat(reference, i), 1e-4);
        tarn_tensor_free(out);
    }
    free_three(q, k, v);
    tarn_tensor_free(reference);
    tarn_rnn_free(st);
}

/* RMS of the error over RMS of the reference. */
static double relative_rms(const tarn_tensor *got, const tarn_tensor *reference)
{
    double error = 0, size = 0;
    for (size_t i = 0; i < tarn_tensor_numel(reference); i++) {
        const double e = flat(got, i) - flat(reference, i);
        error += e * e;
        size += flat(reference, i) * flat(reference, i);
    }
    return size > 0 ? sqrt(error / size) : sqrt(error);
}

struct problem {
    tarn_tensor *q, *k, *v, *dout, *S0, *z0;
    tarn_rnn *state;
};

static struct problem make_problem(size_t N, size_t D, size_t M, bool with_state)
{
    struct problem p = {
        .q = normal(ctx, TARN_FLOAT32, 1, 2, (size_t[]){N, D}, 1),
        .k = normal(ctx, TARN_FLOAT32, 2, 2, (size_t[]){N, D}, 1),
        .v = normal(ctx, TARN_FLOAT32, 3, 2, (size_t[]){N, M}, 1),
        .dout = normal(ctx, TARN_FLOAT32, 4, 2, (size_t[]){N, M}, 1),
    };
    if (!with_state) return p;
    const tarn_cell cell = {.D = D, .M = M, .dtype = TARN_FLOAT32};
    const uint64_t seed = 6;
    p.S0 = normal(ctx, TARN_FLOAT32, 5, 2, (size_t[]){D, M}, 1);
    OK(tarn_random(ctx, TARN_UNIFORM, &seed, TARN_FLOAT32, 1, &D, &p.z0));
    OK(tarn_rnn_new(ctx, &cell, &p.state));
    OK(tarn_rnn_set_state(ctx, p.state, p.S0, p.z0));
    return p;
}

static void free_problem(struct problem *p)
{
    free_three(p->q, p->k, p->v);
    free_three(p->dout, p->S0, p->z0);
    tarn_rnn_free(p->state);
}

static struct tarn_oracle reference_of(const struct problem *p,
                                       const tarn_options *options)
{
    struct tarn_oracle oracle;
    const struct tarn_oracle_problem problem = {.function = "oracle",
                                                .q = p->q,
                                                .k = p->k,
                                                .v = p->v,
                                                .options = options,
                                                .S0 = p->S0,
                                                .z0 = p->z0,
                                                .dout = p->dout};
    OK(tarn_oracle_run(ctx, &problem, &oracle));
    return oracle;
}

static void expect_rms(const char *form, const tarn_grads *g,
                       const struct tarn_oracle *o, double bound)
{
    const double error[] = {relative_rms(g->dq, o->dq.value),
                            relative_rms(g->dk, o->dk.value),
                            relative_rms(g->dv, o->dv.value),
                            o->dS0.value ? relative_rms(g->dS0, o->dS0.value) : 0,
                            o->dz0.value ? relative_rms(g->dz0, o->dz0.value) : 0};
    for (size_t n = 0; n < 5; n++)
        cr_assert_leq(error[n], bound, "%s: dq %g, dk %g, dv %g, dS0 %g, dz0 %g", form,
                      error[0], error[1], error[2], error[3], error[4]);
}

Test(cases_numbers, gradients_of_odd_lengths_are_right_even_among_NaN_NUM_14)
{
    static const size_t lengths[] = {1, 255, 256, 257, 300, 511};
    for (size_t n = 0; n < 6; n++) {
        struct problem p = make_problem(lengths[n], 16, 16, false);
        for (int causal = 0; causal < 2; causal++) {
            struct tarn_form_input in = linear(ctx, p.q, p.k, p.v, causal);
            struct tarn_oracle oracle = reference_of(&p, &in.options);
            tarn_tensor *q = among_nan(ctx, p.q), *k = among_nan(ctx, p.k);
            tarn_tensor *v = among_nan(ctx, p.v), *dout = among_nan(ctx, p.dout);
            struct tarn_form_input guarded = linear(ctx, q, k, v, causal);
            const struct tarn_form_entry *form;
            for (size_t at = 0; (form = next_form(&at, true, &in));) {
                tarn_grads plain = gradients_of(form, &in, p.dout);
                tarn_grads same = gradients_of(form, &guarded, dout);
                if (lengths[n] > 1) expect_rms(form->name, &plain, &oracle, 1e-5);
                cr_assert(same_bits(plain.dq, same.dq) &&
                          same_bits(plain.dk, same.dk) && same_bits(plain.dv, same.dv));
                tarn_grads_free(&plain);
                tarn_grads_free(&same);
            }
            free_three(q, k, v);
            tarn_tensor_free(dout);
            tarn_oracle_free(&oracle);
        }
        free_problem(&p);
    }
}

Test(cases_numbers, gradients_are_as_exact_as_outputs_NUM_18)
{
    struct problem p = make_problem(512, 64, 64, true);
    struct tarn_form_input in = linear(ctx, p.q, p.k, p.v, true);
    struct tarn_oracle oracle = reference_of(&p, &in.options);
    const struct tarn_form_entry *form;
    size_t count = 0;
    in.options.state = p.state;
    for (size_t at = 0; (form = next_form(&at, true, &in)); count++) {
        tarn_grads grads = gradients_of(form, &in, p.dout);
        expect_rms(form->name, &grads, &oracle, 1e-5);
        tarn_grads_free(&grads);
    }
    cr_assert_eq(count, 2, "prefix and rnn have a gradient with a state");
    tarn_oracle_free(&oracle);
    free_problem(&p);
}

/* ---- NUM-20, and threads: the same call gives the same bits ---------------------------- */

/* Outputs and gradients of every form, one after the other. */
struct results {
    tarn_tensor *t[64];
    size_t count;
};

static struct results results_of(struct tarn_form_input in, const tarn_tensor *dout)
{
    struct results r = {.count = 0};
    const struct tarn_form_entry *form;
    for (int causal = 0; causal < 2; causal++) {
        in.options.causal = causal;
        for (size_t at = 0; (form = next_form(&at, false, &in));)
            r.t[r.count++] = output_of(form, &in);
        for (size_t at = 0; (form = next_form(&at, true, &in));) {
            tarn_grads g = gradients_of(form, &in, dout);
            r.t[r.count++] = g.dq;
            r.t[r.count++] = g.dk;
            r.t[r.count++] = g.dv;
        }
    }
    return r;
}

static void expect_same(const struct results *a, const struct results *b)
{
    cr_assert_eq(a->count, b->count);
    cr_assert_gt(a->count, 10);
    for (size_t n = 0; n < a->count; n++)
        cr_assert(same_bits(a->t[n], b->t[n]), "result %zu differs", n);
}

static void free_results(struct results *r)
{
    for (size_t n = 0; n < r->count; n++) tarn_tensor_free(r->t[n]);
}

Test(cases_numbers, fifty_calls_give_the_same_bits_NUM_20)
{
    struct problem p = make_problem(10, 64, 64, false);
    struct tarn_form_input in = linear(ctx, p.q, p.k, p.v, true);
    struct results first = results_of(in, p.dout);
    for (int n = 0; n < 49; n++) {
        struct results again = results_of(in, p.dout);
        expect_same(&first, &again);
        free_results(&again);
    }
    free_results(&first);
    free_problem(&p);
}

Test(cases_numbers, one_thread_and_two_give_the_same_bits)
{
    const size_t shape[4] = {3, 2, 200, 16};
    tarn_tensor *t[4];
    for (size_t n = 0; n < 4; n++) t[n] = normal(ctx, TARN_FLOAT32, n, 4, shape, 1);
    struct tarn_form_input in = linear(ctx, t[0], t[1], t[2], true);
    OK(tarn_set_threads(ctx, 1));
    struct results one = results_of(in, t[3]);
    OK(tarn_set_threads(ctx, 2));
    struct results two = results_of(in, t[3]);
    expect_same(&one, &two);
    free_results(&one);
    free_results(&two);
    for (size_t n = 0; n < 4; n++) tarn_tensor_free(t[n]);
}
