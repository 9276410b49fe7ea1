/* check_gpu.c: the kernels on a real GPU: right, and how fast. For `make check-gpu`.
 *
 * - compare.c: each rung of each form, float and double, outputs and gradients, against the
 *   float64 oracle and the emulated device;
 * - times.c: each rung beside the speed at which the GPU copies memory;
 * - report.c: a table, and JSON with --json=FILE.
 *
 * Without a GPU it says why and exits with 77, as a test that is skipped. --device=emu goes
 * through the same on the emulated device: that tests this program, not a GPU. */
#include "gpu.h"
#include "devices.h"
#include <stdlib.h>
#include <string.h>

enum { OK = 0, WRONG = 1, USAGE = 2, SKIPPED = 77 };

struct wishes {
    const char *device, *json, *name;
    const char *bound;
    bool quick, no_times, help;
};

static const char help[] =
    "Usage: check_gpu [OPTION]...\n"
    "Compares the kernels on a GPU with the oracle and times them.\n\n"
    "  --device=NAME  cuda, or emu, which tests this program rather than a GPU\n"
    "  --json=FILE    writes the results there as JSON\n"
    "  --name=TEXT    what the GPU is called in the report\n"
    "  --bound=X      allows X times the error that is allowed\n"
    "  --quick        few problems, small sizes\n"
    "  --no-times     compare alone\n\n"
    "Exit status: 0 all is well, 1 a kernel is wrong, 2 usage, 77 no such device.\n";

/* The value of --name=value; NULL: it is another option. */
static const char *value_of(const char *argument, const char *name)
{
    const size_t length = strlen(name);
    return strncmp(argument, name, length) == 0 ? argument + length : NULL;
}

static bool read_argument(const char *argument, struct wishes *w)
{
    const struct {
        const char *name;
        const char **to;
    } values[] = {{"--device=", &w->device},
                  {"--json=", &w->json},
                  {"--name=", &w->name},
                  {"--bound=", &w->bound}};
    const struct {
        const char *name;
        bool *to;
    } switches[] = {
        {"--quick", &w->quick}, {"--no-times", &w->no_times}, {"--help", &w->help}};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        const char *value = value_of(argument, values[i].name);
        if (value) return *values[i].to = value, true;
    }
    for (size_t i = 0; i < sizeof switches / sizeof switches[0]; i++)
        if (strcmp(argument, switches[i].name) == 0)
            return *switches[i].to = true, true;
    return false;
}

/* A whole file or none. */
static bool write_json(const struct gpu_results *results, const char *path)
{
    char temporary[4096];
    snprintf(temporary, sizeof temporary, "%s.tmp", path);
    FILE *file = fopen(temporary, "w");
    if (!file) return false;
    gpu_print_json(results, file);
    const bool written = !ferror(file);
    return fclose(file) == 0 && written && rename(temporary, path) == 0;
}

static int check(tarn_context *ctx, const struct wishes *w)
{
    static struct gpu_results results;
    const struct tarn_device *device = NULL;
    if (tarn_find_device(ctx, "check-gpu", w->device, &device) != TARN_OK) {
        fprintf(stderr, "%s\n", tarn_error(ctx));
        return SKIPPED;
    }
    if (!device) {
        fprintf(stderr, "check-gpu: the host has no kernels, expected cuda or emu\n");
        return USAGE;
    }
    results.device = device->name, results.name = w->name, results.ok = true;
    results.bound = strtod(w->bound, NULL);
    tarn_status status = gpu_compare(ctx, device, w->quick, &results);
    if (!status && !w->no_times) status = gpu_time(ctx, device, w->quick, &results);
    if (status) {
        fprintf(stderr, "check-gpu: %s\n", tarn_error(ctx));
        return WRONG;
    }
    gpu_print_table(&results, stdout);
    if (w->json && !write_json(&results, w->json)) {
        perror(w->json);
        return WRONG;
    }
    puts(results.ok ? "\nall is well" : "\nsomething is wrong, see above");
    return results.ok && !ferror(stdout) ? OK : WRONG;
}

int main(int count, char **arguments)
{
    struct wishes w = {.device = "cuda", .name = "", .bound = "1"};
    tarn_context *ctx;
    for (int i = 1; i < count; i++)
        if (!read_argument(arguments[i], &w)) {
            fprintf(stderr, "check-gpu: unknown option '%s'; see --help\n",
                    arguments[i]);
            return USAGE;
        }
    if (w.help) return fputs(help, stdout) < 0;
    if (tarn_context_new(&ctx) != TARN_OK) return WRONG;
    const int status = check(ctx, &w);
    tarn_context_free(ctx);
    return status;
}
