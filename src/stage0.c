/* stage0.c: stage 0 around the stages. Chapter 2.
 *
 * The formulas are in stages/phi.c, their names in phi.c. Here: blocks of rows spread over
 * the threads, and the user's own maps, which are functions on tensors. */
#include "stage0.h"
#include "core/parallel.h"
#include "core/tensor.h"
#include "cuda/forms.h"
#include "stages/phi.h"
#include <string.h>

static bool is_builtin(const tarn_phi *phi)
{
    return !phi->apply;
}
static int id_of(const tarn_phi *phi)
{
    return phi->builtin;
}

static const struct tarn_phi_rows *rows_of(tarn_dtype dtype)
{
    return dtype == TARN_FLOAT32 ? &tarn_phi_rows_f32 : &tarn_phi_rows_f64;
}

/* ---- Memory -------------------------------------------------------------------------- */

static void *obtain(tarn_context *ctx, const struct tarn_device *device, size_t bytes)
{
    return device ? tarn_device_alloc(ctx, device, bytes) : tarn_alloc(ctx, bytes, 1);
}

static void put_away(const struct tarn_features *f, void *memory, size_t bytes)
{
    if (f->device)
        tarn_device_release(f->ctx, f->device, memory, bytes);
    else
        tarn_release(memory);
}

/* Makes room for count elements, keeping what is there if it is enough. */
static tarn_status reserve(const struct tarn_features *f, void **memory, size_t *bytes,
                           size_t rows, size_t width, size_t size)
{
    tarn_context *ctx = f->ctx;
    size_t count, needed;
    if (!tarn_product(rows, width, &count) || !tarn_product(count, size, &needed))
        return tarn_fail(ctx, TARN_ENOMEM,
                         "%zu rows of %zu features do not fit in memory", rows, width);
    if (*memory && *bytes >= needed) return TARN_OK;
    void *fresh = obtain(ctx, f->device, needed);
    if (!fresh) return TARN_ENOMEM;
    put_away(f, *memory, *bytes);
    *memory = fresh;
    *bytes = needed;
    return TARN_OK;
}

static tarn_status reserve_all(tarn_context *ctx, struct tarn_rows rows, bool scaled,
                               struct tarn_features *f)
{
    size_t size = tarn_dtype_size(rows.dtype);
    f->ctx = ctx, f->device = rows.device;
    tarn_status status = reserve(f, &f->f, &f->bytes[0], rows.R, f->C, size);
    if (!status && scaled)
        status = reserve(f, &f->pivot, &f->bytes[1], rows.R, 1, size);
    if (!status && scaled)
        status = reserve(f, &f->eps_row, &f->bytes[2], rows.R, 1, size);
    return status;
}

void tarn_features_free(struct tarn_features *features)
{
    put_away(features, features->f, features->bytes[0]);
    put_away(features, features->pivot, features->bytes[1]);
    put_away(features, features->eps_row, features->bytes[2]);
    *features = (struct tarn_features){0};
}

/* ---- Built-in maps, a block of rows at a time ----------------------------------------- */

struct block_job {
    const tarn_context *ctx;
    const tarn_phi *phi;
    struct tarn_rows rows;
    size_t block; /* rows in a block */
    bool scaled;
    double eps;
    const struct tarn_features *features;
    void *df, *dx; /* gradient only */
};

static size_t rows_in_block(const struct block_job *job, size_t first)
{
    return job->rows.R - first < job->block ? job->rows.R - first : job->block;
}

static void *at(const struct block_job *job, const void *base, size_t element)
{
    return (char *)(uintptr_t)base + element * tarn_dtype_size(job->rows.dtype);
}

static tarn_status apply_block(void *data, size_t b)
{
    const struct block_job *job = data;
    if (tarn_interrupted(job->ctx)) return TARN_EINTR;
    const struct tarn_phi_rows *ops = rows_of(job->rows.dtype);
    const size_t first = b * job->block, R = rows_in_block(job, first), D = job->rows.D;
    const void *x = at(job, job->rows.x, first * D);
    void *f = at(job, job->features->f, first * job->features->C);
    if (job->scaled)
        ops->apply_scaled(id_of(job->phi), R, D, x, job->eps, f,
                          at(job, job->features->pivot, first),
                          at(job, job->features->eps_row, first));
    else
        ops->apply(id_of(job->phi), R, D, x, f);
    return TARN_OK;
}

static tarn_status grad_block(void *data, size_t b)
{
    const struct block_job *job = data;
    if (tarn_interrupted(job->ctx)) return TARN_EINTR;
    const struct tarn_phi_rows *ops = rows_of(job->rows.dtype);
    const size_t first = b * job->block, R = rows_in_block(job, first), D = job->rows.D;
    const void *x = at(job, job->rows.x, first * D);
    const void *df = at(job, job->df, first * job->features->C);
    void *dx = at(job, job->dx, first * D);
    if (job->scaled)
        ops->grad_scaled(id_of(job->phi), R, D, x, at(job, job->features->pivot, first),
                         df, dx);
    else
        ops->grad(id_of(job->phi), R, D, x, df, dx);
    return TARN_OK;
}

/* Blocks of about 2^15 features: short enough to be interrupted. Few of them, as in a step
 * of the cell, are done before another thread has woken up. */
static tarn_status run_blocks(tarn_context *ctx, const char *function,
                              struct block_job *job,
                              tarn_status (*body)(void *, size_t))
{
    enum { BLOCK = 1 << 15, FEW = 8 };
    job->block = 1 + BLOCK / job->features->C;
    const size_t blocks = (job->rows.R + job->block - 1) / job->block;
    if (blocks >= FEW) return tarn_parallel(ctx, function, blocks, body, job);
    tarn_status status = TARN_OK;
    for (size_t b = 0; b < blocks && !status; b++) {
        status = tarn_poll(ctx, function);
        if (!status) status = body(job, b);
    }
    return status;
}

/* ---- Built-in maps on a device, all rows at once --------------------------------------- */

static const struct tarn_device_phi *phi_of(struct tarn_rows rows)
{
    return rows.device->forms(rows.dtype)->phi;
}

/* An interrupt is told in the name of the function, not of the kernel. */
static tarn_status by_name(tarn_context *ctx, const char *function, tarn_status status)
{
    return status == TARN_EINTR ? tarn_poll(ctx, function) : status;
}

static tarn_status make_on_device(tarn_context *ctx, const tarn_phi *phi,
                                  struct tarn_rows rows, bool scaled, double eps,
                                  const struct tarn_features *f)
{
    const struct tarn_device_phi *ops = phi_of(rows);
    if (rows.R == 0) return TARN_OK;
    return scaled ? ops->apply_scaled(ctx, id_of(phi), rows.R, rows.D, rows.x, eps,
                                      f->f, f->pivot, f->eps_row)
                  : ops->apply(ctx, id_of(phi), rows.R, rows.D, rows.x, f->f);
}

static tarn_status grad_on_device(tarn_context *ctx, const tarn_phi *phi,
                                  struct tarn_rows rows, const struct tarn_features *f,
                                  const void *df, void *dx)
{
    const struct tarn_device_phi *ops = phi_of(rows);
    if (rows.R == 0) return TARN_OK;
    return f->eps_row ? ops->grad_scaled(ctx, id_of(phi), rows.R, rows.D, rows.x,
                                         f->pivot, df, dx)
                      : ops->grad(ctx, id_of(phi), rows.R, rows.D, rows.x, df, dx);
}

/* ---- The user's maps -------------------------------------------------------------------- */

/* Copies R rows of a width to where they lie already: host or device. */
static tarn_status copy_rows(tarn_context *ctx, struct tarn_rows rows, size_t width,
                             const void *from, void *to)
{
    const size_t bytes = rows.R * width * tarn_dtype_size(rows.dtype);
    if (bytes == 0) return TARN_OK;
    if (rows.device) return rows.device->copy(ctx, to, from, bytes, TARN_WITHIN_DEVICE);
    memcpy(to, from, bytes);
    return TARN_OK;
}

/* As many rows of x as a fresh tensor [R, width]: what the user's function gets is his own. */
static tarn_status rows_tensor(tarn_context *ctx, struct tarn_rows rows, size_t width,
                               const void *x, tarn_tensor **out)
{
    tarn_status status = tarn_tensor_new_on(ctx, rows.device, rows.dtype, 2,
                                            (size_t[]){rows.R, width}, out);
    return status ? status : copy_rows(ctx, rows, width, x, tarn_tensor_data(*out));
}

/* Divides each row of a user's features by its largest; the pivot is what it was. */
static tarn_status scale_rows(tarn_context *ctx, struct tarn_rows rows, double eps,
                              const struct tarn_features *f)
{
    if (rows.device)
        return rows.R == 0 ? TARN_OK
                           : phi_of(rows)->scale(ctx, rows.R, f->C, eps, f->f, f->pivot,
                                                 f->eps_row);
    rows_of(rows.dtype)->scale(rows.R, f->C, eps, f->f, f->pivot, f->eps_row);
    return TARN_OK;
}

static tarn_status unscale_rows(tarn_context *ctx, struct tarn_rows rows,
                                const struct tarn_features *f, void *df)
{
    if (rows.device)
        return rows.R == 0 ? TARN_OK
                           : phi_of(rows)->unscale(ctx, rows.R, f->C, f->pivot, df);
    rows_of(rows.dtype)->unscale(rows.R, f->C, f->pivot, df);
    return TARN_OK;
}

/* Checks what a user's function gave and brings it into our type: [R, width], where a
 * width of 0 stands for any. */
static tarn_status checked_rows(tarn_context *ctx, const char *function,
                                const char *what, tarn_tensor *got, struct tarn_rows of,
                                size_t width, tarn_tensor **rows)
{
    const size_t R = of.R;
    if (tarn_device_of(got) != of.device)
        return tarn_fail(ctx, TARN_EDEVICE, "%s: %s gave a tensor on %s, expected %s",
                         function, what, tarn_tensor_device(got),
                         tarn_device_name(of.device));
    const bool fits =
        tarn_tensor_rank(got) == 2 && tarn_tensor_shape(got)[0] == R &&
        (width ? tarn_tensor_shape(got)[1] == width : tarn_tensor_shape(got)[1] > 0);
    if (!fits && width)
        return tarn_fail(ctx, TARN_ESHAPE, "%s: %s gave %s, expected [%zu, %zu]",
                         function, what, tarn_shape_text(got).text, R, width);
    if (!fits)
        return tarn_fail(
            ctx, TARN_ESHAPE,
            "%s: %s gave %s, expected [rows, C] with rows = %zu and C >= 1", function,
            what, tarn_shape_text(got).text, R);
    return tarn_as(ctx, got, of.dtype, rows);
}

/* phi of rows by the user's function, as a contiguous tensor [R, C] of our type. */
static tarn_status user_features(tarn_context *ctx, const char *function,
                                 const tarn_phi *phi, struct tarn_rows rows,
                                 tarn_tensor **features)
{
    tarn_tensor *x = NULL, *got = NULL;
    tarn_status status = rows_tensor(ctx, rows, rows.D, rows.x, &x);
    if (!status) status = phi->apply(ctx, phi->user, x, &got);
    if (!status) status = checked_rows(ctx, function, "phi", got, rows, 0, features);
    tarn_tensor_free(x);
    tarn_tensor_free(got);
    return status;
}

static tarn_status user_make(tarn_context *ctx, const char *function,
                             const tarn_phi *phi, struct tarn_rows rows, bool scaled,
                             double eps, struct tarn_features *f)
{
    tarn_tensor *features = NULL;
    tarn_status status = user_features(ctx, function, phi, rows, &features);
    if (status) return status;
    f->C = tarn_tensor_shape(features)[1];
    status = reserve_all(ctx, rows, scaled, f);
    if (!status) status = copy_rows(ctx, rows, f->C, tarn_tensor_data(features), f->f);
    if (!status && scaled) status = scale_rows(ctx, rows, eps, f);
    tarn_tensor_free(features);
    return status;
}

static tarn_status user_grad(tarn_context *ctx, const char *function,
                             const tarn_phi *phi, struct tarn_rows rows,
                             const struct tarn_features *f, void *df, void *dx)
{
    if (!phi->grad)
        return tarn_fail(ctx, TARN_EINVAL,
                         "%s: phi is a function without a derivative, expected "
                         "{apply=function(t), grad=function(t, dfeatures)}",
                         function);
    tarn_tensor *x = NULL, *d = NULL, *got = NULL, *result = NULL;
    tarn_status status = f->eps_row ? unscale_rows(ctx, rows, f, df) : TARN_OK;
    if (!status) status = rows_tensor(ctx, rows, rows.D, rows.x, &x);
    if (!status) status = rows_tensor(ctx, rows, f->C, df, &d);
    if (!status) status = phi->grad(ctx, phi->user, x, d, &got);
    if (!status)
        status = checked_rows(ctx, function, "phi's grad", got, rows, rows.D, &result);
    if (!status) status = copy_rows(ctx, rows, rows.D, tarn_tensor_data(result), dx);
    tarn_tensor_free(x);
    tarn_tensor_free(d);
    tarn_tensor_free(got);
    tarn_tensor_free(result);
    return status;
}

/* ---- Both kinds --------------------------------------------------------------------------- */

tarn_status tarn_features_width(tarn_context *ctx, const char *function,
                                const tarn_phi *phi, const struct tarn_device *device,
                                tarn_dtype dtype, size_t D, size_t *C)
{
    if (is_builtin(phi)) {
        *C = D;
        if (id_of(phi) != TARN_PHI_POLY2) return TARN_OK;
        if (tarn_product(D, D + 1, C)) {
            *C /= 2;
            return TARN_OK;
        }
        return tarn_fail(ctx, TARN_ENOMEM, "%s: poly2 of D = %zu has too many features",
                         function, D);
    }
    tarn_tensor *zero = NULL, *features = NULL;
    tarn_status status =
        tarn_tensor_new_on(ctx, device, dtype, 2, (size_t[]){1, D}, &zero);
    if (!status) status = tarn_fill(ctx, zero, 0);
    struct tarn_rows row = {dtype, 1, D, zero ? tarn_tensor_data(zero) : NULL, device};
    if (!status) status = user_features(ctx, function, phi, row, &features);
    if (!status) *C = tarn_tensor_shape(features)[1];
    tarn_tensor_free(zero);
    tarn_tensor_free(features);
    return status;
}

tarn_status tarn_features_make(tarn_context *ctx, const char *function,
                               const tarn_phi *phi, struct tarn_rows rows, bool scaled,
                               double eps, struct tarn_features *features)
{
    if (!is_builtin(phi))
        return user_make(ctx, function, phi, rows, scaled, eps, features);
    tarn_status status = tarn_features_width(ctx, function, phi, rows.device,
                                             rows.dtype, rows.D, &features->C);
    if (!status) status = reserve_all(ctx, rows, scaled, features);
    struct block_job job = {.ctx = ctx,
                            .phi = phi,
                            .rows = rows,
                            .scaled = scaled,
                            .eps = eps,
                            .features = features};
    if (!status && rows.device)
        return by_name(ctx, function,
                       make_on_device(ctx, phi, rows, scaled, eps, features));
    return status ? status : run_blocks(ctx, function, &job, apply_block);
}

tarn_status tarn_features_grad(tarn_context *ctx, const char *function,
                               const tarn_phi *phi, struct tarn_rows rows,
                               const struct tarn_features *features, void *df, void *dx)
{
    if (!is_builtin(phi)) return user_grad(ctx, function, phi, rows, features, df, dx);
    if (rows.device)
        return by_name(ctx, function, grad_on_device(ctx, phi, rows, features, df, dx));
    struct block_job job = {.ctx = ctx,
                            .phi = phi,
                            .rows = rows,
                            .scaled = features->eps_row != NULL,
                            .features = features,
                            .df = df,
                            .dx = dx};
    return run_blocks(ctx, function, &job, grad_block);
}

tarn_status tarn_features_read(tarn_context *ctx, struct tarn_rows rows,
                               const struct tarn_features *features, tarn_tensor *to)
{
    return copy_rows(ctx, rows, features->C, features->f, tarn_tensor_data(to));
}
