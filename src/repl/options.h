/* options.h: the command line of tarn, read once into one struct. Internal.
 *
 * - Reading has no effect besides filling the struct; a wrong line is complained about on
 *   stderr, and the caller leaves with status 2.
 * - Strings point into argv. */
#ifndef TARN_OPTIONS_H
#define TARN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* When to write colours. */
enum tarn_color { TARN_COLOR_AUTO, TARN_COLOR_ALWAYS, TARN_COLOR_NEVER };

/* Whether the files of the command line are transcripts to be checked, or corrected. */
enum tarn_doctest_mode { TARN_DOCTEST_NONE, TARN_DOCTEST_CHECK, TARN_DOCTEST_FIX };

/* What runs before the script, in the order of the command line. */
struct tarn_action {
    char option; /* 'e' runs text as code, 'l' requires it as a module */
    const char *text;
};

/* The command line, understood. */
struct tarn_invocation {
    int argc;
    char **argv;
    struct tarn_action *actions; /* action_count of them, one allocation */
    int action_count;
    int script; /* argv[script] is the script ("-" is standard input); argc if none */
    bool interactive, init, history, help, version, restricted;
    enum tarn_doctest_mode doctest; /* then argv[script] and on are its files */
    bool slow;
    const char *history_file; /* NULL: where the environment says */
    enum tarn_color color;
    const char *device; /* "cpu", "emu", "cuda" or "auto" */
    int threads;        /* 0: as many as processors */
    uint64_t seed;
    bool seeded;
    uint64_t memory, time; /* limits in bytes and seconds of processor; 0: none */
};

/* Fills `inv` from the command line: 0, or 2 after a complaint about its usage, or 1 if
 * there is no memory. */
int tarn_options_read(int argc, char **argv, struct tarn_invocation *inv);
void tarn_options_free(struct tarn_invocation *inv);

/* Write the answers to --help and --version on stdout. */
void tarn_options_help(void);
void tarn_options_version(void);

#endif
