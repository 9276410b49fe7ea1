/* peak.c: multiply-adds that nothing holds up. Compiled like src/fast, for each element type
 * and instruction set: the ceiling under which the operations of that variant stand.
 *
 * A multiply-add takes about four cycles and two begin in each, so at least eight have to be
 * under way; ACCUMULATORS and the two constants fit into the 16 registers that all variants
 * have. What is summed stays near 1: numbers that are denormal or infinite can be slower. */
#include "bench/peak.h"
#include "fast/vec.h"

enum { ACCUMULATORS = 12 };

/* The result has to be wanted by somebody, lest the compiler leave the loop out. */
static volatile real wanted;

double FAST(tarn_peak)(size_t rounds)
{
    const vec factor = splat((real)0.5), addend = splat((real)0.5);
    vec sum[ACCUMULATORS];
    UNROLL
    for (int i = 0; i < ACCUMULATORS; i++) sum[i] = splat((real)i);
    for (size_t round = 0; round < rounds; round++) {
        UNROLL
        for (int i = 0; i < ACCUMULATORS; i++) sum[i] = sum[i] * factor + addend;
    }
    vec all = sum[0];
    UNROLL
    for (int i = 1; i < ACCUMULATORS; i++) all += sum[i];
    wanted = sum_of(all);
    return 2.0 * (double)rounds * ACCUMULATORS * LANES;
}
