/* attn.h: what every implementation of every form of attention takes. Internal.
 *
 * Stage code sees ONE HEAD: contiguous rows of one type, features already made (stage 0),
 * the carried state, and nothing of strides, batches, threads or checks. Those live in
 * the wrapper, src/attend.c. So the code of a stage looks like its equation.
 *
 * Letters as in the paper; arrays are row-major and their element type is that of the
 * table of operations they are handed to (real = float or double):
 *
 *     q [N_q, C]  k [N, C]  v [N, M]  out [N_q, M]     S [C, M]  z [C]
 *
 * In sim with softmax, rbf or a pair function q and k are not features and C = D. */
#ifndef TARN_ATTN_H
#define TARN_ATTN_H

#include "core/context.h"

/* How many tokens are summed before the partial sum is added to the total: the block of
 * the two-level sums, so that float32 errors grow with N / 64 and not with N. */
enum { TARN_BLOCK = 64 };

/* A running state in two levels: the total up to the last flush, and what came since.
 * `count` tokens are in the partial sums, 0 <= count < TARN_BLOCK between tokens. */
struct tarn_sums {
    void *S, *z;           /* [C, M], [C] totals */
    void *S_part, *z_part; /* [C, M], [C] since the last flush */
    size_t count;
    bool sound; /* known to be finite: what comes out of a step tells */
};

struct tarn_attn {
    tarn_context *ctx; /* only for the interrupt flag and for pair functions */

    size_t N_q, N; /* queries, keys (after lengths have been applied) */
    size_t C, M;   /* width of features (or of q, k), of values */
    const void *q, *k, *v;
    void *out;

    int phi; /* the map that a fused form applies to q and k; TARN_PHI_NONE: features */
    size_t part, parts; /* the share of the head that is to be done, of how many */
    bool suspect; /* set by forms that look: something that is not finite was written */

    tarn_similarity by; /* sim */
    double scale;       /* sim */
    bool causal;        /* sim */
    size_t past;        /* causal: keys that came before query 0, as in a cache */
    tarn_status (*pair)(void *pair_data, size_t i, size_t j, double *similarity);
    void *pair_data;
    void *weights;         /* [N_q, weights_stride] or NULL */
    size_t weights_stride; /* N before lengths have been applied */

    double eps;          /* what the naive loops add */
    const void *eps_row; /* [N_q]: eps under the scale of each row of q, or NULL */

    struct tarn_sums *state; /* causal forms: in and out, never NULL there */
    size_t chunk;            /* prefix: L */
    void *work;              /* scratch of the size that the operation's table tells */

    /* Gradients: of the output (in), of q, k, v (out), of the final state (in, NULL is 0)
     * and of the initial state (out, NULL if nobody asks). `out` is not used then. */
    const void *dout;
    void *dq, *dk, *dv;
    const void *dS, *dz;
    void *dS0, *dz0;
};

/* One form, forward or gradient, the scratch memory it needs, in elements, its arithmetic
 * (flops.h), and into how many parts a head can be divided (NULL: it can't).
 * `naive` is the loop one reads first: plain running sums; `accurate` the one for use. */
struct tarn_form {
    tarn_status (*naive)(struct tarn_attn *a);
    tarn_status (*accurate)(struct tarn_attn *a);
    size_t (*work)(const struct tarn_attn *a);
    double (*flops)(const struct tarn_attn *a);
    size_t (*parts)(const struct tarn_attn *a);
    /* One token of each of so many heads, whose q, k, v, out and states follow one another.
     * It leaves state->sound true if it has seen that state and outputs are finite. NULL:
     * heads are stepped one by one. */
    tarn_status (*step)(struct tarn_attn *a, size_t heads);
    size_t ladder; /* forms of devices, which have none of these: see on_device.h */
    bool fused;    /* it applies built-in maps itself, poly2 apart */
    bool
        looks; /* it looks at what it writes, while that is in the cache: see suspect */
};

/* Everything one backend does, for one element type. */
struct tarn_operations {
    const struct tarn_form *sim, *sim_grad;
    const struct tarn_form *assoc, *assoc_grad;
    const struct tarn_form *prefix[3]; /* by tarn_method */
    const struct tarn_form *prefix_grad;
    const struct tarn_form *rnn, *rnn_grad; /* rnn: N steps, 1 for a single one */
    /* phi of n entries by a built-in map that works entry by entry; NULL: src/stages has it */
    void (*features)(int id, size_t n, const void *x, void *f);
};

#endif
