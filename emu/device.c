/* device.c: the emulated device as a device of tarn's. Chapter 11.
 *
 * Its kernels are there twice, plain and instrumented; where accesses are checked or counted,
 * it is the instrumented ones that run. */
#include "core/device.h"
#include "cuda/forms.h"
#include "emu/inside.h"
#include <stdlib.h>
#include <string.h>

extern const struct tarn_device_forms tarn_emu_forms_f32, tarn_emu_forms_f64;
extern const struct tarn_device_forms tarn_checked_forms_f32, tarn_checked_forms_f64;
tarn_status tarn_emu_run_pass(tarn_context *ctx, const struct tarn_pass *pass);
tarn_status tarn_checked_run_pass(tarn_context *ctx, const struct tarn_pass *pass);

static bool watched(void)
{
    return tarn_emu_settings.check || tarn_emu_profiling();
}

static tarn_status run_pass(tarn_context *ctx, const struct tarn_pass *pass)
{
    return watched() ? tarn_checked_run_pass(ctx, pass) : tarn_emu_run_pass(ctx, pass);
}

static const char *why_not(void)
{
    return "";
}

/* The number in "sm_80". */
static int kind(void)
{
    return atoi(tarn_emu_settings.gpu + strlen("sm_"));
}

static tarn_status copy(tarn_context *ctx, void *to, const void *from, size_t bytes,
                        enum tarn_direction direction)
{
    (void)ctx, (void)direction;
    tarn_emu_copy(to, from, bytes);
    return TARN_OK;
}

/* A launch has ended when it returns. */
static tarn_status finish(tarn_context *ctx)
{
    (void)ctx;
    return TARN_OK;
}

static const struct tarn_device_forms *forms(tarn_dtype dtype)
{
    if (watched())
        return dtype == TARN_FLOAT32 ? &tarn_checked_forms_f32
                                     : &tarn_checked_forms_f64;
    return dtype == TARN_FLOAT32 ? &tarn_emu_forms_f32 : &tarn_emu_forms_f64;
}

const struct tarn_device tarn_emu_device = {
    .name = "emu",
    .why_not = why_not,
    .kind = kind,
    .alloc = tarn_emu_alloc,
    .free = tarn_emu_free,
    .copy = copy,
    .pass = run_pass,
    .finish = finish,
    .forms = forms,
};
