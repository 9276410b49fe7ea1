/* backend.h: which implementations of the stages there are. Internal.
 *
 * A backend is a table of the same operations, one for each element type. Today: fast
 * (src/fast) and plain (src/stages). A further one adds its two tables and a row in
 * backend.c. */
#ifndef TARN_BACKEND_H
#define TARN_BACKEND_H

#include "core/context.h"
#include "stages/attn.h"

/* The operations of the implementation named `impl` (NULL: the default of the CPU) for a
 * type; TARN_EDEVICE with the reason if it is not there. `function` is for the message. */
tarn_status tarn_backend_operations(tarn_context *ctx, const char *function,
                                    const char *impl, tarn_dtype dtype,
                                    const struct tarn_operations **operations);

#endif
