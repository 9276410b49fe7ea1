/* oracle.h: what attention should give, as the double sum of eq 3 in float64. Internal;
 * chapter 8 (one answer, many forms).
 *
 * - Slow on purpose, O(N^2), and sharing no code with the stages: not even phi.
 * - Each number comes with its magnitude, the sum of the absolute terms it was made of.
 *   A form that computes in another order may differ by some roundings of that sum, not
 *   of the number itself, which is small where terms cancel.
 * - Features are kept as f exp(shift) with one shift a row, and a similarity as m exp(l),
 *   so that nothing overflows, or underflows to 0/0, for q of any size. */
#ifndef TARN_ORACLE_H
#define TARN_ORACLE_H

#include "core/tensor.h"

/* One problem. Tensors of ranks 2 to 4 and of any type; they are read in float64. */
struct tarn_oracle_problem {
    const char *function; /* for messages */
    const tarn_tensor *q, *k, *v;
    const tarn_options
        *options;               /* by, phi, pair, eps, scale, causal, lengths, dS, dz */
    size_t past;                /* causal: keys before query 0; then N = past + N' */
    const tarn_tensor *S0, *z0; /* by phi: the state before key 1, or NULL */
    const tarn_tensor *dout;    /* NULL: no gradients */
};

/* A float64 tensor and the magnitude of each of its elements. */
struct tarn_oracle_sum {
    tarn_tensor *value, *magnitude;
};

struct tarn_oracle {
    struct tarn_oracle_sum out;
    struct tarn_oracle_sum dq, dk, dv; /* with dout */
    struct tarn_oracle_sum dS0, dz0;   /* with dout and S0 */
    size_t features;                   /* C */
    double exponent;                   /* largest |x| of which an exp was taken */
};

/* Works a problem out. `oracle` is written only on success.
 * Errors: TARN_ESHAPE, TARN_EINVAL (lengths, a gradient that does not exist), TARN_EUSER. */
tarn_status tarn_oracle_run(tarn_context *ctx,
                            const struct tarn_oracle_problem *problem,
                            struct tarn_oracle *oracle);
void tarn_oracle_free(struct tarn_oracle *oracle);

#endif
