/* stage0.h: stage 0 around the stages: from rows of q and k to features. Internal. */
#ifndef TARN_STAGE0_H
#define TARN_STAGE0_H

#include "core/device.h"

/* Features of R rows; memory that may be used again for other rows. */
struct tarn_features {
    size_t C;        /* their width */
    void *f;         /* [R, C] */
    void *pivot;     /* [R]: the scale of each row, if scaled */
    void *eps_row;   /* [R]: eps under that scale, if scaled; else NULL */
    size_t bytes[3]; /* what f, pivot and eps_row have room for */
    const struct tarn_device *device; /* where they lie; NULL: on the host */
    tarn_context *ctx;                /* that counts them */
};

/* The rows that a feature map is applied to: contiguous [R, D]. */
struct tarn_rows {
    tarn_dtype dtype;
    size_t R, D;
    const void *x;
    const struct tarn_device *device; /* where they lie; NULL: on the host */
};

/* The width of the features of a map: by its formula, or for a user's map by trying it on
 * one row of zeros. */
tarn_status tarn_features_width(tarn_context *ctx, const char *function,
                                const tarn_phi *phi, const struct tarn_device *device,
                                tarn_dtype dtype, size_t D, size_t *C);

/* phi of each row; `scaled`: each divided by a scale of its own, eps with it. */
tarn_status tarn_features_make(tarn_context *ctx, const char *function,
                               const tarn_phi *phi, struct tarn_rows rows, bool scaled,
                               double eps, struct tarn_features *features);

/* From the gradient df [R, C] of those features (which it may overwrite) to dx [R, D]. */
tarn_status tarn_features_grad(tarn_context *ctx, const char *function,
                               const tarn_phi *phi, struct tarn_rows rows,
                               const struct tarn_features *features, void *df,
                               void *dx);

/* Copies the features of some rows into a contiguous tensor, which lies where they do. */
tarn_status tarn_features_read(tarn_context *ctx, struct tarn_rows rows,
                               const struct tarn_features *features, tarn_tensor *to);

void tarn_features_free(struct tarn_features *features);

#endif
