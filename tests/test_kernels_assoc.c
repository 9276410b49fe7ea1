/* test_kernels_assoc.c: every rung of assoc and its gradient on the emulated device against the
 * oracle. */
#include "kernels.h"

TestSuite(kernels_assoc, .init = open, .fini = close);

Test(kernels_assoc, each_rung_gives_the_oracles_output_and_gradients)
{
    for (int i = 0; i < AWKWARD; i++) {
        struct problem p = problem_of(awkward[i]);
        p.scaled_rows = i % 2;
        check_outputs(&p, LADDERS(assoc), "assoc");
        check_gradients(&p, LADDERS(assoc_grad), "assoc_grad");
    }
}

Test(kernels_assoc, keys_past_the_length_do_not_exist_and_may_be_NaN)
{
    const int64_t lengths[] = {40, 0, 50};
    struct problem p = problem_of((struct sizes){3, 67, 70, 5, 9});
    p.options.lengths = lengths, p.options.lengths_count = 3;
    check_gradients(&p, LADDERS(assoc_grad), "assoc_grad with lengths");
    p.sound = 50;
    check_outputs(&p, LADDERS(assoc), "assoc with lengths");
}

/* Terms that are all the same are rounded the same way, and a plain sum drifts. */
static void all_alike(const struct problem *p, struct inputs *in)
{
    (void)p;
    OK(tarn_fill(ctx, in->k, 0.1));
    OK(tarn_fill(ctx, in->v, 0.7));
}

static void look_at_drift(const struct problem *p, const struct inputs *in,
                          const struct results *r, const char *rung)
{
    (void)p;
    const int bits = bits_of_factors(rung);
    const double eps = in->dtype == TARN_FLOAT32 ? (double)FLT_EPSILON : DBL_EPSILON;
    const double error = fabs(flat(r->out, 0) / flat(in->v, 0) - 1);
    cr_assert(error <= (bits ? ldexp(2, -bits) : 16 * eps), "%s errs by %.3g eps", rung,
              error / eps);
}

/* More than one square a piece, and many pieces. */
Test(kernels_assoc, sums_over_many_keys_are_as_good_as_over_few)
{
    struct problem p = problem_of((struct sizes){1, 3, 40000, 2, 3});
    p.change = all_alike, p.options.eps = 0;
    check_ladders(&p, LADDERS(assoc), "assoc of many keys", false, look_at_drift);
}

Test(kernels_assoc, gradients_go_through_many_queries)
{
    struct problem p = problem_of((struct sizes){1, 5000, 3, 2, 3});
    check_gradients(&p, LADDERS(assoc_grad), "assoc_grad of many queries");
}

/* A query whose features are all 0 meets no key; without eps it gets 0, and gives nothing. */
static void no_features(const struct problem *p, struct inputs *in)
{
    tarn_tensor *first = NULL;
    OK(tarn_narrow(ctx, in->q, 2, 0, p->n.N_q / 2, 1, &first));
    OK(tarn_fill(ctx, first, 0));
    tarn_tensor_free(first);
}

Test(kernels_assoc, a_query_without_features_gets_0)
{
    struct problem p = problem_of((struct sizes){2, 20, 30, 5, 4});
    p.options.eps = 0, p.change = no_features;
    check_outputs(&p, LADDERS(assoc), "assoc without features");
    check_gradients(&p, LADDERS(assoc_grad), "assoc_grad without features");
}

Test(kernels_assoc, more_blocks_than_a_grid_has_are_refused)
{
    expect_too_large(LADDERS(assoc), (size_t)1 << 33, 1);
    expect_too_large(LADDERS(assoc_grad), (size_t)1 << 33, 1);
}
