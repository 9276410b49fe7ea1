/* on_device.h: calls whose tensors lie on a device. Internal.
 *
 * A form of a device takes all heads at once and has a ladder of implementations
 * (cuda/forms.h). It is told of a call like any other form (struct tarn_form), whose field
 * `ladder` says where in the device's table its ladder stands. */
#ifndef TARN_ON_DEVICE_H
#define TARN_ON_DEVICE_H

#include "call.h"
#include "cuda/forms.h"

/* The name of a precision that only devices have, which is that of a rung too, or NULL. */
const char *tarn_device_precision(tarn_precision precision);

/* The operations of every device, for any element type. */
const struct tarn_operations *tarn_device_operations(tarn_dtype dtype);

/* Whether the rung that will run makes the features of q and k itself, by a map that works
 * entry by entry. */
bool tarn_device_fuses(const struct tarn_call *call, const struct tarn_form *form);

/* Runs a form of all heads where the call's tensors lie. options.impl names a rung ("k1");
 * without it the best one runs, with precision "tf32" or "bf16" the one for tensor cores.
 * Errors: TARN_EDEVICE (a form or rung that the device does not have, an error of a kernel),
 * TARN_ERANGE, without a message (finite inputs, results that are not), TARN_ENOMEM,
 * TARN_EINTR. */
tarn_status tarn_device_run(struct tarn_call *call, const struct tarn_form *form);

/* ---- Overflow: device_range.c ---------------------------------------------------------------- */

/* What is known about the heads of a call: where they had numbers that are not finite. */
struct tarn_guard {
    size_t heads;
    int *data; /* [2, heads] on the device: inputs, or the state before; then results */
    int *seen; /* the same on the host */
    bool sound; /* afterwards: the state is finite, with all results or by a search */
};

/* Around a form: opens before it, judges after it (TARN_ERANGE, without a message, if it
 * overflowed), and closes in any case. */
tarn_status tarn_guard_open(const struct tarn_call *call, const struct tarn_span *span,
                            struct tarn_guard *guard);
tarn_status tarn_guard_judge(const struct tarn_call *call, const struct tarn_span *span,
                             struct tarn_guard *guard);
void tarn_guard_close(const struct tarn_call *call, struct tarn_guard *guard);

#endif
