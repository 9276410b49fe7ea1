/* test_emu_module.c: kernels in a module that is loaded at run time, as those of users are:
 * their static __shared__ memory is fresh in each block, and is checked; messages name lines. */
#include "bugs.h"
#include "emu/emu.h"
#include "tensors.h"
#include <dlfcn.h>
#include <stdio.h>

static void *module;

static void open_module(void)
{
    char path[1000];
    snprintf(path, sizeof path, "%s/tests/.libs/bugs.so", getenv("builddir"));
    module = dlopen(path, RTLD_NOW);
    cr_assert_not_null(module, "%s", dlerror());
}

static void start(void)
{
    begin();
    open_module();
}
TestSuite(emu_module, .init = start, .fini = end);

/* Runs a kernel of the module; its output is in out afterwards. */
static float out[BUG_FLOATS];

static tarn_status run(const char *name, bool instrumented)
{
    const struct bug *b =
        dlsym(module, instrumented ? "tarn_checked_bugs_all" : "tarn_emu_bugs_all");
    cr_assert_not_null(b, "%s", dlerror());
    while (b->name && strcmp(b->name, name) != 0) b++;
    cr_assert_not_null(b->name, "no kernel %s", name);
    struct bug_memory m = {.out = tarn_emu_alloc(sizeof out)};
    tarn_emu_fill(m.out, 0, sizeof out);
    tarn_emu_settings.check = instrumented;
    const tarn_status status = b->run(ctx, m);
    tarn_emu_copy(out, m.out, sizeof out);
    tarn_emu_free(m.out);
    return status;
}

Test(emu_module, a_sound_kernel_runs)
{
    OK(run("sound", false));
    OK(run("sound", true));
    cr_assert_eq(out[70], 2 * BUG_THREADS);
}

Test(emu_module, static_shared_memory_is_nan_in_each_block)
{
    OK(run("fresh_static_shared", false));
    cr_assert(isnan(out[63]));
    for (int i = 0; i < 63; i++) cr_assert_eq(out[i], 1);
    OK(run("fresh_static_shared", false));
    cr_assert(isnan(out[63]));
}

Test(emu_module, static_shared_memory_is_checked)
{
    FAILS(TARN_EDEVICE, "reads shared memory that nobody has written",
          run("fresh_static_shared", true));
    FAILS(TARN_EDEVICE, "past_static_shared, block (0, 0, 0)",
          run("past_static_shared", true));
}

Test(emu_module, errors_name_the_line)
{
    FAILS(TARN_EDEVICE, "tests/bugs.cu:", run("past_an_array", false));
    FAILS(TARN_EDEVICE, "tests/bugs.cu:", run("missing_syncthreads", true));
}

Test(emu_module, a_module_may_be_closed_and_opened_again)
{
    OK(run("sound", true));
    dlclose(module);
    open_module();
    OK(run("sound", true));
}
