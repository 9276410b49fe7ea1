/* device.c: the emulated device as a device of tarn's. Chapter 11. */
#include "core/device.h"
#include "cuda/forms.h"
#include "emu/emu.h"

extern const struct tarn_device_forms tarn_emu_forms_f32, tarn_emu_forms_f64;
tarn_status tarn_emu_run_pass(tarn_context *ctx, const struct tarn_pass *pass);

static const char *why_not(void)
{
    return "";
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
    return dtype == TARN_FLOAT32 ? &tarn_emu_forms_f32 : &tarn_emu_forms_f64;
}

const struct tarn_device tarn_emu_device = {
    .name = "emu",
    .why_not = why_not,
    .alloc = tarn_emu_alloc,
    .free = tarn_emu_free,
    .copy = copy,
    .pass = tarn_emu_run_pass,
    .finish = finish,
    .forms = forms,
};
