/* kernels.h: the inner loops of the operations on tensors, by element type. Internal.
 *
 * kernels.c, folds.c and tile.c are compiled for float and for double; each of them
 * exports one table. Operand 0 of a stretch is the output. */
#ifndef TARN_KERNELS_H
#define TARN_KERNELS_H

#include "core/walk.h"

/* ---- kernels.c: element by element ----------------------------------------------- */

struct tarn_kernels {
    tarn_kernel *to[2]; /* by tarn_dtype: copies and converts to that type */
    tarn_kernel *unary[TARN_ELU + 1];
    tarn_kernel *binary[TARN_GE + 1];
    tarn_kernel *where; /* out, mask, a, b */
};

/* ---- folds.c: along one dimension ------------------------------------------------ */

/* Outputs that are folded side by side, so that both directions of a matrix are read in
 * the order of memory; and rows between two looks at the interrupt flag. */
enum { TARN_COLUMNS = 64, TARN_ROWS = 1 << 16 };

/* n rows to be folded, for each of at most TARN_COLUMNS columns; steps in elements. */
struct tarn_slab {
    void *at;
    size_t n, columns;
    ptrdiff_t step, across; /* from row to row, from column to column */
};

struct tarn_folds {
    /* By tarn_reduce_op: one result for each column, for mean the sum. `place` gets the
     * row of argmax and argmin, whose value is in `value`; max, min: n > 0. */
    void (*fold[TARN_NORM + 1])(const struct tarn_slab *in, double *value,
                                size_t *place);
    /* Partial sums; `sum` holds what came before the slab, and after it. */
    void (*cumsum)(const struct tarn_slab *in, const struct tarn_slab *out,
                   double *sum);
    /* out = exp(in - max), and adds it to `sum`; then out = out / sum. */
    void (*exponentials)(const struct tarn_slab *in, const struct tarn_slab *out,
                         const double *max, double *sum);
    void (*divide)(const struct tarn_slab *out, double *sum);
};

/* ---- tile.c: matrix products ----------------------------------------------------- */

/* A piece of a product: out [n, m] = a [n, k] b [k, m], n at most TARN_TILE_ROWS, any
 * strides, out's columns adjacent. */
enum { TARN_TILE_ROWS = 64 };
struct tarn_product_of {
    size_t n, k, m;
    const void *a, *b;
    void *out;
    ptrdiff_t a_row, a_column, b_row, b_column, out_row;
};

struct tarn_tiles {
    tarn_status (*multiply)(const tarn_context *ctx, const struct tarn_product_of *p);
};

extern const struct tarn_kernels tarn_kernels_f32, tarn_kernels_f64;
extern const struct tarn_folds tarn_folds_f32, tarn_folds_f64;
extern const struct tarn_tiles tarn_tiles_f32, tarn_tiles_f64;

static inline const struct tarn_kernels *tarn_kernels_of(tarn_dtype dtype)
{
    return dtype == TARN_FLOAT32 ? &tarn_kernels_f32 : &tarn_kernels_f64;
}

/* device.c: the walk on its device, which has a kernel of its own for each of these. */
tarn_status tarn_device_pass(tarn_context *ctx, const char *function,
                             const struct tarn_walk *walk, tarn_kernel *kernel);

static inline const struct tarn_folds *tarn_folds_of(tarn_dtype dtype)
{
    return dtype == TARN_FLOAT32 ? &tarn_folds_f32 : &tarn_folds_f64;
}

static inline const struct tarn_tiles *tarn_tiles_of(tarn_dtype dtype)
{
    return dtype == TARN_FLOAT32 ? &tarn_tiles_f32 : &tarn_tiles_f64;
}

#endif
