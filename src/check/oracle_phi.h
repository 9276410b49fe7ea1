/* oracle_phi.h: the oracle's own feature maps, on a wide scale. Internal; chapter 2. */
#ifndef TARN_ORACLE_PHI_H
#define TARN_ORACLE_PHI_H

#include "core/tensor.h"

/* R rows x of width D and what attention compares them by:
 *
 *     phi(x_r) = f_r exp(shift_r)         f [R, C]
 *
 * The shift is 0 for ordinary rows; only where phi would leave float64's range, or come
 * near it, it takes the row's size. Without a map (phi = NULL) f is x itself. */
struct tarn_oracle_rows {
    tarn_context *ctx;
    const tarn_phi *phi;
    const tarn_tensor *x; /* [R, D], float64, contiguous */
    size_t R, D, C;
    double *f, *shift;
    double exponent; /* largest |x| of which an exp was taken */
};

/* Makes the features; x must outlive the rows. Ended by tarn_oracle_rows_free. */
tarn_status tarn_oracle_features(tarn_context *ctx, const tarn_phi *phi,
                                 const tarn_tensor *x, struct tarn_oracle_rows *rows);
void tarn_oracle_rows_free(struct tarn_oracle_rows *rows);

/* dx_r = exp(-shift_r) J_r^T df_r with J_r the Jacobian of phi at x_r, or |J_r| where
 * magnitudes are carried back. */
tarn_status tarn_oracle_pull(const struct tarn_oracle_rows *rows, bool magnitudes,
                             const double *df, double *dx);

#endif
