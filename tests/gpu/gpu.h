/* gpu.h: what the parts of check_gpu share; check_gpu.c says what the program is for. */
#ifndef TARN_TESTS_GPU_H
#define TARN_TESTS_GPU_H

#include "core/device.h"
#include "core/tensor.h"
#include "cuda/forms.h"
#include <stdio.h>

/* A form as users call it, and where a device has its ladders. */
struct form {
    const char *name;
    tarn_similarity by;
    bool causal, recurrent; /* recurrent: there may be a state before */
    size_t ladder, grad_ladder;
    tarn_status (*run)(tarn_context *ctx, const tarn_tensor *q, const tarn_tensor *k,
                       const tarn_tensor *v, const tarn_options *options,
                       tarn_tensor **out);
    tarn_status (*grad)(tarn_context *ctx, const tarn_tensor *q, const tarn_tensor *k,
                        const tarn_tensor *v, const tarn_tensor *dout,
                        const tarn_options *options, tarn_grads *grads);
};
extern const struct form gpu_forms[];
extern const size_t gpu_form_count;

/* The ladder of a form on a device; NULL: it has none. */
const struct tarn_ladder *gpu_ladder(const struct tarn_device *device, tarn_dtype dtype,
                                     const struct form *form, bool grad);

/* One rung over all problems: how its errors compare with what is allowed. */
struct compared {
    const struct form *form;
    bool grad;
    const char *rung;
    tarn_dtype dtype;
    size_t problems;
    double worst; /* largest error over its bound: at most 1 */
    double apart; /* largest distance from the emulated device over the same bound */
    char complaint[320]; /* "" or the first that went wrong */
};

/* One rung at one size. */
struct timed {
    const struct form *form;
    bool grad;
    const char *rung;
    tarn_dtype dtype;
    size_t heads, N, D;
    double seconds, floor; /* floor: inputs and outputs once, at the speed of a copy */
};

enum { GPU_ROWS = 1024 }; /* more than four times as many as there are */
struct gpu_results {
    const char *device, *name;
    struct compared compared[GPU_ROWS];
    struct timed timed[GPU_ROWS];
    size_t compared_count, timed_count;
    double copy;  /* bytes per second, read and written */
    double bound; /* factor of what is allowed: 1, or less to see something go wrong */
    bool ok;
};

/* Every rung against the oracle, and against the emulated device where `device` is another
 * one. An error is a broken test; what a kernel does wrong stands in the rows. */
tarn_status gpu_compare(tarn_context *ctx, const struct tarn_device *device, bool quick,
                        struct gpu_results *results);

/* Every rung at the sizes of a course, or with `quick` at small ones. */
tarn_status gpu_time(tarn_context *ctx, const struct tarn_device *device, bool quick,
                     struct gpu_results *results);

void gpu_print_table(const struct gpu_results *results, FILE *out);
void gpu_print_json(const struct gpu_results *results, FILE *out);

#endif
