/* test_kernels_prefix.c: every rung of prefix on the emulated device against the oracle. */
#include "kernels.h"

TestSuite(kernels_prefix, .init = open, .fini = close);

Test(kernels_prefix, each_rung_gives_the_oracles_output_in_any_order_of_threads)
{
    for (int i = 0; i < AWKWARD; i++) {
        struct problem p = problem_of(awkward[i]);
        p.n.N_q = p.n.N, p.options.causal = true;
        check_outputs(&p, LADDERS(prefix), "prefix");
        p.state = p.scaled_rows = true;
        check_outputs(&p, LADDERS(prefix), "prefix");
    }
}

Test(kernels_prefix, each_rung_gives_the_oracles_gradients_and_those_of_the_state)
{
    for (int i = 0; i < AWKWARD; i++) {
        struct problem p = problem_of(awkward[i]);
        p.n.N_q = p.n.N, p.options.causal = true;
        check_gradients(&p, LADDERS(prefix_grad), "prefix_grad");
        p.state = p.scaled_rows = true;
        check_gradients(&p, LADDERS(prefix_grad), "prefix_grad");
    }
}
