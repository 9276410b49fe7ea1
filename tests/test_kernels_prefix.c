/* test_kernels_prefix.c: every rung of prefix on the emulated device against the oracle. */
#include "kernels.h"

TestSuite(kernels_prefix, .init = open, .fini = close);

Test(kernels_prefix, each_rung_gives_the_oracles_output_in_any_order_of_threads)
{
    for (int i = 0; i < AWKWARD; i++) {
        struct problem p = problem_of(awkward[i]);
        p.n.N_q = p.n.N, p.options.causal = true;
        p.state = p.scaled_rows = i % 2;
        check_outputs(&p, LADDERS(prefix), "prefix");
    }
}

Test(kernels_prefix, a_fused_rung_makes_the_features_of_any_rows_itself)
{
    for (int i = 0; i < AWKWARD; i++) {
        struct problem p = fused_problem_of(awkward[i]);
        p.n.N_q = p.n.N, p.state = i % 2;
        p.factor = i % 3 ? 3 : 1;
        check_outputs(&p, LADDERS(prefix), "prefix fused");
    }
}

Test(kernels_prefix, each_rung_gives_the_oracles_gradients_and_those_of_the_state)
{
    for (int i = 0; i < AWKWARD; i++) {
        struct problem p = problem_of(awkward[i]);
        p.n.N_q = p.n.N, p.options.causal = true;
        p.state = p.scaled_rows = i % 2 == 0;
        check_gradients(&p, LADDERS(prefix_grad), "prefix_grad");
    }
}

/* ---- A mask hides -------------------------------------------------------------------------- */

/* Sets a row of head 0 to NaN. */
static void spoil_row(tarn_tensor *t, size_t row)
{
    const size_t width = tarn_tensor_shape(t)[3];
    for (size_t c = 0; c < width; c++)
        OK(tarn_tensor_set(ctx, t, (size_t[]){0, 0, row, c}, NAN));
}

/* Rows first .. last - 1 of head 0 have the same bits in both. */
static void expect_rows(const tarn_tensor *a, const tarn_tensor *b, size_t first,
                        size_t last, const char *what)
{
    const size_t width = tarn_tensor_shape(a)[3];
    for (size_t e = first * width; e < last * width; e++)
        cr_assert_eq(flat(a, e), flat(b, e), "%s, row %zu: %.9g, expected %.9g", what,
                     e / width, flat(a, e), flat(b, e));
}

/* Each rung with and without NaN in one token: in its key and value, or in its query and in
 * what arrives at its output. */
typedef void compare_fn(const struct results *sound, const struct results *spoilt,
                        size_t row, const char *rung);

static void spoil_token(struct ladders ladders, bool grad, bool query, size_t row,
                        compare_fn *compare)
{
    const struct problem p = problem_of((struct sizes){2, 150, 150, 9, 7});
    for (int type = 0; type < 2; type++) {
        const tarn_dtype dtype = type ? TARN_FLOAT64 : TARN_FLOAT32;
        struct inputs in = inputs_of(&p, dtype, grad), nan = inputs_of(&p, dtype, grad);
        spoil_row(query ? nan.q : nan.k, row);
        spoil_row(query ? nan.dout : nan.v, row);
        for (int r = 0; r < ladders.of[type]->count; r++) {
            const struct tarn_rung *rung = &ladders.of[type]->rungs[r];
            struct results sound = run_rung(&p, &in, rung);
            struct results spoilt = run_rung(&p, &nan, rung);
            compare(&sound, &spoilt, row, rung->name);
            free_results(&sound);
            free_results(&spoilt);
        }
        free_inputs(&in);
        free_inputs(&nan);
    }
}

static const size_t spoilt_rows[] = {1, 30, 63, 64, 100, 149};
enum { SPOILT_ROWS = 6 };

static void outputs_before_are_sound(const struct results *sound,
                                     const struct results *spoilt, size_t row,
                                     const char *rung)
{
    expect_rows(spoilt->out, sound->out, 0, row, rung);
    cr_assert(isnan(flat(spoilt->out, row * 7)));
}

Test(kernels_prefix, nan_in_a_token_does_not_reach_the_outputs_before_it)
{
    for (int i = 0; i < SPOILT_ROWS; i++)
        spoil_token(LADDERS(prefix), false, false, spoilt_rows[i],
                    outputs_before_are_sound);
}

static void gradients_before_are_sound(const struct results *sound,
                                       const struct results *spoilt, size_t row,
                                       const char *rung)
{
    expect_rows(spoilt->dq, sound->dq, 0, row, rung);
    cr_assert(isnan(flat(spoilt->dq, row * 9)) && isnan(flat(spoilt->dk, row * 9)));
}

static void gradients_behind_are_sound(const struct results *sound,
                                       const struct results *spoilt, size_t row,
                                       const char *rung)
{
    expect_rows(spoilt->dq, sound->dq, 0, row, rung);
    expect_rows(spoilt->dq, sound->dq, row + 1, 150, rung);
    expect_rows(spoilt->dk, sound->dk, row + 1, 150, rung);
    expect_rows(spoilt->dv, sound->dv, row + 1, 150, rung);
    cr_assert(isnan(flat(spoilt->dk, row * 9)) && isnan(flat(spoilt->dv, row * 7)));
}

Test(kernels_prefix, nan_in_a_token_reaches_only_the_gradients_that_it_should)
{
    for (int i = 0; i < SPOILT_ROWS; i++) {
        spoil_token(LADDERS(prefix_grad), true, false, spoilt_rows[i],
                    gradients_before_are_sound);
        spoil_token(LADDERS(prefix_grad), true, true, spoilt_rows[i],
                    gradients_behind_are_sound);
    }
}

/* ---- The state ----------------------------------------------------------------------------- */

/* S afterwards: the initial one and k_i v_i^T of all tokens. */
static void state_is_the_sum(const struct problem *p, const struct inputs *in,
                             const struct results *r, const char *rung)
{
    const struct sizes n = p->n;
    for (size_t e = 0; e < tarn_tensor_numel(r->S); e++) {
        const size_t h = e / (n.C * n.M), c = e / n.M % n.C, m = e % n.M;
        double sum = p->state ? flat(in->S0, e) : 0, size = fabs(sum);
        for (size_t i = h * n.N; i < (h + 1) * n.N; i++) {
            const double kv = flat(in->k, i * n.C + c) * flat(in->v, i * n.M + m);
            sum += kv, size += fabs(kv);
        }
        cr_assert(fabs(flat(r->S, e) - sum) <= tolerance(p, in, rung) * size,
                  "%s: entry %zu of S is %.9g, expected %.9g", rung, e, flat(r->S, e),
                  sum);
    }
}

Test(kernels_prefix, the_state_afterwards_is_the_sum_of_all_tokens)
{
    struct problem p = problem_of((struct sizes){2, 300, 300, 9, 7});
    p.options.causal = true;
    check_ladders(&p, LADDERS(prefix), "prefix", false, state_is_the_sum);
    p.state = true;
    check_ladders(&p, LADDERS(prefix), "prefix", false, state_is_the_sum);
}

/* ---- Large ---------------------------------------------------------------------------------- */

/* z, the sum of all keys, by a rung as float: the largest error relative to it, in eps. */
static double drift_of(const struct problem *p, const struct tarn_rung *rung)
{
    struct inputs in = inputs_of(p, TARN_FLOAT32, false);
    struct results r = run_rung(p, &in, rung);
    double worst = 0;
    for (size_t c = 0; c < p->n.C; c++) {
        double z = 0;
        for (size_t i = 0; i < p->n.N; i++) z += flat(in.k, i * p->n.C + c);
        worst = fmax(worst, fabs(flat(r.z, c) / z - 1));
    }
    free_results(&r);
    free_inputs(&in);
    return worst / (double)FLT_EPSILON;
}

/* Keys are positive, and a plain float sum of 30,000 of them drifts by some 30 eps. */
Test(kernels_prefix, float_errors_do_not_grow_with_the_sequence)
{
    for (size_t N = 300; N <= 30000; N *= 10)
        for (int r = 0; r < tarn_emu_prefix_f32.count; r++) {
            const struct problem p = problem_of((struct sizes){1, N, N, 3, 4});
            const struct tarn_rung *rung = &tarn_emu_prefix_f32.rungs[r];
            if (rung->least_gpu) continue; /* z is not on tensor cores */
            const double drift = drift_of(&p, rung);
            cr_assert_leq(drift, 1.5, "%s, N %zu: %.3g eps", rung->name, N, drift);
        }
}

/* A grid has at most 65,535 blocks in y and z: heads must not be counted there. The first
 * token of each head sees itself alone. */
Test(kernels_prefix, there_may_be_more_than_65535_heads)
{
    const struct problem p = problem_of((struct sizes){65537, 1, 1, 1, 1});
    struct inputs in = inputs_of(&p, TARN_FLOAT32, false);
    struct results r = run_rung(&p, &in, &tarn_emu_prefix_f32.rungs[0]);
    for (size_t h = 0; h < p.n.heads; h++) {
        const double s = flat(in.q, h) * flat(in.k, h);
        const double expected = s * flat(in.v, h) / (s + p.options.eps);
        cr_assert(fabs(flat(r.out, h) - expected) <= 1e-6 * fabs(expected), "head %zu",
                  h);
    }
    free_results(&r);
    free_inputs(&in);
}

/* Rungs with larger blocks take seconds for it: that their grid is taken is enough. A launch
 * that is interrupted before it begins has passed the limits. */
Test(kernels_prefix, every_rung_takes_more_than_65535_heads)
{
    struct tarn_span s = {.ctx = ctx, .heads = 65537, .N_q = 1, .N = 1, .C = 1, .M = 1};
    tarn_interrupt(ctx);
    for (int type = 0; type < 2; type++)
        for (int r = 0; r < LADDERS(prefix).of[type]->count; r++) {
            const struct tarn_rung *rung = &LADDERS(prefix).of[type]->rungs[r];
            cr_assert_eq(rung->run(&s), TARN_EINTR, "%s: %s", rung->name,
                         tarn_error(ctx));
        }
}

/* SHP: what k1 keeps of a token does not depend on shared memory, of which sm_75 has 64 KB. */
Test(kernels_prefix, k1_takes_a_state_of_any_height_and_width)
{
    const struct sizes sizes[] = {{1, 3, 3, 9000, 2}, {1, 3, 3, 2, 17000}};
    const struct tarn_ladder out[] = {{tarn_emu_prefix_f32.rungs, 1, 0},
                                      {tarn_emu_prefix_f64.rungs, 1, 0}};
    const struct tarn_ladder grad[] = {{tarn_emu_prefix_grad_f32.rungs, 1, 0},
                                       {tarn_emu_prefix_grad_f64.rungs, 1, 0}};
    for (int i = 0; i < 2; i++) {
        struct problem p = problem_of(sizes[i]);
        p.options.causal = true;
        check_outputs(&p, (struct ladders){{&out[0], &out[1]}}, "high or wide");
        check_gradients(&p, (struct ladders){{&grad[0], &grad[1]}}, "high or wide");
    }
}

/* One more than 32 bits count: a grid of what is left of it would do a part of the work. */
Test(kernels_prefix, heads_that_no_grid_holds_are_refused)
{
    expect_too_large(LADDERS(prefix), ((size_t)1 << 32) + 1, 1);
    expect_too_large(LADDERS(prefix_grad), ((size_t)1 << 32) + 1, 1);
}
