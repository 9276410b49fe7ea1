/* tensor.h: the inside of a tensor, and the helpers that every operation needs.
 * Internal.
 *
 * A tensor is a small header over shared storage:
 *
 *     element [i, j, ..]  lies at  data + i stride[0] + j stride[1] + ..
 *
 * with strides counted in elements; they may be 0 (an expanded dimension) or
 * negative. */
#ifndef TARN_TENSOR_H
#define TARN_TENSOR_H

#include "context.h"
#include "device.h"
#include <stdalign.h>

/* Reference-counted memory; the last tensor that leaves frees it. */
struct tarn_storage {
    atomic_size_t references;
    const struct tarn_device *device; /* NULL: the elements are in memory[] */
    void *remote;                     /* the device's memory */
    size_t bytes;                     /* how much of it */
    tarn_context *ctx;                /* that counts it */
    alignas(64) unsigned char memory[];
};

struct tarn_tensor {
    tarn_dtype dtype;
    int rank;
    size_t shape[TARN_MAX_RANK];
    ptrdiff_t stride[TARN_MAX_RANK];
    void *
        data; /* first element, somewhere inside the storage; may be a device's address */
    struct tarn_storage *storage;
};

/* tarn_tensor_new on a device; NULL: on the host. */
tarn_status tarn_tensor_new_on(tarn_context *ctx, const struct tarn_device *device,
                               tarn_dtype dtype, int rank, const size_t *shape,
                               tarn_tensor **out);

/* Where t lies; NULL: on the host. */
const struct tarn_device *tarn_device_of(const tarn_tensor *t);

/* The number of elements of a shape. Fails for ranks above TARN_MAX_RANK, and if the
 * extents (0 counted as 1) multiply to more than a ptrdiff_t: with that no stride and
 * no offset inside a tensor can overflow. */
tarn_status tarn_shape_count(tarn_context *ctx, const char *function, int rank,
                             const size_t *shape, size_t *count);

/* Fails unless dim is one of t's dimensions. */
tarn_status tarn_check_dim(tarn_context *ctx, const char *function,
                           const tarn_tensor *t, int dim);

/* The address of the element that lies `offset` elements after the first. */
void *tarn_at(const tarn_tensor *t, ptrdiff_t offset);

/* Row-major strides of a shape. */
void tarn_row_major(int rank, const size_t *shape, ptrdiff_t *stride);

/* The type in which float32 and float64 meet. */
tarn_dtype tarn_promote(tarn_dtype a, tarn_dtype b);

/* Bytes of one element. */
size_t tarn_dtype_size(tarn_dtype dtype);
const char *tarn_dtype_name(tarn_dtype dtype);

/* A shape in words, "[16, 64]", to be used inside one call: tarn_shape_text(t).text */
struct tarn_text {
    char text[TARN_MAX_RANK * 22 + 4];
};
struct tarn_text tarn_extents_text(int rank, const size_t *shape);
struct tarn_text tarn_shape_text(const tarn_tensor *t);

/* A second header over the same storage, to be changed into a view by the caller. */
tarn_status tarn_view_new(tarn_context *ctx, const tarn_tensor *t, tarn_tensor **out);

/* The same with a header on the caller's stack, which takes no memory: t may be freed
 * while it is used. It ends with tarn_let_go, not with tarn_tensor_free. */
tarn_tensor tarn_hold(const tarn_tensor *t);
void tarn_let_go(const tarn_tensor *held);

/* Hands a fresh tensor out, or frees it if `status`, which is returned, is an error. */
tarn_status tarn_deliver(tarn_status status, tarn_tensor *fresh, tarn_tensor **out);

/* The shape that two shapes broadcast to; TARN_ESHAPE names `function` and both. */
tarn_status tarn_broadcast(tarn_context *ctx, const char *function, int rank_a,
                           const size_t *shape_a, int rank_b, const size_t *shape_b,
                           int *rank, size_t *shape);

/* Strides of t as seen under a shape that it broadcasts to (0 where it repeats). */
void tarn_broadcast_strides(const tarn_tensor *t, int rank, const size_t *shape,
                            ptrdiff_t *stride);

/* t itself in dtype and contiguous if it is already (another handle), else a copy. */
tarn_status tarn_as(tarn_context *ctx, const tarn_tensor *t, tarn_dtype dtype,
                    tarn_tensor **out);

#endif
