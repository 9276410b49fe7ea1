/* test_equiv.c: every form against the oracle, on awkward shapes and inputs. */
#include "comparison.h"

TestSuite(equiv, .init = open, .fini = close);

/* ---- The same answer everywhere -------------------------------------------------------- */

/* Around the sizes of a block (64) and a chunk, and D and M on both sides of each other. */
static const size_t lengths_to_try[] = {0, 1, 2, 63, 64, 65, 130};
static const size_t widths_to_try[][2] = {{1, 1}, {3, 5}, {9, 2}};

/* Ordinary inputs, large ones, and q so far left that phi(q) is 0 in float32. exp_features
 * of k beyond 80 leave float32, and poly2 and relu2 need no large inputs. */
static const double inputs_to_try[][2] = {{1, 0}, {8, 0}, {1, -500}};

static void try_inputs(const char *name, size_t N, size_t D, size_t M)
{
    for (size_t f = 0; f < 3; f++) {
        make_inputs((struct sizes){N, N, D, M}, TARN_FLOAT32, inputs_to_try[f][0],
                    inputs_to_try[f][1]);
        run();
        expect_ok(name);
    }
}

static void try_sizes(const char *name)
{
    for (size_t n = 0; n < sizeof lengths_to_try / sizeof *lengths_to_try; n++)
        for (size_t d = 0; d < 3; d++)
            try_inputs(name, lengths_to_try[n], widths_to_try[d][0],
                       widths_to_try[d][1]);
}

//> region try_maps
static void try_maps(void)
{
    const tarn_phi *phi;
    for (size_t p = 0; (phi = tarn_phi_at(p)); p++) {
        options.attention.phi = phi;
        try_sizes(phi->name);
    }
}
//< region try_maps

Test(equiv, causal_forms_agree_for_every_map)
{
    try_maps();
}

//> region full_forms_agree
Test(equiv, full_forms_agree_for_every_map)
{
    options.attention.causal = false;
    try_maps();
}
//< region full_forms_agree

Test(equiv, gradients_agree_for_every_map)
{
    options.grad = true;
    for (int causal = 0; causal < 2; causal++) {
        options.attention.causal = causal;
        try_maps();
    }
}

Test(equiv, softmax_and_rbf_agree_with_their_gradients)
{
    options.grad = true;
    for (int causal = 0; causal < 2; causal++) {
        options.attention.causal = causal;
        options.attention.by = TARN_SOFTMAX;
        try_sizes("softmax");
        options.attention.by = TARN_RBF;
        try_sizes("rbf");
        options.attention.scale = 0.125;
        try_sizes("rbf with a scale");
        options.attention.scale = (double)NAN;
    }
}

Test(equiv, full_attention_takes_queries_and_keys_of_other_lengths_SHP_02)
{
    const struct sizes sizes[] = {{5, 3, 4, 2}, {1, 1000, 4, 2}, {1000, 1, 4, 2}};
    options.attention.causal = false;
    options.grad = true;
    for (size_t s = 0; s < 3; s++) {
        make_inputs(sizes[s], TARN_FLOAT64, 1, 0);
        run();
        expect_ok("N' != N");
    }
}

Test(equiv, keys_beyond_the_length_do_not_exist)
{
    const int64_t lengths[] = {70};
    options.attention.lengths = lengths;
    options.attention.lengths_count = 1;
    options.grad = true;
    for (int causal = 0; causal < 2; causal++) {
        options.attention.causal = causal;
        make_inputs((struct sizes){130, 130, 4, 3}, TARN_FLOAT32, 1, 0);
        run();
        expect_ok("lengths");
        cr_assert_eq(report.count, causal ? 16 : 32, "%zu rows", report.count);
    }
}

Test(equiv, forms_agree_from_a_state_on_and_in_its_gradient)
{
    const tarn_phi *phi;
    options.grad = true;
    for (size_t p = 0; (phi = tarn_phi_at(p)); p++) {
        for (size_t n = 0; n < sizeof lengths_to_try / sizeof *lengths_to_try; n++) {
            options.attention.phi = phi;
            make_inputs((struct sizes){lengths_to_try[n], lengths_to_try[n], 3, 5},
                        TARN_FLOAT32, 1, 0);
            tarn_rnn *st = random_state(3, 5, TARN_FLOAT32);
            options.attention.state = st;
            run();
            expect_ok(phi->name);
            cr_assert_not_null(row_of("prefix", "dS0", TARN_FLOAT64));
            cr_assert_not_null(row_of("rnn", "dz0", TARN_FLOAT32));
            cr_assert_null(row_of("sim", "out", TARN_FLOAT32));
            tarn_rnn_free(st);
        }
    }
}

Test(equiv, what_arrives_at_the_final_state_reaches_keys_and_values)
{
    tarn_tensor *dS = normal(ctx, TARN_FLOAT32, 6, 3, (size_t[]){2, 3, 5}, 1);
    tarn_tensor *dz = normal(ctx, TARN_FLOAT32, 7, 2, (size_t[]){2, 3}, 1);
    options.grad = true;
    options.attention.dS = dS;
    options.attention.dz = dz;
    for (int with_state = 0; with_state < 2; with_state++) {
        make_inputs((struct sizes){100, 100, 3, 5}, TARN_FLOAT32, 1, 0);
        tarn_rnn *st = with_state ? random_state(3, 5, TARN_FLOAT64) : NULL;
        options.attention.state = st;
        run();
        expect_ok("dS and dz");
        tarn_rnn_free(st);
    }
    tarn_tensor_free(dS);
    tarn_tensor_free(dz);
}

/* Views are handed to the forms as they are. */
Test(equiv, inputs_may_be_views_of_any_layout)
{
    tarn_tensor *wide = normal(ctx, TARN_FLOAT32, 1, 3, (size_t[]){7, 130, 2}, 1);
    tarn_tensor *tall = normal(ctx, TARN_FLOAT32, 2, 3, (size_t[]){2, 261, 9}, 1),
                *rows;
    OK(tarn_permute(ctx, wide, (int[]){2, 1, 0}, &q));
    OK(tarn_narrow(ctx, tall, 1, 260, 130, -2, &rows));
    OK(tarn_narrow(ctx, rows, 2, 1, 7, 1, &k));
    OK(tarn_expand(ctx, wide, 3, (size_t[]){7, 130, 2}, &v));
    tarn_tensor_free(v);
    OK(tarn_narrow(ctx, tall, 1, 0, 130, 1, &v));
    options.grad = true;
    run();
    expect_ok("views");
    tarn_tensor_free(wide);
    tarn_tensor_free(tall);
    tarn_tensor_free(rows);
}

/* The claim of the whole: in float64 the forms are the same function to 12 digits. */
Test(equiv, float64_forms_agree_within_1e_12_at_N_4096)
{
    make_inputs((struct sizes){4096, 4096, 64, 64}, TARN_FLOAT64, 1, 0);
    options.float32 = false;
    run();
    expect_ok("N = 4096");
    for (size_t r = 0; r < report.count; r++)
        cr_assert_leq(report.rows[r].max_rel, 1e-12);
    options.attention.causal = false;
    run();
    expect_ok("N = 4096, full");
    for (size_t r = 0; r < report.count; r++)
        cr_assert_leq(report.rows[r].max_rel, 1e-12);
}
