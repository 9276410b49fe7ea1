/* phi.c: the feature maps as people see them: names, properties, use on a tensor.
 *
 * The formulas are in stages/phi.c, one function each. Chapter 2. */
#include "core/parallel.h"
#include "core/tensor.h"
#include "backend.h"
#include "stage0.h"
#include "stages/phi.h"
#include <string.h>

static const tarn_phi table[TARN_PHI_COUNT] = {
    [TARN_PHI_ELU1] = {.builtin = TARN_PHI_ELU1,
                       .name = "elu1",
                       .equation = "x + 1 if x > 0, exp(x) otherwise",
                       .width = "D",
                       .positivity = "positive",
                       .derivative = "1 if x > 0, exp(x) otherwise"},
    [TARN_PHI_RELU] = {.builtin = TARN_PHI_RELU,
                       .name = "relu",
                       .equation = "max(x, 0)",
                       .width = "D",
                       .positivity = "non-negative",
                       .derivative = "1 if x > 0, 0 otherwise"},
    [TARN_PHI_RELU2] = {.builtin = TARN_PHI_RELU2,
                        .name = "relu2",
                        .equation = "max(x, 0)^2",
                        .width = "D",
                        .positivity = "non-negative",
                        .derivative = "2 max(x, 0)"},
    [TARN_PHI_EXP] = {.builtin = TARN_PHI_EXP,
                      .name = "exp_features",
                      .equation = "exp(x)",
                      .width = "D",
                      .positivity = "positive",
                      .derivative = "exp(x)"},
    [TARN_PHI_IDENTITY] = {.builtin = TARN_PHI_IDENTITY,
                           .name = "identity",
                           .equation = "x",
                           .width = "D",
                           .positivity = "any sign",
                           .derivative = "1"},
    [TARN_PHI_SOFTPLUS] = {.builtin = TARN_PHI_SOFTPLUS,
                           .name = "softplus",
                           .equation = "log(1 + exp(x))",
                           .width = "D",
                           .positivity = "positive",
                           .derivative = "1 / (1 + exp(-x))"},
    [TARN_PHI_POLY2] = {.builtin = TARN_PHI_POLY2,
                        .name = "poly2",
                        .equation = "x_i^2, and sqrt(2) x_i x_j for i < j",
                        .width = "D (D + 1) / 2",
                        .positivity = "any sign, phi(q).phi(k) = (q.k)^2",
                        .derivative = "2 x_i, and sqrt(2) x_j, sqrt(2) x_i"},
};

const tarn_phi *tarn_phi_at(size_t position)
{
    return position < TARN_PHI_COUNT ? &table[position] : NULL;
}

const tarn_phi *tarn_phi_find(const char *name)
{
    for (size_t i = 0; i < TARN_PHI_COUNT; i++)
        if (strcmp(table[i].name, name) == 0) return &table[i];
    return NULL;
}

/* The feature map of eq 7 where none is named. */
static const tarn_phi *or_default(const tarn_phi *phi)
{
    return phi ? phi : &table[TARN_PHI_ELU1];
}

/* Takes a tensor [.., D] apart into contiguous rows; `owned` is to be freed. */
static tarn_status rows_from(tarn_context *ctx, const char *function,
                             const char *argument, const tarn_tensor *t,
                             tarn_dtype dtype, tarn_tensor **owned,
                             struct tarn_rows *rows)
{
    const int rank = tarn_tensor_rank(t);
    if (rank == 0 || tarn_tensor_shape(t)[rank - 1] == 0)
        return tarn_fail(ctx, TARN_ESHAPE, "%s: %s is %s, expected [.., D] with D >= 1",
                         function, argument, tarn_shape_text(t).text);
    tarn_status status = tarn_as(ctx, t, dtype, owned);
    if (status) return status;
    const size_t D = tarn_tensor_shape(t)[rank - 1];
    *rows = (struct tarn_rows){dtype, tarn_tensor_numel(t) / D, D,
                               tarn_tensor_data(*owned), tarn_device_of(*owned)};
    return TARN_OK;
}

/* A fresh tensor shaped like t but for its last extent. */
static tarn_status new_like(tarn_context *ctx, const tarn_tensor *t, tarn_dtype dtype,
                            size_t last, tarn_tensor **out)
{
    size_t shape[TARN_MAX_RANK];
    const int rank = tarn_tensor_rank(t);
    memcpy(shape, tarn_tensor_shape(t), (size_t)rank * sizeof shape[0]);
    shape[rank - 1] = last;
    return tarn_tensor_new_on(ctx, tarn_device_of(t), dtype, rank, shape, out);
}

/* ---- A built-in map that works entry by entry, tuned -------------------------------------- */

struct entries {
    void (*features)(int id, size_t n, const void *x, void *f);
    int id;
    size_t count, size; /* entries, and bytes of one */
    const char *x;
    char *f;
};

enum { ENTRIES = 1 << 15 }; /* of a block: short enough to be interrupted */

static tarn_status apply_entries(void *data, size_t block)
{
    const struct entries *e = data;
    const size_t first = block * ENTRIES, left = e->count - first;
    e->features(e->id, left < ENTRIES ? left : ENTRIES, e->x + first * e->size,
                e->f + first * e->size);
    return TARN_OK;
}

static tarn_status apply_tuned(tarn_context *ctx, const tarn_phi *phi,
                               const struct tarn_rows *rows, tarn_tensor *out)
{
    const struct tarn_operations *fast;
    tarn_status status = tarn_backend_operations(ctx, "phi", NULL, rows->dtype, &fast);
    if (status) return status;
    struct entries e = {.features = fast->features,
                        .id = phi->builtin,
                        .count = rows->R * rows->D,
                        .size = tarn_dtype_size(rows->dtype),
                        .x = rows->x,
                        .f = tarn_tensor_data(out)};
    const size_t blocks = e.count / ENTRIES + (e.count % ENTRIES != 0);
    return tarn_parallel(ctx, "phi", blocks, apply_entries, &e);
}

tarn_status tarn_phi_apply(tarn_context *ctx, const tarn_phi *phi, const tarn_tensor *x,
                           tarn_tensor **out)
{
    tarn_tensor *owned = NULL, *result = NULL;
    struct tarn_rows rows;
    struct tarn_features f = {0};
    phi = or_default(phi);
    const bool tuned =
        !phi->apply && phi->builtin != TARN_PHI_POLY2 && !tarn_device_of(x);
    tarn_status status =
        rows_from(ctx, "phi", "x", x, tarn_tensor_dtype(x), &owned, &rows);
    if (!status && !tuned)
        status = tarn_features_make(ctx, "phi", phi, rows, false, 0, &f);
    if (!status) status = new_like(ctx, x, rows.dtype, tuned ? rows.D : f.C, &result);
    if (!status && tuned) status = apply_tuned(ctx, phi, &rows, result);
    if (!status && !tuned) status = tarn_features_read(ctx, rows, &f, result);
    tarn_features_free(&f);
    tarn_tensor_free(owned);
    return tarn_deliver(status, result, out);
}

/* dout must be x's shape but for the last extent, the width C of the features. */
static tarn_status check_dout(tarn_context *ctx, const tarn_tensor *x,
                              const tarn_tensor *dout, size_t C)
{
    size_t shape[TARN_MAX_RANK];
    const int rank = tarn_tensor_rank(x);
    memcpy(shape, tarn_tensor_shape(x), (size_t)rank * sizeof shape[0]);
    shape[rank - 1] = C;
    if (tarn_tensor_rank(dout) == rank &&
        memcmp(tarn_tensor_shape(dout), shape, (size_t)rank * sizeof shape[0]) == 0)
        return TARN_OK;
    return tarn_fail(ctx, TARN_ESHAPE,
                     "phi: dout is %s, expected [.., C] = %s to match x %s",
                     tarn_shape_text(dout).text, tarn_extents_text(rank, shape).text,
                     tarn_shape_text(x).text);
}

tarn_status tarn_phi_grad(tarn_context *ctx, const tarn_phi *phi, const tarn_tensor *x,
                          const tarn_tensor *dout, tarn_tensor **dx)
{
    const tarn_dtype dtype =
        tarn_tensor_dtype(x) == TARN_FLOAT64 ? TARN_FLOAT64 : tarn_tensor_dtype(dout);
    tarn_tensor *owned = NULL, *df = NULL, *result = NULL;
    struct tarn_rows rows;
    struct tarn_features f = {0};
    tarn_status status = rows_from(ctx, "phi", "x", x, dtype, &owned, &rows);
    if (!status)
        status = tarn_features_width(ctx, "phi", or_default(phi), rows.device, dtype,
                                     rows.D, &f.C);
    if (!status) status = check_dout(ctx, x, dout, f.C);
    if (!status) status = tarn_clone(ctx, dout, dtype, &df);
    if (!status) status = new_like(ctx, x, dtype, rows.D, &result);
    if (!status)
        status = tarn_features_grad(ctx, "phi", or_default(phi), rows, &f,
                                    tarn_tensor_data(df), tarn_tensor_data(result));
    if (!status) *dx = result;
    if (status) tarn_tensor_free(result);
    tarn_tensor_free(owned);
    tarn_tensor_free(df);
    return status;
}
