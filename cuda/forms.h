/* forms.h: what the kernels of a form are called with, and the table of them. Internal;
 * chapter 11.
 *
 * On a device one call does all heads: a grid of blocks, not a loop. Pointers are addresses of
 * the device; arrays are row-major and contiguous,
 *
 *     q [heads, N_q, C]   k [heads, N, C]   v [heads, N, M]   out [heads, N_q, M]
 *     S [heads, C, M]     z [heads, C]      weights [heads, N_q, N]
 *
 * with the letters of src/stages/attn.h. q and k are ready features, as for the stages, but for
 * a rung that is fused, which makes them itself where it has them in shared memory. */
#ifndef TARN_CUDA_FORMS_H
#define TARN_CUDA_FORMS_H

#include "core/pass.h"

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

    int phi;     /* fused: the map of q and k, of enum tarn_phi_id; TARN_PHI_NONE: features */
    bool scaled; /* fused: rows of phi(q) are to be scaled, and eps with them */

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

/* Whether a rung is the one for a span. */
enum tarn_fit {
    TARN_FITS,
    TARN_NO_GAIN,  /* what it is good at is not asked of it: another is better */
    TARN_TOO_LARGE /* it has no room for these sizes */
};

/* One rung of a ladder: an implementation, from the obvious kernel to the best. Who runs it
 * asks tarn_rung_for first; where it does not fit, another of the same ladder runs. */
struct tarn_rung {
    const char *name; /* "k1", "k2", ..: also what opt.impl says; "tf32": precision */
    tarn_status (*run)(struct tarn_span *s);
    size_t (*work)(const struct tarn_span *s);       /* bytes; NULL: none */
    enum tarn_fit (*fit)(const struct tarn_span *s); /* NULL: always */
    const struct tarn_rung *instead; /* what runs where it does not fit */
    const char *limit;               /* what it is made for, in words: "C up to 64" */
    int least_gpu; /* 80: it needs what sm_80 and newer ones have; 0: nothing */
    bool fused;    /* it takes q and k as they are, and the map */
};

/* The rung that runs when this one is asked for. */
static inline const struct tarn_rung *tarn_rung_for(const struct tarn_rung *rung,
                                                    const struct tarn_span *s)
{
    while (rung->fit && rung->fit(s) != TARN_FITS) rung = rung->instead;
    return rung;
}

/* The rungs of one form, the default last but for those that have to be asked for. */
struct tarn_ladder {
    const struct tarn_rung *rungs;
    int count;
    int best; /* position of the default */
};

/* Stage 0: the operations of struct tarn_phi_rows (src/stages/phi.h) on R rows of the device.
 * `id` is one of enum tarn_phi_id. */
struct tarn_device_phi {
    tarn_status (*apply)(tarn_context *ctx, int id, size_t R, size_t D, const void *x,
                         void *f);
    tarn_status (*grad)(tarn_context *ctx, int id, size_t R, size_t D, const void *x,
                        const void *df, void *dx);
    tarn_status (*apply_scaled)(tarn_context *ctx, int id, size_t R, size_t D,
                                const void *x, double eps, void *f, void *pivot,
                                void *eps_row);
    tarn_status (*grad_scaled)(tarn_context *ctx, int id, size_t R, size_t D,
                               const void *x, const void *pivot, const void *df,
                               void *dx);
    tarn_status (*scale)(tarn_context *ctx, size_t R, size_t C, double eps, void *f,
                         void *pivot, void *eps_row);
    tarn_status (*unscale)(tarn_context *ctx, size_t R, size_t C, const void *pivot,
                           void *df);
};

/* Arrays of all heads, [heads, rows, width], in which numbers that are not finite are looked
 * for. */
enum { TARN_SEARCHED = 6 };
struct tarn_searched {
    const void *x;
    size_t rows, width;
    bool by_length; /* only as many rows of a head as it has keys */
};
struct tarn_search {
    size_t heads;
    const int64_t *lengths; /* [heads], or NULL */
    struct tarn_searched array[TARN_SEARCHED];
    int count;
    const int *only; /* [heads]: heads with 0 are passed over; NULL: none is */
    int *found;      /* [heads]: becomes 1 where there is one */
};

/* Everything the kernels do, for one element type on one device. */
struct tarn_device_forms {
    const struct tarn_ladder *sim, *sim_grad, *assoc, *assoc_grad, *prefix,
        *prefix_grad, *rnn, *rnn_grad;
    const struct tarn_device_phi *phi;
    tarn_status (*search)(tarn_context *ctx, const struct tarn_search *search);
};

#ifdef __cplusplus
}
#endif
#endif
