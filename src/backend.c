/* backend.c: the table of backends, and the choice among them. */
#include "backend.h"
#include "devices.h"
#include "fast/dispatch.h"
#include "on_device.h"
#include "stages/stages.h"
#include <string.h>

static const struct tarn_operations plain_f32 = {
    .sim = &tarn_sim_f32,
    .sim_grad = &tarn_sim_grad_f32,
    .assoc = &tarn_assoc_f32,
    .assoc_grad = &tarn_assoc_grad_f32,
    .prefix = {[TARN_CHUNKED] = &tarn_prefix_chunked_f32,
               [TARN_SEQUENTIAL] = &tarn_prefix_sequential_f32,
               [TARN_SCAN] = &tarn_prefix_scan_f32},
    .prefix_grad = &tarn_prefix_grad_f32,
    .rnn = &tarn_rnn_f32,
    .rnn_grad = &tarn_rnn_grad_f32,
};

static const struct tarn_operations plain_f64 = {
    .sim = &tarn_sim_f64,
    .sim_grad = &tarn_sim_grad_f64,
    .assoc = &tarn_assoc_f64,
    .assoc_grad = &tarn_assoc_grad_f64,
    .prefix = {[TARN_CHUNKED] = &tarn_prefix_chunked_f64,
               [TARN_SEQUENTIAL] = &tarn_prefix_sequential_f64,
               [TARN_SCAN] = &tarn_prefix_scan_f64},
    .prefix_grad = &tarn_prefix_grad_f64,
    .rnn = &tarn_rnn_f64,
    .rnn_grad = &tarn_rnn_grad_f64,
};

static const struct tarn_operations *plain(tarn_dtype dtype)
{
    return dtype == TARN_FLOAT32 ? &plain_f32 : &plain_f64;
}

static const char *baseline(void)
{
    return "baseline";
}

static const char *no_problem(void)
{
    return "";
}

static const char *no_isa(void)
{
    return "";
}

static const char *emu_problem(void)
{
    return tarn_device_why_not("emu");
}

static const char *cuda_problem(void)
{
    return tarn_device_why_not("cuda");
}

/* In order of preference on each device. */
static const struct backend {
    const char *name, *device;
    const struct tarn_operations *(*operations)(tarn_dtype dtype);
    const char *(*isa)(void);
    const char *(*problem)(void); /* why it can't be used, or "" */
} backends[] = {
    {"fast", "cpu", tarn_fast_operations, tarn_fast_isa, tarn_fast_problem},
    {"plain", "cpu", plain, baseline, no_problem},
    {"emu", "emu", tarn_device_operations, no_isa, emu_problem},
    {"cuda", "cuda", tarn_device_operations, no_isa, cuda_problem},
};

enum { BACKENDS = sizeof backends / sizeof backends[0] };

bool tarn_backend_at(size_t position, tarn_backend_info *info)
{
    if (position >= BACKENDS) return false;
    const struct backend *b = &backends[position];
    *info = (tarn_backend_info){.name = b->name,
                                .device = b->device,
                                .isa = b->isa(),
                                .compiled = tarn_device_compiled(b->device),
                                .usable = !*b->problem(),
                                .why_not = b->problem()};
    return true;
}

tarn_status tarn_backend_operations(tarn_context *ctx, const char *function,
                                    const char *impl, tarn_dtype dtype,
                                    const struct tarn_operations **operations)
{
    for (size_t i = 0; i < BACKENDS; i++) {
        if (strcmp(backends[i].device, "cpu") != 0) continue;
        if (impl && strcmp(impl, backends[i].name) != 0) continue;
        if (*backends[i].problem())
            return tarn_fail(ctx, TARN_EDEVICE, "%s: impl \"%s\" can't be used: %s",
                             function, backends[i].name, backends[i].problem());
        *operations = backends[i].operations(dtype);
        return TARN_OK;
    }
    return tarn_fail(ctx, TARN_EDEVICE,
                     "%s: impl is \"%s\", expected \"fast\" or \"plain\"", function,
                     impl);
}
