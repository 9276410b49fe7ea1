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
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum harness_use { HARNESS_INPUT, HARNESS_RESULT, HARNESS_CHANGED };

static FILE *harness_said, *harness_values;
static int harness_case;

#ifdef HARNESS_COSTS
#include "costs.c"
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

/* ---- Elements of any type ---------------------------------------------------------------- */

enum harness_type { HARNESS_float, HARNESS_double, HARNESS_int, HARNESS_size_t };

union harness_element {
    float as_float;
    double as_double;
    int as_int;
    size_t as_size_t;
};

static const size_t harness_bytes[] = {sizeof(float), sizeof(double), sizeof(int),
                                       sizeof(size_t)};

static union harness_element harness_from(enum harness_type type, double number)
{
    union harness_element e = {.as_size_t = 0};
    switch (type) {
    case HARNESS_float: e.as_float = (float)number; break;
    case HARNESS_double: e.as_double = number; break;
    case HARNESS_int: e.as_int = (int)number; break;
    case HARNESS_size_t: e.as_size_t = (size_t)number; break;
    }
    return e;
}

static double harness_to_number(enum harness_type type, const void *element)
{
    union harness_element e;
    memcpy(&e, element, harness_bytes[type]);
    switch (type) {
    case HARNESS_float: return (double)e.as_float;
    case HARNESS_double: return e.as_double;
    case HARNESS_int: return e.as_int;
    default: return (double)e.as_size_t;
    }
}

/* What results hold before the call: nobody computes it. A NaN makes itself felt, too. */
static union harness_element harness_blank(enum harness_type type)
{
    union harness_element e = {.as_size_t = SIZE_MAX / 3};
    if (type == HARNESS_float) e.as_float = __builtin_nanf("0x7aa");
    if (type == HARNESS_double) e.as_double = __builtin_nan("0x7aa");
    return e;
}

/* ---- Arrays -------------------------------------------------------------------------------- */

static void harness_fill(enum harness_type type, char *array, size_t count)
{
    const union harness_element blank = harness_blank(type);
    for (size_t i = 0; i < count; i++)
        memcpy(array + i * harness_bytes[type], &blank, harness_bytes[type]);
}

static void harness_read(const char *name, enum harness_type type, char *array,
                         size_t count)
{
    FILE *file = harness_open("in", name, ".npy", "rb");
    const int doubles = harness_skip_header(file);
    for (size_t i = 0; i < count; i++) {
        double wide = 0;
        float narrow = 0;
        const size_t got = doubles ? fread(&wide, sizeof wide, 1, file)
                                   : fread(&narrow, sizeof narrow, 1, file);
        if (got != 1) harness_give_up(name);
        const union harness_element e =
            harness_from(type, doubles ? wide : (double)narrow);
        memcpy(array + i * harness_bytes[type], &e, harness_bytes[type]);
    }
    fclose(file);
}

/* The next argument, an array; `count` becomes how many elements it has. */
static __attribute__((unused)) void *harness_take(const char *name,
                                                  enum harness_type type,
                                                  enum harness_use use, size_t *count)
{
    *count = (size_t)harness_number();
    const size_t bytes = *count * harness_bytes[type];
    char *array = malloc(bytes);
    if (!array && bytes > 0) harness_give_up("memory");
    if (use == HARNESS_RESULT)
        harness_fill(type, array, *count);
    else
        harness_read(name, type, array, *count);
    fprintf(harness_said, "at %s %p %zu\n", name, (void *)array, bytes);
    return array;
}

static void harness_write_header(FILE *file, size_t count)
{
    const unsigned char start[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, 118, 0};
    char header[118];
    const int n =
        snprintf(header, sizeof header,
                 "{'descr': '<f8', 'fortran_order': False, 'shape': (%zu,), }", count);
    memset(header + n, ' ', sizeof header - (size_t)n);
    header[sizeof header - 1] = '\n';
    fwrite(start, 1, sizeof start, file);
    fwrite(header, 1, sizeof header, file);
}

/* Writes a result, and says how many of its elements are as they were. */
static __attribute__((unused)) void
harness_save(const char *name, enum harness_type type, const void *array, size_t count)
{
    FILE *file = harness_open("out", name, ".npy", "wb");
    const union harness_element blank = harness_blank(type);
    const char *at = array;
    size_t blanks = 0;
    harness_write_header(file, count);
    for (size_t i = 0; i < count; i++, at += harness_bytes[type]) {
        const double number = harness_to_number(type, at);
        blanks += memcmp(at, &blank, harness_bytes[type]) == 0;
        fwrite(&number, sizeof number, 1, file);
    }
    if (fclose(file) != 0) harness_give_up(name);
    if (blanks) fprintf(harness_said, "blank %d %s %zu\n", harness_case, name, blanks);
}

/* ---- The cases ------------------------------------------------------------------------------- */

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
