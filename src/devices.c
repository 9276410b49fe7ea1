/* devices.c: the list of devices, and tensors between them. */
#include "devices.h"
#include "core/tensor.h"
#include <string.h>

#ifdef HAVE_EMU
extern const struct tarn_device tarn_emu_device;
#endif
#ifdef HAVE_CUDA
extern const struct tarn_device tarn_cuda_device;
#endif

/* A device by the name that users give, and why this build may not have it. */
static const struct known {
    const char *name;
    const struct tarn_device *device;
    const char *missing;
} known[] = {
#ifdef HAVE_EMU
    {"emu", &tarn_emu_device, ""},
#else
    {"emu", NULL, "built without a C++ compiler, or --without-emu"},
#endif
#ifdef HAVE_CUDA
    {"cuda", &tarn_cuda_device, ""},
#else
    {"cuda", NULL, "built without the CUDA toolkit; see configure --with-cuda"},
#endif
};

enum { KNOWN = sizeof known / sizeof known[0] };

const char *tarn_device_why_not(const char *name)
{
    for (size_t i = 0; i < KNOWN; i++)
        if (strcmp(known[i].name, name) == 0)
            return known[i].device ? known[i].device->why_not() : known[i].missing;
    return strcmp(name, "cpu") == 0 ? "" : "there is no such device";
}

bool tarn_device_compiled(const char *name)
{
    for (size_t i = 0; i < KNOWN; i++)
        if (strcmp(known[i].name, name) == 0) return known[i].device != NULL;
    return strcmp(name, "cpu") == 0;
}

tarn_status tarn_find_device(tarn_context *ctx, const char *function, const char *name,
                             const struct tarn_device **device)
{
    if (strcmp(name, "cpu") == 0) {
        *device = NULL;
        return TARN_OK;
    }
    for (size_t i = 0; i < KNOWN; i++) {
        const struct tarn_device *d = known[i].device;
        if (strcmp(known[i].name, name) != 0 && !(d && strcmp(d->name, name) == 0))
            continue;
        const char *why = tarn_device_why_not(known[i].name);
        if (*why)
            return tarn_fail(ctx, TARN_EDEVICE, "%s: device %s: not available: %s",
                             function, name, why);
        *device = d;
        return TARN_OK;
    }
    return tarn_fail(ctx, TARN_EDEVICE,
                     "%s: there is no device \"%s\", expected \"cpu\", \"emu\" or "
                     "\"cuda\"",
                     function, name);
}

tarn_status tarn_to(tarn_context *ctx, const tarn_tensor *t, const char *device,
                    tarn_tensor **out)
{
    const struct tarn_device *target = NULL;
    tarn_status status = tarn_find_device(ctx, "to", device, &target);
    return status ? status : tarn_move(ctx, t, target, out);
}
