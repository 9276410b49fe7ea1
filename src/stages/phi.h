/* phi.h: stage 0, feature maps on rows of one type. Internal; chapter 2. */
#ifndef TARN_STAGES_PHI_H
#define TARN_STAGES_PHI_H

#include <stddef.h>

/* The built-in maps, in the order of the table in src/phi.c. */
enum tarn_phi_id {
    TARN_PHI_ELU1,
    TARN_PHI_RELU,
    TARN_PHI_RELU2,
    TARN_PHI_EXP,
    TARN_PHI_IDENTITY,
    TARN_PHI_SOFTPLUS,
    TARN_PHI_POLY2,
    TARN_PHI_COUNT,
    TARN_PHI_NONE = TARN_PHI_COUNT /* q and k are features already */
};

/* Operations on R rows of width D; features have the map's width C. The plain pair is phi
 * as it is written; the scaled pair divides the features of each row by a scale of the
 * row, which cancels in the attention formula as long as eps is divided too. */
struct tarn_phi_rows {
    void (*apply)(int id, size_t R, size_t D, const void *x, void *f);
    void (*grad)(int id, size_t R, size_t D, const void *x, const void *df, void *dx);

    /* Also writes each row's pivot (from which the scale follows) and its eps. */
    void (*apply_scaled)(int id, size_t R, size_t D, const void *x, double eps, void *f,
                         void *pivot, void *eps_row);
    /* df is the gradient of the scaled features, dx that of x: the scale is a constant. */
    void (*grad_scaled)(int id, size_t R, size_t D, const void *x, const void *pivot,
                        const void *df, void *dx);

    /* The same for ready features of a user's map, in place: the pivot is the scale. */
    void (*scale)(size_t R, size_t C, double eps, void *f, void *pivot, void *eps_row);
    void (*unscale)(size_t R, size_t C, const void *pivot, void *df);
};

extern const struct tarn_phi_rows tarn_phi_rows_f32, tarn_phi_rows_f64;

#endif
