/* harness.c: calls a learner's C function for a list of cases, in a process of its own.
 *
 * It is included by a generated file that knows the function's arguments (lua/lab/run_c.lua),
 * so that no name here can be one of the learner's. For each case N on the command line,
 *
 *     in/N.values        one number for each argument: its value, or how many elements
 *     in/N.NAME.npy      what an array holds before the call
 *     out/N.NAME.npy     what it holds afterwards
 *
 * Each array is a block of memory of exactly its size, so that AddressSanitizer sees what lies
 * beside it. What was reached is said on descriptor 3, and at the end the word that was given
 * on standard input after loading: code that leaves before that has not finished. */
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum harness_use { HARNESS_INPUT, HARNESS_RESULT, HARNESS_CHANGED };

static FILE *harness_said, *harness_values;
static int harness_case;

#ifdef HARNESS_COSTS
void harness_count_begin(void);
void harness_count_end(FILE *said, int number);
#else
static void harness_count_begin(void) {}
static void harness_count_end(FILE *said, int number)
{
    (void)said;
    (void)number;
}
#endif

static void harness_give_up(const char *what)
{
    fprintf(harness_said, "broken %s\n", what);
    fflush(harness_said);
    _Exit(3);
}

static FILE *harness_open(const char *folder, const char *name, const char *end,
                          const char *mode)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%d.%s%s", folder, harness_case, name, end);
    FILE *file = fopen(path, mode);
    if (!file) harness_give_up(path);
    return file;
}

static double harness_number(void)
{
    double number;
    if (fscanf(harness_values, "%lf", &number) != 1) harness_give_up("values");
    return number;
}

/* Skips the header of a .npy file of format 1; tells whether its numbers are doubles. */
static int harness_skip_header(FILE *file)
{
    unsigned char start[10];
    char text[4096];
    if (fread(start, 1, sizeof start, file) != sizeof start) harness_give_up("header");
    const size_t length = start[8] + 256u * start[9];
    if (length >= sizeof text || fread(text, 1, length, file) != length)
        harness_give_up("header");
    text[length] = '\0';
    return strstr(text, "<f8") != NULL;
}

/* Types of elements. Where a program would read what nobody wrote, the first value makes
 * itself felt. */
#define HARNESS_TYPE(suffix, T, stored, descr, unwritten)                              \
    static __attribute__((unused))                                                     \
    T *harness_take_##suffix(const char *name, enum harness_use use, size_t *count)    \
    {                                                                                  \
        *count = (size_t)harness_number();                                             \
        T *array = malloc(*count * sizeof(T));                                         \
        if (!array && *count > 0) harness_give_up("memory");                           \
        for (size_t i = 0; i < *count; i++) array[i] = (T)(unwritten);                 \
        fprintf(harness_said, "at %s %p %zu\n", name, (void *)array,                   \
                *count * sizeof(T));                                                   \
        if (use == HARNESS_RESULT) return array;                                       \
        FILE *file = harness_open("in", name, ".npy", "rb");                           \
        const int doubles = harness_skip_header(file);                                 \
        for (size_t i = 0; i < *count; i++) {                                          \
            double wide = 0;                                                           \
            float narrow = 0;                                                          \
            const size_t got = doubles ? fread(&wide, sizeof wide, 1, file)            \
                                       : fread(&narrow, sizeof narrow, 1, file);       \
            if (got != 1) harness_give_up(name);                                       \
            array[i] = doubles ? (T)wide : (T)narrow;                                  \
        }                                                                              \
        fclose(file);                                                                  \
        return array;                                                                  \
    }                                                                                  \
    static __attribute__((unused)) void harness_save_##suffix(                         \
        const char *name, const T *array, size_t count)                                \
    {                                                                                  \
        char header[118];                                                              \
        const unsigned char start[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, 118, 0}; \
        FILE *file = harness_open("out", name, ".npy", "wb");                          \
        const int n = snprintf(header, sizeof header,                                  \
                               "{'descr': '" descr                                     \
                               "', 'fortran_order': False, 'shape': (%zu,), }",        \
                               count);                                                 \
        memset(header + n, ' ', sizeof header - (size_t)n);                            \
        header[sizeof header - 1] = '\n';                                              \
        fwrite(start, 1, sizeof start, file);                                          \
        fwrite(header, 1, sizeof header, file);                                        \
        for (size_t i = 0; i < count; i++) {                                           \
            const stored number = (stored)array[i];                                    \
            fwrite(&number, sizeof number, 1, file);                                   \
        }                                                                              \
        if (fclose(file) != 0) harness_give_up(name);                                  \
    }

HARNESS_TYPE(float, float, float, "<f4", NAN)
HARNESS_TYPE(double, double, double, "<f8", NAN)
HARNESS_TYPE(int, int, double, "<f8", INT_MIN)
HARNESS_TYPE(size_t, size_t, double, "<f8", SIZE_MAX)

static void harness_run(void); /* generated: takes the arguments, calls, saves */

static void harness_begin(void)
{
    fprintf(harness_said, "call %d\n", harness_case);
    fflush(harness_said);
    harness_count_begin();
}

static void harness_end(void)
{
    harness_count_end(harness_said, harness_case);
}

int main(int argc, char **argv)
{
    char word[100] = "";
    harness_said = fdopen(3, "w");
    if (!harness_said) return 3;
    fprintf(harness_said, "loaded\n");
    fflush(harness_said);
    if (!fgets(word, sizeof word, stdin)) harness_give_up("word");

    for (int i = 1; i < argc; i++) {
        harness_case = atoi(argv[i]);
        harness_values = harness_open("in", "values", "", "r");
        fprintf(harness_said, "begin %d\n", harness_case);
        harness_run();
        fclose(harness_values);
        fprintf(harness_said, "end %d\n", harness_case);
        if (fflush(harness_said) != 0) _Exit(3); /* somebody has closed it */
    }
    fflush(stdout);
    fprintf(harness_said, "done %s", word);
    return fclose(harness_said) == 0 ? 0 : 3;
}
