/* test_fast_rnn.c: the tuned step of the cell: the bits of a run, and what it knows of its
 * state. Chapters 5 and 10.
 *
 * The instruction set is chosen at the first call, and each test is a process of its own. */
#include "attention.h"

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
TestSuite(fast_rnn, .init = open, .fini = close_all);

static tarn_rnn *cell(tarn_dtype dtype, size_t H, size_t D, size_t M)
{
    const tarn_cell sizes = {.H = H, .D = D, .M = M, .eps = 1e-6, .dtype = dtype};
    tarn_rnn *st = NULL;
    OK(tarn_rnn_new(ctx, &sizes, &st));
    return st;
}

static void expect_same_state(tarn_rnn *a, tarn_rnn *b)
{
    tarn_tensor *S_a = NULL, *z_a = NULL, *S_b = NULL, *z_b = NULL;
    OK(tarn_rnn_state(ctx, a, &S_a, &z_a));
    OK(tarn_rnn_state(ctx, b, &S_b, &z_b));
    cr_assert_eq(largest_difference(ctx, S_a, S_b), 0);
    cr_assert_eq(largest_difference(ctx, z_a, z_b), 0);
    tarn_tensor *all[] = {S_a, z_a, S_b, z_b};
    for (int i = 0; i < 4; i++) tarn_tensor_free(all[i]);
}

static void fill_head(tarn_tensor *t, size_t h, double value)
{
    tarn_tensor *head = NULL;
    OK(tarn_select(ctx, t, 0, h, &head));
    OK(tarn_fill(ctx, head, value));
    tarn_tensor_free(head);
}

/* 70 tokens, one at a time and in pieces of 3 and 67, across the end of a stretch. The
 * products of features in head 1 are too small to be divided by as they are. */
static void expect_steps_like_a_run(tarn_dtype dtype, size_t H, size_t D, size_t M)
{
    enum { N = 70, FIRST = 3 };
    tarn_tensor *q = normal(ctx, dtype, 1, 3, (size_t[]){H, N, D}, 1);
    tarn_tensor *k = normal(ctx, dtype, 2, 3, (size_t[]){H, N, D}, 1);
    fill_head(q, 1, -60);
    fill_head(k, 1, -60);
    tarn_tensor *v = normal(ctx, dtype, 3, 3, (size_t[]){H, N, M}, 1), *run = NULL;
    tarn_rnn *stepped = cell(dtype, H, D, M), *ran = cell(dtype, H, D, M),
             *pieces = cell(dtype, H, D, M);
    OK(tarn_rnn_run(ctx, ran, q, k, v, &run));
    for (size_t i = 0; i < N; i++) {
        tarn_tensor *q_i = NULL, *k_i = NULL, *v_i = NULL, *out = NULL, *want = NULL;
        OK(tarn_select(ctx, q, 1, i, &q_i));
        OK(tarn_select(ctx, k, 1, i, &k_i));
        OK(tarn_select(ctx, v, 1, i, &v_i));
        OK(tarn_select(ctx, run, 1, i, &want));
        OK(tarn_rnn_step(ctx, stepped, q_i, k_i, v_i, &out));
        cr_assert_eq(largest_difference(ctx, out, want), 0, "D = %zu, M = %zu, %zu", D,
                     M, i);
        tarn_tensor *all[] = {q_i, k_i, v_i, out, want};
        for (int n = 0; n < 5; n++) tarn_tensor_free(all[n]);
    }
    for (int piece = 0; piece < 2; piece++) {
        const size_t start = piece ? FIRST : 0, count = piece ? N - FIRST : FIRST;
        tarn_tensor *q_p = NULL, *k_p = NULL, *v_p = NULL, *out = NULL;
        OK(tarn_narrow(ctx, q, 1, start, count, 1, &q_p));
        OK(tarn_narrow(ctx, k, 1, start, count, 1, &k_p));
        OK(tarn_narrow(ctx, v, 1, start, count, 1, &v_p));
        OK(tarn_rnn_run(ctx, pieces, q_p, k_p, v_p, &out));
        tarn_tensor *all[] = {q_p, k_p, v_p, out};
        for (int n = 0; n < 4; n++) tarn_tensor_free(all[n]);
    }
    expect_same_state(stepped, ran);
    expect_same_state(pieces, ran);
    tarn_tensor *all[] = {q, k, v, run};
    for (int n = 0; n < 4; n++) tarn_tensor_free(all[n]);
    tarn_rnn_free(stepped);
    tarn_rnn_free(ran);
    tarn_rnn_free(pieces);
}

/* Columns of a group, of a vector, and fewer. */
static void expect_the_bits_of_a_run(const char *isa)
{
    const size_t widths[] = {1, 3, 7, 16, 17, 31, 64, 65, 100};
    use_isa(isa);
    for (size_t m = 0; m < sizeof widths / sizeof *widths; m++) {
        expect_steps_like_a_run(TARN_FLOAT32, 2, 5, widths[m]);
        expect_steps_like_a_run(TARN_FLOAT64, 2, widths[m], widths[m]);
        expect_steps_like_a_run(TARN_FLOAT32, 2, widths[m], 16);
    }
    expect_steps_like_a_run(TARN_FLOAT32, 70, 16, 32);
    expect_steps_like_a_run(TARN_FLOAT32, 33, 3, 5);
}

Test(fast_rnn, a_step_gives_the_bits_of_a_run_on_the_baseline)
{
    expect_the_bits_of_a_run("baseline");
}
Test(fast_rnn, a_step_gives_the_bits_of_a_run_on_v3)
{
    expect_the_bits_of_a_run("x86-64-v3");
}
Test(fast_rnn, a_step_gives_the_bits_of_a_run_on_v4)
{
    expect_the_bits_of_a_run("x86-64-v4");
}

static tarn_tensor *row(double a, double b)
{
    tarn_tensor *t = NULL;
    OK(tarn_tensor_new(ctx, TARN_FLOAT32, 2, (size_t[]){1, 2}, &t));
    OK(tarn_tensor_set(ctx, t, (size_t[]){0, 0}, a));
    OK(tarn_tensor_set(ctx, t, (size_t[]){0, 1}, b));
    return t;
}

static tarn_status step_value(tarn_rnn *st, double value)
{
    tarn_tensor *q = row(1, 1), *v = row(value, 1), *out = NULL;
    tarn_status status = tarn_rnn_step(ctx, st, q, q, v, &out);
    tarn_tensor_free(q);
    tarn_tensor_free(v);
    tarn_tensor_free(out);
    return status;
}

/* The same token again and again, until a sum overflows or it seems that none will. */
static tarn_status step_often(tarn_rnn *st, const tarn_tensor *q, const tarn_tensor *v)
{
    tarn_tensor *out = NULL;
    tarn_status status = TARN_OK;
    for (int i = 0; i < 4 && status == TARN_OK; i++)
        status = tarn_rnn_step(ctx, st, q, q, v, &out);
    tarn_tensor_free(out);
    return status;
}

/* All heads are stepped together, but one whose input is not finite hides no overflow in
 * another. */
Test(fast_rnn, a_head_of_NaN_hides_no_overflow_in_another)
{
    enum { H = 3, D = 16 };
    tarn_rnn *st = cell(TARN_FLOAT32, H, D, D);
    tarn_tensor *q = normal(ctx, TARN_FLOAT32, 1, 2, (size_t[]){H, D}, 1);
    tarn_tensor *v = normal(ctx, TARN_FLOAT32, 2, 2, (size_t[]){H, D}, 1);
    OK(step_often(st, q, v));
    fill_head(v, 0, NAN);
    OK(step_often(st, q, v));
    fill_head(v, 2, 3e38);
    cr_assert_eq(step_often(st, q, v), TARN_ERANGE);
    tarn_rnn_reset(st);
    fill_head(v, 0, 1);
    cr_assert_eq(step_often(st, q, v), TARN_ERANGE);
    tarn_tensor_free(q);
    tarn_tensor_free(v);
    tarn_rnn_free(st);
}

/* A step relies on what the one before has found: an overflow is an error after any number
 * of sound steps, an Inf that was given is not, now or later. */
Test(fast_rnn, sums_that_overflow_are_an_error_and_an_Inf_that_is_given_is_none)
{
    tarn_rnn *st = cell(TARN_FLOAT32, 1, 2, 2);
    for (int i = 0; i < 5; i++) OK(step_value(st, 1));
    cr_assert_eq(step_value(st, 3e38), TARN_ERANGE);
    tarn_rnn_reset(st);
    for (int i = 0; i < 3; i++) OK(step_value(st, INFINITY));
    for (int i = 0; i < 3; i++) OK(step_value(st, 1));
    tarn_rnn_reset(st);
    OK(step_value(st, 1));
    tarn_tensor *S = NULL, *z = NULL;
    OK(tarn_rnn_state(ctx, st, &S, &z));
    OK(tarn_fill(ctx, S, INFINITY));
    OK(tarn_rnn_set_state(ctx, st, S, z));
    OK(step_value(st, 1));
    tarn_tensor_free(S);
    tarn_tensor_free(z);
    tarn_rnn_free(st);
}
