/* forms.h: what the kernels of a form are called with, and the table of them. Internal;
 * chapter 11.
 *
 * On a device one call does all heads: a grid of blocks, not a loop. Pointers are addresses of
 * the device; arrays are row-major and contiguous,
 *
 *     q [heads, N_q, C]   k [heads, N, C]   v [heads, N, M]   out [heads, N_q, M]
 *     S [heads, C, M]     z [heads, C]      weights [heads, N_q, N]
 *
 * with the letters of src/stages/attn.h. q and k are ready features, as for the stages. */
#ifndef TARN_FORMS_H
#define TARN_FORMS_H

#include "tarn.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tarn_span {
    tarn_context *ctx; /* for messages and the interrupt flag */
    size_t heads, N_q, N, C, M;
    const void *q, *k, *v;
    void *out;
    const int64_t *lengths; /* [heads] keys that exist, or NULL: all N */

    tarn_similarity by; /* sim: softmax, rbf, or phi: features */
    double scale;
    bool causal;
    size_t past;   /* causal: keys that came before query 0 */
    void *weights; /* or NULL */

    double eps;
    const void *eps_row; /* [heads, N_q]: eps under the scale of each row, or NULL */

    /* Causal forms: the state before and after, two levels as in src/stages/sums.h. */
    void *S, *z, *S_part, *z_part;
    size_t
        count; /* tokens in the partial sums, at the start and, when it is done, the end */

    /* Gradients. */
    const void *dout, *dS, *dz; /* dS, dz may be NULL */
    void *dq, *dk, *dv, *dS0, *dz0;

    void *work; /* as many bytes of the device as the rung asks for */
};

/* One rung of a ladder: an implementation, from the obvious kernel to the best. */
struct tarn_rung {
    const char *name; /* "k1", "k2", ..: also what opt.impl says; "tf32": precision */
    tarn_status (*run)(struct tarn_span *s);
    size_t (*work)(const struct tarn_span *s); /* bytes; NULL: none */
};

/* The rungs of one form, the default last but for those that have to be asked for. */
struct tarn_ladder {
    const struct tarn_rung *rungs;
    int count;
    int best; /* position of the default */
};

/* Everything the kernels do, for one element type on one device. */
struct tarn_kernels {
    const struct tarn_ladder *sim, *sim_grad, *assoc, *assoc_grad, *prefix,
        *prefix_grad, *rnn, *rnn_grad;
};

#ifdef __cplusplus
}
#endif
#endif
