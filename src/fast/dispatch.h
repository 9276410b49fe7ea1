/* dispatch.h: which of the tuned operations this processor can run. Internal. */
#ifndef TARN_DISPATCH_H
#define TARN_DISPATCH_H

#include "stages/attn.h"

/* The instruction set in use: "baseline", "x86-64-v3" or "x86-64-v4". It is the best that
 * compiler and processor both know, or the one that TARN_ISA in the environment names.
 * Chosen once. */
const char *tarn_fast_isa(void);

/* "" or, where TARN_ISA names none that can run here, a sentence that says so. */
const char *tarn_fast_problem(void);

/* Its operations. */
const struct tarn_operations *tarn_fast_operations(tarn_dtype dtype);

#endif
