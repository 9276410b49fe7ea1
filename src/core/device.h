/* device.h: where tensors lie when they do not lie in the host's memory. Internal.
 *
 * A device is a table of functions: memory, copies, and a pass over elements, which is all
 * that the core asks for. The forms of attention are its own business (src/on_device.c). The
 * list of devices is in src/backend.c; a tensor of the host has device NULL. */
#ifndef TARN_DEVICE_H
#define TARN_DEVICE_H

#include "core/context.h"
#include "core/pass.h"

struct tarn_device_forms;

enum tarn_direction { TARN_TO_DEVICE, TARN_FROM_DEVICE, TARN_WITHIN_DEVICE };

struct tarn_device {
    const char *name;             /* as t.device says it: "emu", "cuda:0" */
    const char *(*why_not)(void); /* why it can't be used, "" if it can */
    int (*kind)(void);            /* which GPU it is: 75 for sm_75 */
    void *(*alloc)(size_t bytes); /* NULL: no memory; what is there is not set */
    void (*free)(void *memory);
    tarn_status (*copy)(tarn_context *ctx, void *to, const void *from, size_t bytes,
                        enum tarn_direction direction);
    tarn_status (*pass)(tarn_context *ctx, const struct tarn_pass *pass);
    tarn_status (*finish)(tarn_context *ctx); /* waits until the device is idle */
    const struct tarn_device_forms *(*forms)(tarn_dtype dtype);
};

/* Fails unless t lies in the host's memory: for operations that no device has. */
tarn_status tarn_on_host(tarn_context *ctx, const char *function, const tarn_tensor *t);

/* Memory of a device, counted like the host's. NULL: the message is set. */
void *tarn_device_alloc(tarn_context *ctx, const struct tarn_device *device,
                        size_t bytes);
void tarn_device_release(tarn_context *ctx, const struct tarn_device *device,
                         void *memory, size_t bytes);

/* What a device is called in messages; "cpu" for the host. */
const char *tarn_device_name(const struct tarn_device *device);

/* A contiguous copy of t on another device, or on the host (NULL). */
tarn_status tarn_move(tarn_context *ctx, const tarn_tensor *t,
                      const struct tarn_device *device, tarn_tensor **out);

/* t as contiguous rows on the host: another handle on t where it is that already. */
tarn_status tarn_host_rows(tarn_context *ctx, const tarn_tensor *t, tarn_tensor **out);

#endif
