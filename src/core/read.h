/* read.h: a tensor from a source of any format that tarn reads. Internal. */
#ifndef TARN_READ_H
#define TARN_READ_H

#include "core/source.h"

/* Tells by the first bytes what the source holds, and reads it. */
tarn_status tarn_read_source(tarn_context *ctx, struct tarn_source *source,
                             tarn_tensor **out);

#endif
