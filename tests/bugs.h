/* bugs.h: the kernels of bugs.cu, each with one mistake, by name. */
#ifndef TARN_TESTS_BUGS_H
#define TARN_TESTS_BUGS_H

#include "tarn.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Device memory of one run: out is 0 in each element, fresh was never written. */
struct bug_memory {
    float *out, *fresh;
    float *host;
};
enum { BUG_FLOATS = 100, BUG_THREADS = 64 };

struct bug {
    const char *name;
    tarn_status (*run)(tarn_context *ctx, struct bug_memory m);
};

/* The same kernels plain and instrumented; they end with a name of NULL. */
#pragma GCC visibility push(default)
extern const struct bug tarn_emu_bugs_all[], tarn_checked_bugs_all[];
#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
