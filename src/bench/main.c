/* main.c: the program tarn-bench: machine, operations, machine again; then one report.
 *
 * Exit status: 0 success, 1 an error (also of writing to stdout), 2 a wrong command line,
 * 130 stopped by ^C, after which nothing is reported. */
#include "bench/options.h"
#include "bench/results.h"
#include "fast/dispatch.h"
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A signal handler has no argument to find the context by. */
static tarn_context *volatile running;

static void on_interrupt(int signal_number)
{
    (void)signal_number;
    if (running) tarn_interrupt(running);
}

static void catch_interrupts(tarn_context *ctx)
{
    running = ctx;
    /* The second ^C ends the program at once. */
    struct sigaction action = {.sa_handler = on_interrupt,
                               .sa_flags = (int)(SA_RESTART | SA_RESETHAND)};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
}

/* What goes on, for who looks at a terminal. */
static void show_progress(const char *name)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K%s%s", name, *name ? " ..." : "");
}

static tarn_status measure_operations(tarn_context *ctx,
                                      const struct tarn_bench_options *options,
                                      struct tarn_bench_results *r)
{
    tarn_status status = TARN_OK;
    const char *const *name = tarn_bench_names();
    for (; status == TARN_OK && *name; name++) {
        if (!tarn_bench_wanted(options, *name)) continue;
        show_progress(*name);
        status = tarn_bench_operation(ctx, &r->machine, *name, options->quick, r->rows,
                                      &r->count);
    }
    return status;
}

static tarn_status measure(tarn_context *ctx, const struct tarn_bench_options *options,
                           struct tarn_bench_results *r)
{
    tarn_status status = tarn_set_threads(ctx, options->threads);
    if (status != TARN_OK) return status;
    r->machine = tarn_machine_here(ctx);
    show_progress("the machine");
    status = tarn_machine_copy(&r->machine, ctx);
    if (status == TARN_OK) status = tarn_machine_sgemm(&r->machine, ctx);
    if (status == TARN_OK) status = measure_operations(ctx, options, r);
    show_progress("");
    return status;
}

static void explain_refusal(const struct tarn_machine *m, tarn_dtype dtype)
{
    if (tarn_machine_steady(m, dtype)) return;
    fprintf(
        stderr,
        "tarn-bench: no percentages for float%d: its peak moved between %.1f and %.1f "
        "GFLOP/s during the run\n",
        dtype == TARN_FLOAT32 ? 32 : 64, m->peak[dtype].worst / 1e9,
        m->peak[dtype].best / 1e9);
}

static void report(const struct tarn_bench_options *options,
                   const struct tarn_bench_results *r, struct cJSON *earlier)
{
    if (options->json)
        tarn_bench_json(r, stdout);
    else if (earlier)
        tarn_bench_compare(r, earlier, stdout);
    else
        tarn_bench_table(r, stdout);
    explain_refusal(&r->machine, TARN_FLOAT32);
    explain_refusal(&r->machine, TARN_FLOAT64);
}

/* Measures and reports; the exit status. */
static int bench(tarn_context *ctx, const struct tarn_bench_options *options,
                 struct cJSON *earlier)
{
    struct tarn_bench_results r = {.count = 0};
    const tarn_status status = measure(ctx, options, &r);
    if (status == TARN_OK)
        report(options, &r, earlier);
    else if (status != TARN_EINTR)
        fprintf(stderr, "tarn-bench: %s\n", tarn_error(ctx));
    return status == TARN_OK ? 0 : status == TARN_EINTR ? 128 + SIGINT : 1;
}

static int run(const struct tarn_bench_options *options)
{
    struct cJSON *earlier = NULL;
    tarn_context *ctx;
    if (*tarn_fast_problem()) {
        fprintf(stderr, "tarn-bench: %s\n", tarn_fast_problem());
        return 1;
    }
    if (options->compare && !(earlier = tarn_bench_earlier(options->compare))) return 1;
    if (tarn_context_new(&ctx) != TARN_OK) {
        fputs("tarn-bench: not enough memory\n", stderr);
        return 1;
    }
    /* Outputs are allocated in each round; their pages are not to be asked for anew. */
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    catch_interrupts(ctx);
    const int status = bench(ctx, options, earlier);
    running = NULL;
    tarn_context_free(ctx);
    return status;
}

/* A full disk or a closed pipe behind stdout is an error. */
static int close_stdout(int status)
{
    const bool failed = ferror(stdout) != 0;
    if (fclose(stdout) == 0 && !failed) return status;
    fprintf(stderr, "tarn-bench: write error: %s\n", strerror(errno));
    return 1;
}

int main(int argc, char **argv)
{
    struct tarn_bench_options options;
    int status = tarn_bench_options_read(argc, argv, &options);
    if (status == 0 && options.help)
        tarn_bench_options_help();
    else if (status == 0 && options.version)
        tarn_bench_options_version();
    else if (status == 0)
        status = run(&options);
    return close_stdout(status);
}
