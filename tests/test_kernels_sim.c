/* test_kernels_sim.c: every rung of sim and its gradient on the emulated device against the oracle. */
#include "kernels.h"

TestSuite(kernels_sim, .init = open, .fini = close);

static const tarn_similarity all_similarities[] = {TARN_SOFTMAX, TARN_RBF, TARN_PHI};
enum { SIMILARITIES = 3 };

Test(kernels_sim, each_rung_gives_the_oracles_output_and_gradients)
{
    for (int i = 0; i < AWKWARD; i++)
        for (int by = 0; by < SIMILARITIES; by++) {
            struct problem p = problem_of(awkward[i]);
            p.options.by = all_similarities[by];
            check_outputs(&p, LADDERS(sim), "sim");
            if ((i + by) % 2) check_gradients(&p, LADDERS(sim_grad), "sim_grad");
        }
}

Test(kernels_sim, each_rung_masks_what_a_query_must_not_see)
{
    for (int i = 0; i < AWKWARD; i++)
        for (int by = 0; by < SIMILARITIES; by++) {
            struct problem p = problem_of(awkward[i]);
            if ((i + by) % 2) continue; /* every size and similarity has its turn */
            p.options.by = all_similarities[by], p.options.causal = true;
            p.past = (size_t)by * 33;
            p.n.N = p.past + p.n.N_q;
            check_outputs(&p, LADDERS(sim), "sim causal");
            check_gradients(&p, LADDERS(sim_grad), "sim_grad causal");
        }
}

/* The weights of a row are what the output is made of. */
static void look_at_weights(const struct problem *p, const struct inputs *in,
                            const struct results *r, const char *rung)
{
    tarn_tensor *product = NULL;
    OK(tarn_mm(ctx, r->weights, in->v, &product));
    const double eps = in->dtype == TARN_FLOAT32 ? (double)FLT_EPSILON : DBL_EPSILON;
    const double bound = has_tensor_cores(rung) ? 0.01 : 64 * eps;
    cr_assert_leq(largest_difference(ctx, r->out, product), bound);
    tarn_tensor_free(product);
    for (size_t pair = 0; pair < tarn_tensor_numel(r->weights); pair++) {
        const size_t row = pair / p->n.N, i = row % p->n.N_q, j = pair % p->n.N;
        size_t seen = (size_t)p->options.lengths[row / p->n.N_q];
        if (p->options.causal && seen > p->past + i + 1) seen = p->past + i + 1;
        if (j >= seen) cr_assert_eq(flat(r->weights, pair), 0);
    }
}

Test(kernels_sim, weights_are_of_the_keys_that_exist_and_are_seen)
{
    const int64_t lengths[] = {40, 0, 70};
    for (int causal = 0; causal < 2; causal++)
        for (int by = 0; by < SIMILARITIES; by++) {
            struct problem p = problem_of((struct sizes){3, 67, 70, 5, 9});
            p.options.by = all_similarities[by], p.options.causal = causal;
            p.options.lengths = lengths, p.options.lengths_count = 3;
            p.past = 3;
            check_gradients(&p, LADDERS(sim_grad), "sim_grad with lengths");
            p.weights = true;
            check_ladders(&p, LADDERS(sim), "sim with lengths", false, look_at_weights);
        }
}

/* Scores of some hundreds: an exp of any of them is Inf or 0. The largest comes late, so the
 * sums so far are rescaled. */
Test(kernels_sim, scores_of_any_size_neither_overflow_nor_vanish)
{
    for (int by = 0; by < 2; by++) {
        struct problem p = problem_of((struct sizes){1, 35, 300, 20, 6});
        p.options.by = all_similarities[by], p.options.eps = 0;
        p.factor = 12;
        check_outputs(&p, LADDERS(sim), "sim of large scores");
        check_gradients(&p, LADDERS(sim_grad), "sim_grad of large scores");
    }
}

Test(kernels_sim, rows_of_features_may_be_scaled_and_the_scale_given)
{
    struct problem p = problem_of((struct sizes){2, 20, 80, 7, 5});
    p.scaled_rows = true, p.options.scale = 0.3;
    check_outputs(&p, LADDERS(sim), "sim of scaled rows");
    check_gradients(&p, LADDERS(sim_grad), "sim_grad of scaled rows");
    p.scaled_rows = false, p.options.by = TARN_RBF;
    check_outputs(&p, LADDERS(sim), "rbf with a scale");
    check_gradients(&p, LADDERS(sim_grad), "rbf's gradient with a scale");
}

/* A value that is NaN spoils the queries that see it and no others, though they share a square
 * with it; neither do keys that do not exist. */
Test(kernels_sim, what_is_not_seen_may_be_NaN)
{
    const int64_t lengths[] = {50};
    for (int by = 0; by < SIMILARITIES; by++) {
        struct problem p = problem_of((struct sizes){1, 70, 70, 5, 9});
        p.options.by = all_similarities[by], p.sound = 50;
        p.options.causal = true;
        check_outputs(&p, LADDERS(sim), "sim, NaN in the future");
        check_gradients(&p, LADDERS(sim_grad), "sim_grad, NaN in the future");
        p.options.causal = false;
        p.options.lengths = lengths, p.options.lengths_count = 1;
        check_outputs(&p, LADDERS(sim), "sim, NaN past the length");
        if (by !=
            2) /* the oracle's dk goes on through phi, and phi of NaN has no slope */
            check_gradients(&p, LADDERS(sim_grad), "sim_grad, NaN past the length");
    }
}

/* SHP: heads are counted by grid.x, whose limit is 2^31 - 1 blocks, not 65,535. */
Test(kernels_sim, there_may_be_many_heads_and_not_too_many_blocks)
{
    struct problem p = problem_of((struct sizes){65537, 1, 1, 1, 1});
    p.once = true; /* and k1 only, whose blocks are small */
    const struct tarn_ladder k1[] = {{tarn_emu_sim_f32.rungs, 1, 0},
                                     {tarn_emu_sim_f64.rungs, 1, 0}};
    check_outputs(&p, (struct ladders){{&k1[0], &k1[1]}}, "sim of many heads");
    expect_too_large(LADDERS(sim), (size_t)1 << 33, 1);
    expect_too_large(LADDERS(sim_grad), (size_t)1 << 33, 1);
}

/* Tensor cores round what they multiply: who asks for them must get them. */
Test(kernels_sim, tensor_cores_have_fewer_digits)
{
    struct problem p = problem_of((struct sizes){1, 64, 64, 64, 64});
    struct inputs in = inputs_of(&p, TARN_FLOAT32, false);
    const struct tarn_rung *rungs = tarn_emu_sim_f32.rungs;
    struct results plain = run_rung(&p, &in, &rungs[1]),
                   tf32 = run_rung(&p, &in, &rungs[2]),
                   bf16 = run_rung(&p, &in, &rungs[3]);
    cr_assert_str_eq(rungs[2].name, "tf32");
    cr_assert_str_eq(rungs[3].name, "bf16");
    cr_assert_eq(tarn_emu_sim_f32.best, 1);
    cr_assert_gt(largest_difference(ctx, plain.out, tf32.out), 1e-5);
    cr_assert_gt(largest_difference(ctx, plain.out, bf16.out), 1e-4);
    free_results(&plain);
    free_results(&tf32);
    free_results(&bf16);
    free_inputs(&in);
}
