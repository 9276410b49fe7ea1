/* devices.h: which devices there are beside the host. Internal. */
#ifndef TARN_DEVICES_H
#define TARN_DEVICES_H

#include "core/device.h"

/* Why a device can't be used, "" if it can: for who lists them. */
const char *tarn_device_why_not(const char *name);
bool tarn_device_compiled(const char *name);

/* The device of a name: "cpu" is NULL, "cuda" is "cuda:0". TARN_EDEVICE names what there is,
 * or why it can't be used. */
tarn_status tarn_find_device(tarn_context *ctx, const char *function, const char *name,
                             const struct tarn_device **device);

#endif
