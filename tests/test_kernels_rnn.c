/* test_kernels_rnn.c: every rung of the recurrent cell on the emulated device against the
 * oracle, as a run, step by step, and its gradient. */
#include "kernels.h"

TestSuite(kernels_rnn, .init = open, .fini = close);

/* Sizes of a cell: one step, a few, more than one block of sums, states that are wide, high,
 * too high for registers, and just not too high. */
static const struct sizes cells[] = {
    {3, 0, 0, 4, 5},      {2, 1, 1, 1, 1},       {3, 1, 1, 40, 70},
    {2, 9, 9, 17, 15},    {1, 130, 130, 64, 64}, {2, 70, 70, 33, 31},
    {1, 20, 20, 129, 33}, {1, 11, 11, 300, 3},   {1, 10, 10, 3, 300},
    {1, 9, 9, 255, 32},   {1, 9, 9, 32, 255}};
enum { CELLS = sizeof cells / sizeof *cells };

static struct problem cell_of(struct sizes n)
{
    struct problem p = problem_of(n);
    p.options.causal = true;
    return p;
}

Test(kernels_rnn, each_rung_gives_the_oracles_output_in_any_order_of_threads)
{
    for (int i = 0; i < CELLS; i++) {
        struct problem p = cell_of(cells[i]);
        check_outputs(&p, LADDERS(rnn), "rnn");
        p.state = p.scaled_rows = true;
        check_outputs(&p, LADDERS(rnn), "rnn");
    }
}

Test(kernels_rnn, each_rung_gives_the_oracles_gradients_and_those_of_the_state)
{
    for (int i = 0; i < CELLS; i++) {
        struct problem p = cell_of(cells[i]);
        check_gradients(&p, LADDERS(rnn_grad), "rnn_grad");
        p.state = p.scaled_rows = true;
        check_gradients(&p, LADDERS(rnn_grad), "rnn_grad");
    }
}

/* ---- A sequence in pieces -------------------------------------------------------------------- */

/* `rows` rows of `width` elements further on. */
static const void *after(const void *rows_from, size_t rows, size_t width, size_t size)
{
    return rows_from ? (const char *)rows_from + rows * width * size : NULL;
}

/* One head, `piece` tokens a call; the state goes from one call to the next. */
static struct results run_in_pieces(const struct problem *p, const struct inputs *in,
                                    const struct tarn_rung *rung, size_t piece)
{
    struct device d = put(p, in);
    const size_t size = tarn_dtype_size(in->dtype), N = p->n.N;
    if (rung->work) d.s.work = device_bytes(rung->work(&d.s));
    struct tarn_span s = d.s;
    for (size_t done = 0; done < N; done += s.N) {
        s.N = s.N_q = N - done < piece ? N - done : piece;
        s.q = after(d.s.q, done, s.C, size), s.k = after(d.s.k, done, s.C, size);
        s.v = after(d.s.v, done, s.M, size);
        s.eps_row = after(d.s.eps_row, done, 1, size);
        s.out = (char *)d.s.out + done * s.M * size;
        OK(tarn_rung_for(rung, &s)->run(&s));
        cr_assert_eq(s.count, (done + s.N) % 64);
    }
    const struct results r = get(p, in, &d);
    take_away(&d);
    return r;
}

Test(kernels_rnn, a_sequence_cut_anywhere_leaves_the_same_bits_in_the_state)
{
    const size_t pieces[] = {1, 5, 8, 63, 70};
    for (int type = 0; type < 2; type++) {
        struct problem p = cell_of((struct sizes){1, 150, 150, 20, 35});
        p.state = p.scaled_rows = true;
        struct inputs in = inputs_of(&p, type ? TARN_FLOAT64 : TARN_FLOAT32, false);
        ask_oracle(&p, &in);
        const struct tarn_ladder *ladder = LADDERS(rnn).of[type];
        struct results whole = run_rung(&p, &in, &ladder->rungs[0]);
        for (int i = 0; i < 5 * ladder->count; i++) {
            const struct tarn_rung *rung = &ladder->rungs[i / 5];
            struct results r = run_in_pieces(&p, &in, rung, pieces[i % 5]);
            cr_assert_eq(largest_difference(ctx, r.S, whole.S), 0, "%s", rung->name);
            cr_assert_eq(largest_difference(ctx, r.z, whole.z), 0, "%s", rung->name);
            expect_oracle(&r, &in,
                          (struct claim){"rnn in pieces", rung->name, "",
                                         tolerance(&p, &in, rung->name), p.n});
            free_results(&r);
        }
        free_results(&whole);
        free_inputs(&in);
    }
}

/* One more than 32 bits count: a grid of what is left of it would do a part of the work. */
Test(kernels_rnn, heads_that_no_grid_holds_are_refused)
{
    expect_too_large(LADDERS(rnn), ((size_t)1 << 32) + 1, 1);
    expect_too_large(LADDERS(rnn_grad), ((size_t)1 << 32) + 1, 1);
}
