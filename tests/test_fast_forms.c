/* test_fast_forms.c: the tuned sim, its gradient, and assoc against the plain ones in
 * float64. Chapter 10.
 *
 * The instruction set is chosen at the first call, and each test is a process of its own. */
#include "attention.h"
#include "fast/dispatch.h"
#include "stages/attn.h"
#include <string.h>

static tarn_context *ctx;
static tarn_options options;

static void open(void)
{
    cr_assert_eq(tarn_context_new(&ctx), TARN_OK);
    options = tarn_defaults();
}
static void close_all(void)
{
    cr_assert_eq(tarn_bytes(ctx), 0, "%zu bytes of tensors are left", tarn_bytes(ctx));
    tarn_context_free(ctx);
}
TestSuite(fast_forms, .init = open, .fini = close_all);

/* ---- Inputs ---------------------------------------------------------------------------- */

struct sizes {
    size_t H, N_q, N, D, M;
};

/* Around tiles of 4 and 8 rows, vectors, blocks of 32 and 64; the smallest; many vectors. */
static const struct sizes all_sizes[] = {
    {2, 1, 1, 1, 1},     {1, 200, 200, 1, 1},  {2, 65, 65, 3, 5},   {1, 32, 32, 16, 16},
    {1, 33, 33, 17, 15}, {2, 64, 64, 64, 64},  {1, 3, 0, 4, 4},     {1, 0, 3, 4, 4},
    {1, 5, 130, 7, 40},  {1, 300, 63, 40, 7},  {1, 1, 97, 128, 33}, {1, 5, 5, 200, 1},
    {1, 9, 1000, 8, 8},  {3, 40, 129, 31, 65}, {1, 2, 70, 33, 300}, {2, 1, 600, 17, 70},
    {1, 1, 129, 32, 47}};
enum { SIZES = sizeof all_sizes / sizeof *all_sizes };

struct inputs {
    tarn_tensor *q, *k, *v;
};

/* The same values in either type: those of float32. */
static tarn_tensor *values(tarn_dtype dtype, uint64_t seed, const size_t *shape)
{
    tarn_tensor *single = normal(ctx, TARN_FLOAT32, seed, 3, shape, 1), *t = NULL;
    OK(tarn_clone(ctx, single, dtype, &t));
    tarn_tensor_free(single);
    return t;
}

static struct inputs inputs_of(tarn_dtype dtype, struct sizes s)
{
    return (struct inputs){values(dtype, 1, (size_t[]){s.H, s.N_q, s.D}),
                           values(dtype, 2, (size_t[]){s.H, s.N, s.D}),
                           values(dtype, 3, (size_t[]){s.H, s.N, s.M})};
}

static void free_inputs(struct inputs *in)
{
    tarn_tensor_free(in->q);
    tarn_tensor_free(in->k);
    tarn_tensor_free(in->v);
}

enum form { SIM, ASSOC };

static tarn_tensor *output_of(const struct inputs *in, enum form form, const char *impl)
{
    tarn_tensor *out = NULL;
    options.impl = impl;
    if (form == SIM)
        OK(tarn_sim(ctx, in->q, in->k, in->v, &options, &out, NULL));
    else
        OK(tarn_assoc(ctx, in->q, in->k, in->v, &options, &out));
    return out;
}

/* ---- Agreement ------------------------------------------------------------------------- */

static void expect_near(const tarn_tensor *got, const tarn_tensor *expected,
                        double bound, struct sizes s, const char *what)
{
    for (size_t i = 0; i < tarn_tensor_numel(expected); i++) {
        const double error = fabs(flat(got, i) - flat(expected, i));
        cr_assert(error <= bound * fmax(1, fabs(flat(expected, i))),
                  "%s [%zu, %zu, %zu, %zu, %zu]: element %zu is %.9g, expected %.9g",
                  what, s.H, s.N_q, s.N, s.D, s.M, i, flat(got, i), flat(expected, i));
    }
}

/* One setting of `options` in both types and precisions. */
static void compare(struct sizes s, enum form form, const char *what)
{
    struct inputs exact = inputs_of(TARN_FLOAT64, s);
    struct inputs single = inputs_of(TARN_FLOAT32, s);
    tarn_tensor *expected = output_of(&exact, form, "plain");
    for (int precision = TARN_ACCURATE; precision <= TARN_FAST; precision++) {
        options.precision = (tarn_precision)precision;
        tarn_tensor *f64 = output_of(&exact, form, "fast");
        tarn_tensor *f32 = output_of(&single, form, "fast");
        expect_near(f64, expected, 1e-12, s, what);
        expect_near(f32, expected, 2e-5, s, what);
        tarn_tensor_free(f64);
        tarn_tensor_free(f32);
    }
    options.precision = TARN_ACCURATE;
    tarn_tensor_free(expected);
    free_inputs(&exact);
    free_inputs(&single);
}

static void compare_sim(struct sizes s)
{
    const tarn_similarity by[] = {TARN_SOFTMAX, TARN_RBF, TARN_PHI};
    const double scales[] = {NAN, 0.3, -0.2, 0};
    for (int b = 0; b < 3; b++)
        for (int scale = 0; scale < (by[b] == TARN_PHI ? 1 : 4); scale++) {
            options.by = by[b];
            options.scale = scales[scale];
            options.causal = false;
            compare(s, SIM, "full");
            options.causal = true;
            if (s.N_q == s.N) compare(s, SIM, "causal");
        }
    options = tarn_defaults();
}

/* ---- Gradients of sim -------------------------------------------------------------------- */

static tarn_grads sim_grads_of(const struct inputs *in, const char *impl)
{
    tarn_grads g = {0};
    const size_t *q = tarn_tensor_shape(in->q), *v = tarn_tensor_shape(in->v);
    tarn_tensor *dout =
        values(tarn_tensor_dtype(in->q), 4, (size_t[]){q[0], q[1], v[2]});
    options.impl = impl;
    OK(tarn_sim_grad(ctx, in->q, in->k, in->v, dout, &options, &g));
    tarn_tensor_free(dout);
    return g;
}

static void expect_near_grads(const tarn_grads *got, const tarn_grads *expected,
                              double bound, struct sizes s)
{
    expect_near(got->dq, expected->dq, bound, s, "dq");
    expect_near(got->dk, expected->dk, bound, s, "dk");
    expect_near(got->dv, expected->dv, bound, s, "dv");
}

static void compare_grads(struct sizes s)
{
    struct inputs exact = inputs_of(TARN_FLOAT64, s);
    struct inputs single = inputs_of(TARN_FLOAT32, s);
    tarn_grads expected = sim_grads_of(&exact, "plain");
    tarn_grads f64 = sim_grads_of(&exact, "fast"), f32 = sim_grads_of(&single, "fast");
    expect_near_grads(&f64, &expected, 1e-11, s);
    expect_near_grads(&f32, &expected, 1e-4, s);
    tarn_grads_free(&expected);
    tarn_grads_free(&f64);
    tarn_grads_free(&f32);
    free_inputs(&exact);
    free_inputs(&single);
}

static void compare_sim_grad(struct sizes s)
{
    const tarn_similarity by[] = {TARN_SOFTMAX, TARN_RBF, TARN_PHI};
    for (int b = 0; b < 3; b++) {
        options.by = by[b];
        options.scale = by[b] == TARN_PHI ? (double)NAN : 0.3;
        options.causal = false;
        compare_grads(s);
        options.causal = true;
        if (s.N_q == s.N) compare_grads(s);
    }
    options = tarn_defaults();
}

static void compare_everything(const char *isa)
{
    use_isa(isa);
    const tarn_phi *phi;
    for (size_t n = 0; n < SIZES; n++) {
        compare_sim(all_sizes[n]);
        compare_sim_grad(all_sizes[n]);
        for (size_t p = 0; (phi = tarn_phi_at(p)); p++) {
            if (strcmp(phi->name, "identity") == 0) continue; /* den may be near 0 */
            if (strcmp(phi->name, "poly2") == 0 && all_sizes[n].D > 40) continue;
            options.phi = phi;
            compare(all_sizes[n], ASSOC, phi->name);
        }
        options = tarn_defaults();
    }
}

Test(fast_forms, agree_with_the_plain_ones_on_the_baseline)
{
    compare_everything("baseline");
}
Test(fast_forms, agree_with_the_plain_ones_on_v3)
{
    compare_everything("x86-64-v3");
}
Test(fast_forms, agree_with_the_plain_ones_on_v4)
{
    compare_everything("x86-64-v4");
}

/* The first call says what is wrong with TARN_ISA, and which words there are. */
Test(fast_forms, are_refused_on_an_instruction_set_that_is_not_known)
{
    tarn_backend_info info;
    tarn_tensor *x = normal(ctx, TARN_FLOAT32, 1, 2, (size_t[]){2, 2}, 1), *out = NULL;
    const char *const message =
        "assoc: impl \"fast\" can't be used: TARN_ISA in the environment is 'avx9', "
        "expected ";
    setenv("TARN_ISA", "avx9", 1);
    cr_assert_eq(tarn_assoc(ctx, x, x, x, &options, &out), TARN_EDEVICE);
    cr_assert_eq(strncmp(tarn_error(ctx), message, strlen(message)), 0, "%s",
                 tarn_error(ctx));
    cr_assert(strstr(tarn_error(ctx), "baseline; this processor can run "));
    cr_assert(tarn_backend_at(0, &info) && !info.usable &&
              strstr(info.why_not, "avx9"));
    options.impl = "plain";
    OK(tarn_assoc(ctx, x, x, x, &options, &out));
    options = tarn_defaults();
    tarn_tensor_free(x);
    tarn_tensor_free(out);
}

/* One query goes another way than several, to the same end: of any size. */
Test(fast_forms, a_single_query_gets_what_it_gets_among_others)
{
    const double factors[] = {0, 1, 1e5, 1e20, 1e37};
    tarn_tensor *k = normal(ctx, TARN_FLOAT32, 2, 2, (size_t[]){70, 20}, 1);
    tarn_tensor *v = normal(ctx, TARN_FLOAT32, 3, 2, (size_t[]){70, 24}, 1);
    for (int f = 0; f < 5; f++) {
        tarn_tensor *q = normal(ctx, TARN_FLOAT32, 1, 2, (size_t[]){3, 20}, factors[f]);
        tarn_tensor *all = NULL, *q_1 = NULL, *one = NULL, *row = NULL;
        OK(tarn_narrow(ctx, q, 0, 1, 1, 1, &q_1));
        OK(tarn_sim(ctx, q, k, v, NULL, &all, NULL));
        OK(tarn_sim(ctx, q_1, k, v, NULL, &one, NULL));
        OK(tarn_narrow(ctx, all, 0, 1, 1, 1, &row));
        cr_assert_leq(largest_difference(ctx, one, row), 2e-6, "%g", factors[f]);
        tarn_tensor *done[] = {q, all, q_1, one, row};
        for (int i = 0; i < 5; i++) tarn_tensor_free(done[i]);
    }
    tarn_tensor_free(k);
    tarn_tensor_free(v);
}

/* A cache has keys before the first query: runs of several lengths against one sim. */
Test(fast_forms, a_cache_gives_what_causal_sim_gives)
{
    const size_t N = 150, cuts[] = {0, 1, 2, 40, 41, 73, 150};
    const tarn_cell cell = {.D = 20, .M = 10, .scale = NAN, .dtype = TARN_FLOAT64};
    tarn_tensor *all[3], *expected = NULL;
    tarn_kv *kv = NULL;
    for (size_t i = 0; i < 3; i++)
        all[i] = normal(ctx, TARN_FLOAT64, i, 2, (size_t[]){N, i < 2 ? 20 : 10}, 1);
    options.causal = true;
    OK(tarn_sim(ctx, all[0], all[1], all[2], &options, &expected, NULL));
    OK(tarn_kv_new(ctx, &cell, &kv));
    for (size_t c = 0; c < 6; c++) {
        tarn_tensor *part[3], *out = NULL, *row = NULL;
        const size_t n = cuts[c + 1] - cuts[c];
        for (size_t i = 0; i < 3; i++)
            OK(tarn_narrow(ctx, all[i], 0, cuts[c], n, 1, &part[i]));
        OK(tarn_kv_run(ctx, kv, part[0], part[1], part[2], &out));
        OK(tarn_narrow(ctx, expected, 0, cuts[c], n, 1, &row));
        cr_assert_leq(largest_difference(ctx, out, row), 1e-13);
        for (size_t i = 0; i < 3; i++) tarn_tensor_free(part[i]);
        tarn_tensor_free(out);
        tarn_tensor_free(row);
    }
    tarn_kv_free(kv);
    for (size_t i = 0; i < 3; i++) tarn_tensor_free(all[i]);
    tarn_tensor_free(expected);
}

/* ---- Numbers --------------------------------------------------------------------------- */

/* q.k is 4e60 and less: the nearest key has all the weight, whatever float32 holds. */
Test(fast_forms, softmax_holds_for_scores_beyond_float32)
{
    const double e = 1e30, sizes[] = {2 * e, 2 * e}, keys[] = {e, 0, e, e, -e, e};
    tarn_tensor *q = matrix(ctx, TARN_FLOAT32, 1, 2, sizes), *out = NULL;
    tarn_tensor *k = matrix(ctx, TARN_FLOAT32, 3, 2, keys);
    tarn_tensor *v = matrix(ctx, TARN_FLOAT32, 3, 1, (double[]){5, 7, 9});
    options.impl = "fast";
    OK(tarn_sim(ctx, q, k, v, &options, &out, NULL));
    cr_assert_eq(flat(out, 0), 7);
    tarn_tensor *all[] = {q, k, v, out};
    for (int i = 0; i < 4; i++) tarn_tensor_free(all[i]);
}

/* What a query does not see is not multiplied by 0, and what it sees is not lost. */
Test(fast_forms, NaN_and_infinity_reach_the_rows_that_see_them)
{
    const struct sizes s = {1, 100, 100, 8, 40};
    struct inputs in = inputs_of(TARN_FLOAT32, s);
    ((float *)tarn_tensor_data(in.v))[70 * 40 + 3] = NAN;
    ((float *)tarn_tensor_data(in.k))[80 * 8] = NAN;
    options.causal = true;
    tarn_tensor *out = output_of(&in, SIM, "fast");
    tarn_grads g = sim_grads_of(&in, "fast");
    for (size_t i = 0; i < 100; i++)
        for (size_t m = 0; m < 40; m++)
            cr_assert_eq(isnan(flat(out, i * 40 + m)), i >= 80 || (i >= 70 && m == 3));
    for (size_t i = 0; i < 70 * 8; i++) cr_assert(isfinite(flat(g.dq, i)));
    cr_assert(isnan(flat(g.dq, 70 * 8)));
    tarn_grads_free(&g);
    tarn_tensor_free(out);
    free_inputs(&in);
}

static double rms_error(const tarn_tensor *got, const tarn_tensor *expected)
{
    double errors = 0, sizes = 0;
    for (size_t i = 0; i < tarn_tensor_numel(expected); i++) {
        errors += pow(flat(got, i) - flat(expected, i), 2);
        sizes += pow(flat(expected, i), 2);
    }
    return sqrt(errors / sizes);
}

/* The bound is the same for 2^8 keys and for 2^16. */
Test(fast_forms, float32_errs_by_less_than_5e_7_however_many_keys)
{
    for (size_t N = 1 << 8; N <= 1 << 16; N <<= 4) {
        struct inputs exact = inputs_of(TARN_FLOAT64, (struct sizes){1, 9, N, 64, 64});
        struct inputs single = inputs_of(TARN_FLOAT32, (struct sizes){1, 9, N, 64, 64});
        for (int form = SIM; form <= ASSOC; form++) {
            tarn_tensor *expected = output_of(&exact, (enum form)form, "plain");
            tarn_tensor *got = output_of(&single, (enum form)form, "fast");
            const double error = rms_error(got, expected);
            cr_assert_leq(error, 5e-7, "form %d, N = %zu: %g", form, N, error);
            tarn_tensor_free(expected);
            tarn_tensor_free(got);
        }
        free_inputs(&exact);
        free_inputs(&single);
    }
}

/* ---- Threads and memory ------------------------------------------------------------------ */

static void expect_same_on_threads(const struct inputs *in, enum form form)
{
    OK(tarn_set_threads(ctx, 1));
    tarn_tensor *one = output_of(in, form, "fast");
    const size_t bytes = tarn_tensor_numel(one) * sizeof(float);
    for (int threads = 2; threads <= 4; threads++) {
        OK(tarn_set_threads(ctx, threads));
        tarn_tensor *many = output_of(in, form, "fast");
        cr_assert(memcmp(tarn_tensor_data(one), tarn_tensor_data(many), bytes) == 0,
                  "form %d on %d threads", form, threads);
        tarn_tensor_free(many);
    }
    tarn_tensor_free(one);
}

Test(fast_forms, are_the_same_bits_on_any_number_of_threads)
{
    for (size_t H = 1; H <= 3; H += 2) {
        struct inputs in =
            inputs_of(TARN_FLOAT32, (struct sizes){H, 500, 500, 40, 130});
        expect_same_on_threads(&in, ASSOC);
        expect_same_on_threads(&in, SIM);
        options.causal = true;
        expect_same_on_threads(&in, SIM);
        options.causal = false;
        free_inputs(&in);
    }
}

Test(fast_forms, work_in_memory_that_does_not_grow_with_N)
{
    const struct tarn_operations *ops = tarn_fast_operations(TARN_FLOAT32);
    const struct tarn_form *forms[] = {ops->sim, ops->assoc, ops->sim_grad};
    for (int i = 0; i < 3; i++) {
        const struct tarn_attn few = {
            .N = 100, .N_q = 100, .C = 64, .M = 64, .parts = 1};
        struct tarn_attn many = few;
        many.N = many.N_q = 1 << 20;
        cr_assert_eq(forms[i]->work(&few), forms[i]->work(&many));
    }
}
