/* options.c: the command line of tarn-bench. See options.h. */
#include "bench/options.h"
#include "bench/operations.h"
#include "core/nearest.h"
#include "tarn.h"
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct option long_options[] = {
    {"json", no_argument, NULL, 'j'},
    {"quick", no_argument, NULL, 'q'},
    {"compare", required_argument, NULL, 'c'},
    {"threads", required_argument, NULL, 't'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'v'},
    {NULL, 0, NULL, 0},
};

static int try_help(void)
{
    fputs("Try 'tarn-bench --help' for more information.\n", stderr);
    return 2;
}

static int read_threads(struct tarn_bench_options *options)
{
    char *end;
    const long threads = strtol(optarg, &end, 10);
    if (*optarg >= '0' && *optarg <= '9' && !*end && threads >= 1 && threads <= 1024) {
        options->threads = (int)threads;
        return 0;
    }
    fprintf(stderr, "tarn-bench: --threads=%s: expected a number from 1 to 1024\n",
            optarg);
    return try_help();
}

/* Takes one option. `current` is the argument that getopt was looking at. */
static int take(struct tarn_bench_options *options, int option, const char *current)
{
    switch (option) {
    case 'j': options->json = true; return 0;
    case 'q': options->quick = true; return 0;
    case 'c': options->compare = optarg; return 0;
    case 't': return read_threads(options);
    case 'h': options->help = true; return 0;
    case 'v': options->version = true; return 0;
    case ':':
        fprintf(stderr, "tarn-bench: option '%s' needs a value\n", current);
        break;
    default: fprintf(stderr, "tarn-bench: unknown option '%s'\n", current);
    }
    return try_help();
}

static int check_names(char **names)
{
    const char *const *known = tarn_bench_names();
    for (; *names; names++) {
        size_t i = 0;
        while (known[i] && strcmp(known[i], *names) != 0) i++;
        if (known[i]) continue;
        const char *near = tarn_nearest(*names, known);
        fprintf(stderr, "tarn-bench: there is no operation '%s'", *names);
        fprintf(stderr, near ? "; did you mean '%s'?\n" : "%s\n", near ? near : "");
        return try_help();
    }
    return 0;
}

int tarn_bench_options_read(int argc, char **argv, struct tarn_bench_options *options)
{
    *options = (struct tarn_bench_options){.threads = 1};
    opterr = 0;
    for (;;) {
        const int position = optind;
        const int option = getopt_long(argc, argv, ":", long_options, NULL);
        if (option == -1) break;
        const int status = take(options, option, position < argc ? argv[position] : "");
        if (status != 0) return status;
    }
    options->names = argv + optind;
    if (!options->compare || !options->json) return check_names(options->names);
    fputs("tarn-bench: --compare goes without --json\n", stderr);
    return try_help();
}

bool tarn_bench_wanted(const struct tarn_bench_options *options, const char *name)
{
    if (!*options->names) return true;
    for (char **wanted = options->names; *wanted; wanted++)
        if (strcmp(*wanted, name) == 0) return true;
    return false;
}

void tarn_bench_options_help(void)
{
    fputs(
        "Usage: tarn-bench [OPTION]... [NAME]...\n"
        "Time tarn's operations beside the ceilings of this machine, in one run.\n"
        "\n"
        "The names are phi_elu1, sim_softmax, sim_softmax_causal, assoc, prefix,\n"
        "prefix_grad and rnn_step; without one all of them are timed.\n"
        "\n"
        "      --json          write one JSON object instead of a table\n"
        "      --quick         fewer sizes, less than a minute\n"
        "      --compare=FILE  show ratios to an earlier run, what --json wrote to "
        "FILE\n"
        "      --threads=N     use N threads, timed by the wall; without this option "
        "one\n"
        "                      thread, timed by its CPU time\n"
        "      --help          show this help and exit\n"
        "      --version       show the version and exit\n"
        "\n"
        "A speed is the arithmetic that the sums of an operation need, divided by the\n"
        "time of the fastest round; phi, denominators and divisions are part of the "
        "time\n"
        "but not of the count. The percentage is of the fastest multiply-adds that "
        "this\n"
        "run saw, in the same instruction set and element type; it is refused if "
        "these\n"
        "changed by more than a tenth during the run. TARN_ISA in the environment "
        "forces\n"
        "an instruction set: baseline, x86-64-v3 or x86-64-v4.\n"
        "\n"
        "Exit status: 0 success, 1 an error, 2 a wrong command line, 130 stopped by "
        "^C.\n"
        "\n"
        "Examples:\n"
        "  tarn-bench --quick prefix prefix_grad\n"
        "  tarn-bench --json >before.json\n"
        "  tarn-bench --compare=before.json\n",
        stdout);
}

void tarn_bench_options_version(void)
{
    printf("tarn-bench %s\n"
           "Copyright (C) 2026 the tarn authors\n"
           "tarn-bench is free under the MIT licence. There is NO WARRANTY, to the "
           "extent\n"
           "permitted by law.\n",
           tarn_version());
}
