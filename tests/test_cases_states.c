/* test_cases_states.c: field cases about states: a sequence in pieces, states that are
 * carried, kept and decoded from. */
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
TestSuite(cases_states, .init = open, .fini = close);

/* ---- GST-04: whole against pieces ------------------------------------------------------ */

static const size_t whole = 256, width = 32;

/* Cuts the sequence at a point and runs the rest from the state of the first part. */
static tarn_tensor *prefix_piece(const struct inputs *x, size_t start, size_t count,
                                 tarn_method method, tarn_rnn **st)
{
    tarn_tensor *q = rows(ctx, x->q, start, count), *k = rows(ctx, x->k, start, count),
                *out;
    tarn_tensor *v = rows(ctx, x->v, start, count);
    struct tarn_form_input in = linear(ctx, q, k, v, true);
    tarn_rnn *final;
    in.options.state = *st;
    in.options.method = method;
    OK(tarn_prefix(ctx, q, k, v, &in.options, &out, &final));
    tarn_rnn_free(*st);
    *st = final;
    tarn_tensor *all[] = {q, k, v};
    for (size_t n = 0; n < 3; n++) tarn_tensor_free(all[n]);
    return out;
}

static tarn_tensor *run_piece(const struct inputs *x, size_t start, size_t count,
                              tarn_rnn *st)
{
    tarn_tensor *q = rows(ctx, x->q, start, count), *k = rows(ctx, x->k, start, count);
    tarn_tensor *v = rows(ctx, x->v, start, count), *out = NULL;
    OK(tarn_rnn_run(ctx, st, q, k, v, &out));
    tarn_tensor *all[] = {q, k, v};
    for (size_t n = 0; n < 3; n++) tarn_tensor_free(all[n]);
    return out;
}

/* Within 1e-5 of the largest entry: entries of S are sums with cancellation. */
static void expect_near(const tarn_tensor *a, const tarn_tensor *b)
{
    double largest = 0;
    for (size_t i = 0; i < tarn_tensor_numel(b); i++)
        largest = fmax(largest, fabs(flat(b, i)));
    cr_assert_leq(largest_difference(ctx, a, b), 1e-5 * largest);
}

static void expect_same_state(const tarn_rnn *a, const tarn_rnn *b)
{
    tarn_tensor *S[2], *z[2];
    OK(tarn_rnn_state(ctx, a, &S[0], &z[0]));
    OK(tarn_rnn_state(ctx, b, &S[1], &z[1]));
    expect_near(S[0], S[1]);
    expect_near(z[0], z[1]);
    for (size_t n = 0; n < 2; n++) {
        tarn_tensor_free(S[n]);
        tarn_tensor_free(z[n]);
    }
    cr_assert_eq(tarn_rnn_time(a), tarn_rnn_time(b));
}

/* Pieces of the given sizes (the last repeats) against the whole call; form 3 is rnn. */
static void expect_pieces(const struct inputs *x, const size_t *sizes, size_t count,
                          int form)
{
    const tarn_cell cell = {.D = width, .M = width, .dtype = TARN_FLOAT32};
    tarn_rnn *final = NULL, *st;
    tarn_tensor *reference = prefix_piece(x, 0, whole, TARN_SEQUENTIAL, &final);
    OK(tarn_rnn_new(ctx, &cell, &st));
    for (size_t start = 0, p = 0; start < whole; p++) {
        const size_t size = sizes[p < count ? p : count - 1];
        tarn_tensor *out = form == 3
                               ? run_piece(x, start, size, st)
                               : prefix_piece(x, start, size, (tarn_method)form, &st);
        tarn_tensor *expected = rows(ctx, reference, start, size);
        cr_assert_leq(largest_difference(ctx, out, expected), 1e-5, "form %d at %zu",
                      form, start);
        tarn_tensor_free(out);
        tarn_tensor_free(expected);
        start += size;
    }
    expect_same_state(st, final);
    tarn_tensor_free(reference);
    tarn_rnn_free(final);
    tarn_rnn_free(st);
}

Test(cases_states, pieces_give_what_the_whole_gives_GST_04)
{
    struct inputs x = random_inputs(ctx, TARN_FLOAT32, whole, width, width);
    for (int form = 0; form < 4; form++) {
        expect_pieces(&x, (size_t[]){64}, 1, form);
        expect_pieces(&x, (size_t[]){1, 255}, 2, form);
        expect_pieces(&x, (size_t[]){255, 1}, 2, form);
        expect_pieces(&x, (size_t[]){100, 156}, 2, form);
        expect_pieces(&x, (size_t[]){1}, 1, form);
    }
    free_inputs(&x);
}

/* A gradient in two pieces: the state's gradient of the second goes into the first. */
Test(cases_states, a_gradient_in_pieces_is_that_of_the_whole_GST_04)
{
    struct inputs x = random_inputs(ctx, TARN_FLOAT64, 150, 4, 3);
    const size_t cut = 70;
    struct tarn_form_input in = linear(ctx, x.q, x.k, x.v, true);
    tarn_grads all = {0}, first = {0}, second = {0};
    OK(tarn_prefix_grad(ctx, x.q, x.k, x.v, x.dout, &in.options, &all));

    tarn_tensor *t[2][4], *source[4] = {x.q, x.k, x.v, x.dout}, *out;
    for (size_t n = 0; n < 4; n++) {
        t[0][n] = rows(ctx, source[n], 0, cut);
        t[1][n] = rows(ctx, source[n], cut, 150 - cut);
    }
    tarn_rnn *middle;
    OK(tarn_prefix(ctx, t[0][0], t[0][1], t[0][2], &in.options, &out, &middle));
    in.options.state = middle;
    OK(tarn_prefix_grad(ctx, t[1][0], t[1][1], t[1][2], t[1][3], &in.options, &second));
    in.options.state = NULL;
    in.options.dS = second.dS0;
    in.options.dz = second.dz0;
    OK(tarn_prefix_grad(ctx, t[0][0], t[0][1], t[0][2], t[0][3], &in.options, &first));

    const tarn_tensor *whole_grads[] = {all.dq, all.dk, all.dv};
    const tarn_tensor *pieces[2][3] = {{first.dq, first.dk, first.dv},
                                       {second.dq, second.dk, second.dv}};
    for (size_t n = 0; n < 3; n++)
        for (size_t p = 0; p < 2; p++) {
            tarn_tensor *part =
                rows(ctx, whole_grads[n], p ? cut : 0, p ? 150 - cut : cut);
            cr_assert_leq(largest_difference(ctx, pieces[p][n], part), 1e-13);
            tarn_tensor_free(part);
        }
    for (size_t n = 0; n < 8; n++) tarn_tensor_free(t[n / 4][n % 4]);
    tarn_tensor_free(out);
    tarn_rnn_free(middle);
    tarn_grads *grads[] = {&all, &first, &second};
    for (size_t n = 0; n < 3; n++) tarn_grads_free(grads[n]);
    free_inputs(&x);
}

/* ---- GST-03, GST-06, GST-09: the state ------------------------------------------------- */

/* Steps one head of ones features with a value and gives the output. */
static double step_ones(tarn_rnn *st, double value)
{
    tarn_tensor *zero = filled(ctx, TARN_FLOAT32, 1, (size_t[]){1}, 0), *out = NULL;
    tarn_tensor *v = filled(ctx, TARN_FLOAT32, 1, (size_t[]){1}, value);
    OK(tarn_rnn_step(ctx, st, zero, zero, v, &out));
    const double result = flat(out, 0);
    tarn_tensor *all[] = {zero, v, out};
    for (size_t n = 0; n < 3; n++) tarn_tensor_free(all[n]);
    return result;
}

Test(cases_states, z_goes_along_with_S_GST_03)
{
    const size_t shape[2] = {3, 1};
    tarn_tensor *zeros = filled(ctx, TARN_FLOAT32, 2, shape, 0), *out;
    tarn_tensor *v = matrix(ctx, TARN_FLOAT32, 3, 1, (double[]){1, 2, 3});
    struct tarn_form_input in = linear(ctx, zeros, zeros, v, true);
    tarn_rnn *st;
    OK(tarn_prefix(ctx, zeros, zeros, v, &in.options, &out, &st));
    cr_assert_eq(step_ones(st, 4), 2.5);
    tarn_tensor *all[] = {zeros, v, out};
    for (size_t n = 0; n < 3; n++) tarn_tensor_free(all[n]);
    tarn_rnn_free(st);
}

Test(cases_states, a_clone_keeps_the_past_when_the_cell_goes_on_GST_09)
{
    const tarn_cell cell = {.D = 1, .M = 1, .dtype = TARN_FLOAT32};
    tarn_rnn *st, *kept;
    OK(tarn_rnn_new(ctx, &cell, &st));
    for (int n = 1; n <= 3; n++) step_ones(st, n);
    OK(tarn_rnn_clone(ctx, st, &kept));
    cr_assert_eq(step_ones(st, 10), 4);
    cr_assert_eq(step_ones(kept, 20), 6.5);
    tarn_rnn_free(st);
    tarn_rnn_free(kept);
}

Test(cases_states, no_state_and_a_zero_state_are_the_same_GST_06)
{
    struct inputs x = random_inputs(ctx, TARN_FLOAT32, 130, 6, 5);
    const tarn_cell cell = {.D = 6, .M = 5, .dtype = TARN_FLOAT32};
    struct tarn_form_input none = linear(ctx, x.q, x.k, x.v, true), zero = none;
    const struct tarn_form_entry *form;
    tarn_rnn *st;
    OK(tarn_rnn_new(ctx, &cell, &st));
    zero.options.state = st;
    for (size_t at = 0; (form = next_form(&at, false, &zero));) {
        tarn_tensor *a = output_of(form, &none), *b = output_of(form, &zero);
        cr_assert(same_bits(a, b), "%s", form->name);
        tarn_tensor_free(a);
        tarn_tensor_free(b);
    }
    for (size_t at = 0; (form = next_form(&at, true, &zero));) {
        tarn_grads a = gradients_of(form, &none, x.dout);
        tarn_grads b = gradients_of(form, &zero, x.dout);
        cr_assert(same_bits(a.dq, b.dq) && same_bits(a.dk, b.dk) &&
                  same_bits(a.dv, b.dv));
        cr_assert(!a.dS0 && !a.dz0 && b.dS0 && b.dz0, "%s", form->name);
        tarn_grads_free(&a);
        tarn_grads_free(&b);
    }
    cr_assert_eq(tarn_rnn_time(st), 0, "the state of the options is only read");
    tarn_rnn_free(st);
    free_inputs(&x);
}

/* ---- GST-16: decoding ------------------------------------------------------------------ */

enum { VOCABULARY = 11, MODEL = 8 };

/* A toy model: token -> random q, k, v; the next token is the largest of W out. */
struct toy {
    tarn_tensor *q, *k, *v, *W;
};

static size_t next_token(const struct toy *toy, const tarn_tensor *out)
{
    size_t best = 0;
    double best_score = -HUGE_VAL;
    for (size_t t = 0; t < VOCABULARY; t++) {
        double score = 0;
        for (size_t m = 0; m < MODEL; m++)
            score += flat(toy->W, t * MODEL + m) *
                     flat(out, tarn_tensor_numel(out) - MODEL + m);
        if (score > best_score) best = t, best_score = score;
    }
    return best;
}

static size_t decode_step(const struct toy *toy, tarn_rnn *st, size_t token)
{
    tarn_tensor *x[3], *out = NULL;
    const tarn_tensor *tables[] = {toy->q, toy->k, toy->v};
    for (size_t n = 0; n < 3; n++) OK(tarn_select(ctx, tables[n], 0, token, &x[n]));
    OK(tarn_rnn_step(ctx, st, x[0], x[1], x[2], &out));
    const size_t next = next_token(toy, out);
    for (size_t n = 0; n < 3; n++) tarn_tensor_free(x[n]);
    tarn_tensor_free(out);
    return next;
}

static size_t decode_again(const struct toy *toy, const size_t *tokens, size_t count)
{
    tarn_tensor *x[3], *out;
    const tarn_tensor *tables[] = {toy->q, toy->k, toy->v};
    for (size_t n = 0; n < 3; n++)
        OK(tarn_index(ctx, tables[n], 0, tokens, count, &x[n]));
    struct tarn_form_input in = linear(ctx, x[0], x[1], x[2], true);
    OK(tarn_prefix(ctx, x[0], x[1], x[2], &in.options, &out, NULL));
    const size_t next = next_token(toy, out);
    for (size_t n = 0; n < 3; n++) tarn_tensor_free(x[n]);
    tarn_tensor_free(out);
    return next;
}

//> region decoding
Test(cases_states, steps_decode_what_the_whole_prefix_decodes_GST_16)
{
    const size_t shape[2] = {VOCABULARY, MODEL};
    const tarn_cell cell = {.D = MODEL, .M = MODEL, .dtype = TARN_FLOAT32};
    const struct toy toy = {normal(ctx, TARN_FLOAT32, 1, 2, shape, 2),
                            normal(ctx, TARN_FLOAT32, 2, 2, shape, 2),
                            normal(ctx, TARN_FLOAT32, 3, 2, shape, 1),
                            normal(ctx, TARN_FLOAT32, 4, 2, shape, 1)};
    size_t tokens[201] = {3};
    tarn_rnn *st;
    OK(tarn_rnn_new(ctx, &cell, &st));
    for (size_t i = 0; i < 200; i++) {
        tokens[i + 1] = decode_step(&toy, st, tokens[i]);
        const size_t again = decode_again(&toy, tokens, i + 1);
        cr_assert_eq(tokens[i + 1], again, "token %zu", i);
    }
    tarn_tensor *all[] = {toy.q, toy.k, toy.v, toy.W};
    for (size_t n = 0; n < 4; n++) tarn_tensor_free(all[n]);
    tarn_rnn_free(st);
}
//< region decoding

/* ---- PRF-02: memory of a step ---------------------------------------------------------- */

//> region state_bytes
Test(cases_states, a_state_is_as_large_after_any_number_of_tokens_PRF_02)
{
    const tarn_cell cell = {.D = 1, .M = 1, .dtype = TARN_FLOAT32};
    tarn_rnn *st;
    OK(tarn_rnn_new(ctx, &cell, &st));
    step_ones(st, 1);
    const size_t state = tarn_rnn_bytes(st), held = tarn_bytes(ctx);
    for (int n = 0; n < 10000; n++) step_ones(st, n);
    cr_assert_eq(tarn_rnn_bytes(st), state);
    cr_assert_eq(tarn_bytes(ctx), held);
    tarn_rnn_free(st);
}
//< region state_bytes
