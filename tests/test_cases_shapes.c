/* test_cases_shapes.c: field cases about shapes and layout, for every form. */
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
TestSuite(cases_shapes, .init = open, .fini = close);

static void free_four(tarn_tensor *const *t)
{
    for (size_t n = 0; n < 4; n++) tarn_tensor_free(t[n]);
}

/* q, k [N, D] and v, dout [N, M], normal numbers. */
static void make_four(size_t N, size_t D, size_t M, tarn_tensor **t)
{
    for (size_t n = 0; n < 4; n++)
        t[n] = normal(ctx, TARN_FLOAT32, n + 1, 2, (size_t[]){N, n < 2 ? D : M}, 1);
}

static void expect_same_grads(const char *form, const tarn_grads *a,
                              const tarn_grads *b)
{
    cr_assert(same_bits(a->dq, b->dq), "%s: dq differs", form);
    cr_assert(same_bits(a->dk, b->dk), "%s: dk differs", form);
    cr_assert(same_bits(a->dv, b->dv), "%s: dv differs", form);
}

/* Two layouts of the same numbers give the same bits in every form and gradient. */
static void expect_same_answers(tarn_tensor *const *a, tarn_tensor *const *b)
{
    const struct tarn_form_entry *form;
    for (int causal = 0; causal < 2; causal++) {
        struct tarn_form_input in_a = linear(ctx, a[0], a[1], a[2], causal);
        struct tarn_form_input in_b = linear(ctx, b[0], b[1], b[2], causal);
        for (size_t at = 0; (form = next_form(&at, false, &in_a));) {
            tarn_tensor *x = output_of(form, &in_a), *y = output_of(form, &in_b);
            cr_assert(same_bits(x, y), "%s", form->name);
            tarn_tensor_free(x);
            tarn_tensor_free(y);
        }
        for (size_t at = 0; (form = next_form(&at, true, &in_a));) {
            tarn_grads x = gradients_of(form, &in_a, a[3]);
            tarn_grads y = gradients_of(form, &in_b, b[3]);
            expect_same_grads(form->name, &x, &y);
            tarn_grads_free(&x);
            tarn_grads_free(&y);
        }
    }
}

/* ---- SHP-01, SHP-05: what lies around and between the elements ------------------------- */

static const size_t odd_lengths[] = {1, 2, 63, 64, 65, 127, 129, 130};

Test(cases_shapes, NaN_around_the_inputs_is_never_read_SHP_01)
{
    for (size_t n = 0; n < sizeof odd_lengths / sizeof *odd_lengths; n++) {
        tarn_tensor *plain[4], *guarded[4];
        make_four(odd_lengths[n], 5, 3, plain);
        for (size_t i = 0; i < 4; i++) guarded[i] = among_nan(ctx, plain[i]);
        expect_same_answers(plain, guarded);
        free_four(plain);
        free_four(guarded);
    }
}

/* The one output that lies in memory of the caller's is that of a step. */
Test(cases_shapes, a_step_writes_its_output_and_nothing_beside_it_SHP_01)
{
    const tarn_cell cell = {.H = 3, .D = 5, .M = 7, .dtype = TARN_FLOAT32};
    tarn_tensor *q = normal(ctx, TARN_FLOAT32, 1, 2, (size_t[]){3, 5}, 1), *out;
    tarn_tensor *v = normal(ctx, TARN_FLOAT32, 2, 2, (size_t[]){3, 7}, 1);
    tarn_tensor *buffer = filled(ctx, TARN_FLOAT32, 2, (size_t[]){9, 7}, -1234);
    tarn_rnn *st;
    OK(tarn_narrow(ctx, buffer, 0, 3, 3, 1, &out));
    OK(tarn_rnn_new(ctx, &cell, &st));
    OK(tarn_rnn_step(ctx, st, q, q, v, &out));
    for (size_t i = 0; i < 63; i++) {
        const bool inside = i >= 21 && i < 42;
        cr_assert_eq(flat(buffer, i) == -1234, !inside, "element %zu", i);
        if (inside) cr_assert_float_eq(flat(buffer, i), flat(v, i - 21), 1e-6);
    }
    tarn_tensor *all[4] = {q, v, buffer, out};
    free_four(all);
    tarn_rnn_free(st);
}

/* The numbers of t in another layout: transposed, every second row, or a slice of columns. */
static tarn_tensor *laid_out(const tarn_tensor *t, int layout)
{
    const size_t N = tarn_tensor_shape(t)[0], D = tarn_tensor_shape(t)[1];
    const size_t sizes[3][2] = {{D, N}, {2 * N, D}, {N, D + 6}};
    tarn_tensor *buffer = filled(ctx, TARN_FLOAT32, 2, sizes[layout], (double)NAN),
                *view;
    if (layout == 0) OK(tarn_permute(ctx, buffer, (int[]){1, 0}, &view));
    if (layout == 1) OK(tarn_narrow(ctx, buffer, 0, 0, N, 2, &view));
    if (layout == 2) OK(tarn_narrow(ctx, buffer, 1, 3, D, 1, &view));
    OK(tarn_copy(ctx, view, t));
    tarn_tensor_free(buffer);
    return view;
}

Test(cases_shapes, layout_is_no_part_of_the_value_SHP_05)
{
    tarn_tensor *plain[4];
    make_four(70, 5, 3, plain);
    for (size_t which = 0; which < 4; which++)
        for (int layout = 0; layout < 3; layout++) {
            tarn_tensor *strided[4] = {plain[0], plain[1], plain[2], plain[3]};
            strided[which] = laid_out(plain[which], layout);
            cr_assert(!tarn_tensor_is_contiguous(strided[which]));
            expect_same_answers(plain, strided);
            tarn_tensor_free(strided[which]);
        }
    free_four(plain);
}

/* ---- SHP-04, SHP-08, SHP-09, SHP-10: sizes --------------------------------------------- */

static tarn_tensor *uniform(uint64_t seed, size_t D)
{
    tarn_tensor *t;
    OK(tarn_random(ctx, TARN_UNIFORM, &seed, TARN_FLOAT32, 4, (size_t[]){2, 3, 100, D},
                   &t));
    return t;
}

static void expect_SHP_04(size_t D, size_t M, bool causal)
{
    tarn_equiv_options options = tarn_equiv_defaults();
    tarn_tensor *q = uniform(1, D), *k = uniform(2, D), *v = uniform(3, M);
    tarn_report report;
    options.float64 = false;
    options.grad = true;
    options.attention.causal = causal;
    OK(tarn_equiv(ctx, q, k, v, &options, &report));
    cr_assert_geq(report.count, causal ? 15 : 8);
    for (size_t r = 0; r < report.count; r++) {
        const tarn_row *row = &report.rows[r];
        cr_assert(row->ok && row->max_rel <= 1e-4,
                  "D = %zu, M = %zu: %s of %s errs by %g", D, M, row->what, row->form,
                  row->max_rel);
    }
    tarn_report_free(&report);
    tarn_tensor *all[4] = {q, k, v, NULL};
    free_four(all);
}

Test(cases_shapes, D_and_M_may_differ_and_be_large_SHP_04)
{
    static const size_t sizes[][2] = {{1, 64},   {64, 1},   {40, 300},
                                      {300, 40}, {257, 31}, {512, 512}};
    for (size_t s = 0; s < 6; s++)
        for (int causal = 0; causal < 2; causal++)
            expect_SHP_04(sizes[s][0], sizes[s][1], causal);
}

/* With q = k = 0 a causal output is the mean so far, a full one the mean of all. */
static void expect_means(size_t D, size_t M)
{
    enum { N = 20 };
    const struct tarn_form_entry *form;
    tarn_tensor *q = filled(ctx, TARN_FLOAT32, 2, (size_t[]){N, D}, 0);
    tarn_tensor *v = filled(ctx, TARN_FLOAT32, 2, (size_t[]){N, M}, 0);
    for (size_t i = 0; i < N * M; i++)
        ((float *)tarn_tensor_data(v))[i] = (float)(1 + i / M);
    for (int causal = 0; causal < 2; causal++) {
        struct tarn_form_input in = linear(ctx, q, q, v, causal);
        for (size_t at = 0; (form = next_form(&at, false, &in));) {
            tarn_tensor *out = output_of(form, &in);
            for (size_t i = 0; i < N * M; i++) {
                const double mean = causal ? 1 + (double)(i / M) / 2 : (N + 1) / 2.;
                cr_assert_float_eq(flat(out, i), mean, 1e-5, "%s, D = %zu, M = %zu: %g",
                                   form->name, D, M, flat(out, i));
            }
            tarn_tensor_free(out);
        }
    }
    tarn_tensor_free(q);
    tarn_tensor_free(v);
}

Test(cases_shapes, tiny_widths_give_running_means_SHP_09)
{
    static const size_t widths[] = {1, 2, 3, 7, 8, 15};
    for (size_t d = 0; d < 6; d++)
        for (size_t m = 0; m < 6; m++) expect_means(widths[d], widths[m]);
}

/* v = 1 gives 1 in every column; the gradient of sum(out) with respect to v sums to N. */
static void expect_ones(size_t D, size_t M)
{
    const struct tarn_form_entry *form;
    tarn_tensor *q = normal(ctx, TARN_FLOAT32, 1, 2, (size_t[]){3, D}, 1);
    tarn_tensor *v = filled(ctx, TARN_FLOAT32, 2, (size_t[]){3, M}, 1);
    for (int causal = 0; causal < 2; causal++) {
        struct tarn_form_input in = linear(ctx, q, q, v, causal);
        for (size_t at = 0; (form = next_form(&at, false, &in));) {
            tarn_tensor *out = output_of(form, &in);
            for (size_t i = 0; i < 3 * M; i++)
                cr_assert_float_eq(flat(out, i), 1, 1e-5, "%s, D = %zu, column %zu: %g",
                                   form->name, D, i % M, flat(out, i));
            tarn_tensor_free(out);
        }
        for (size_t at = 0; (form = next_form(&at, true, &in));) {
            tarn_grads g = gradients_of(form, &in, v);
            for (size_t m = 0; m < M; m++)
                cr_assert_float_eq(flat(g.dv, m) + flat(g.dv, M + m) +
                                       flat(g.dv, 2 * M + m),
                                   3, 1e-5, "%s, column %zu", form->name, m);
            tarn_grads_free(&g);
        }
    }
    tarn_tensor_free(q);
    tarn_tensor_free(v);
}

Test(cases_shapes, no_column_is_left_out_of_wide_heads_SHP_10)
{
    static const size_t widths[] = {33, 64, 65, 128, 129, 256, 257, 512, 1024, 1025};
    for (size_t w = 0; w < 10; w++) {
        expect_ones(widths[w], 3);
        expect_ones(3, widths[w]);
        expect_ones(widths[w], widths[9 - w]);
    }
}

Test(cases_shapes, wide_heads_are_no_limit_INT_05)
{
    expect_ones(4096, 8);
    expect_ones(1024, 2048);
}

static void expect_empty(int rank, const size_t *q_shape, const size_t *v_shape)
{
    const struct tarn_form_entry *form;
    tarn_tensor *q = filled(ctx, TARN_FLOAT32, rank, q_shape, 0);
    tarn_tensor *v = filled(ctx, TARN_FLOAT32, rank, v_shape, 0);
    for (int causal = 0; causal < 2; causal++) {
        struct tarn_form_input in = linear(ctx, q, q, v, causal);
        for (size_t at = 0; (form = next_form(&at, false, &in));) {
            tarn_tensor *out = output_of(form, &in);
            cr_assert_eq(tarn_tensor_rank(out), rank);
            for (int d = 0; d < rank; d++)
                cr_assert_eq(tarn_tensor_shape(out)[d], v_shape[d], "%s", form->name);
            tarn_tensor_free(out);
        }
        for (size_t at = 0; (form = next_form(&at, true, &in));) {
            tarn_grads g = gradients_of(form, &in, v);
            cr_assert_eq(tarn_tensor_numel(g.dq) + tarn_tensor_numel(g.dv), 0);
            tarn_grads_free(&g);
        }
    }
    tarn_tensor_free(q);
    tarn_tensor_free(v);
}

Test(cases_shapes, no_tokens_no_heads_and_no_batch_give_empty_outputs_SHP_08)
{
    expect_empty(2, (size_t[]){0, 4}, (size_t[]){0, 3});
    expect_empty(4, (size_t[]){2, 3, 0, 4}, (size_t[]){2, 3, 0, 3});
    expect_empty(4, (size_t[]){0, 3, 5, 4}, (size_t[]){0, 3, 5, 3});
    expect_empty(3, (size_t[]){0, 5, 4}, (size_t[]){0, 5, 3});
}

Test(cases_shapes, no_tokens_leave_the_state_as_it_was_SHP_08)
{
    const tarn_cell cell = {.D = 4, .M = 3, .dtype = TARN_FLOAT32};
    tarn_tensor *t[4], *empty = filled(ctx, TARN_FLOAT32, 2, (size_t[]){0, 4}, 0);
    tarn_tensor *no_v = filled(ctx, TARN_FLOAT32, 2, (size_t[]){0, 3}, 0), *out = NULL;
    tarn_options options = tarn_defaults();
    tarn_rnn *st, *final;
    tarn_tensor *S[3], *first = NULL;
    make_four(70, 4, 3, t);
    options.eps = 0;
    OK(tarn_rnn_new(ctx, &cell, &st));
    OK(tarn_rnn_run(ctx, st, t[0], t[1], t[2], &first));
    OK(tarn_rnn_state(ctx, st, &S[0], NULL));
    options.state = st;
    OK(tarn_prefix(ctx, empty, empty, no_v, &options, &out, &final));
    OK(tarn_rnn_state(ctx, final, &S[1], NULL));
    tarn_tensor_free(out);
    out = NULL;
    OK(tarn_rnn_run(ctx, st, empty, empty, no_v, &out));
    OK(tarn_rnn_state(ctx, st, &S[2], NULL));
    cr_assert(same_bits(S[0], S[1]) && same_bits(S[0], S[2]));
    cr_assert_eq(tarn_rnn_time(st), 70);
    free_four(t);
    tarn_tensor *rest[] = {empty, no_v, out, S[0], S[1], S[2], first, NULL};
    free_four(rest);
    free_four(rest + 4);
    tarn_rnn_free(st);
    tarn_rnn_free(final);
}

/* The weights of one token are 1: out = v, and nothing depends on q and k. */
Test(cases_shapes, one_token_gives_v_back_SHP_08)
{
    const struct tarn_form_entry *form;
    tarn_tensor *t[4];
    make_four(1, 6, 4, t);
    for (int causal = 0; causal < 2; causal++) {
        struct tarn_form_input in = linear(ctx, t[0], t[1], t[2], causal);
        for (size_t at = 0; (form = next_form(&at, false, &in));) {
            tarn_tensor *out = output_of(form, &in);
            cr_assert_leq(largest_difference(ctx, out, t[2]), 1e-6);
            tarn_tensor_free(out);
        }
        for (size_t at = 0; (form = next_form(&at, true, &in));) {
            tarn_grads g = gradients_of(form, &in, t[3]);
            cr_assert_leq(largest_difference(ctx, g.dv, t[3]), 1e-6);
            for (size_t c = 0; c < 6; c++)
                cr_assert(fabs(flat(g.dq, c)) <= 1e-6 && fabs(flat(g.dk, c)) <= 1e-6,
                          "%s", form->name);
            tarn_grads_free(&g);
        }
    }
    free_four(t);
}

/* ---- INT-03: many heads ---------------------------------------------------------------- */

Test(cases_shapes, the_last_of_very_many_heads_is_right_INT_03)
{
    static const size_t heads[][2] = {
        {65535, 1}, {65536, 1}, {10923, 6}, {1, 65536}, {70000, 2}};
    const struct tarn_form_entry *form;
    for (size_t n = 0; n < 5; n++) {
        const size_t shape[4] = {heads[n][0], heads[n][1], 4, 4};
        tarn_tensor *q = filled(ctx, TARN_FLOAT32, 4, shape, 0), *v;
        tarn_tensor *column = filled(ctx, TARN_FLOAT32, 2, (size_t[]){4, 1}, 0);
        for (size_t i = 0; i < 4; i++)
            ((float *)tarn_tensor_data(column))[i] = (float)(i + 1);
        OK(tarn_expand(ctx, column, 4, shape, &v));
        for (int causal = 0; causal < 2; causal++) {
            struct tarn_form_input in = linear(ctx, q, q, v, causal);
            for (size_t at = 0; (form = next_form(&at, false, &in));) {
                tarn_tensor *out = output_of(form, &in);
                const size_t last = tarn_tensor_numel(out) - 16;
                for (size_t i = 0; i < 16; i++)
                    cr_assert_float_eq(flat(out, last + i),
                                       causal ? 1 + (double)(i / 4) / 2 : 2.5, 1e-6,
                                       "%s", form->name);
                tarn_tensor_free(out);
            }
        }
        tarn_tensor *all[4] = {q, v, column, NULL};
        free_four(all);
    }
}
