/* options.h: the command line of tarn-bench. Internal. */
#ifndef TARN_BENCH_OPTIONS_H
#define TARN_BENCH_OPTIONS_H

#include <stdbool.h>

struct tarn_bench_options {
    bool json, quick, help, version;
    const char *compare; /* path, or NULL */
    int threads;
    char **names; /* of operations, up to argv's NULL; none: all of them */
};

/* Reads the command line: 0, or 2 after a complaint. */
int tarn_bench_options_read(int argc, char **argv, struct tarn_bench_options *options);

/* Whether the operation is among those asked for. */
bool tarn_bench_wanted(const struct tarn_bench_options *options, const char *name);

/* Write what --help and --version show. */
void tarn_bench_options_help(void);
void tarn_bench_options_version(void);

#endif
