/* compare.c: the results beside those of an earlier run. See results.h.
 *
 * The earlier run may be of another hour or another machine. What is compared is therefore
 * how much of its run's peak each operation reached. */
#include "bench/results.h"
#include "core/tensor.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_CJSON
#include <cjson/cJSON.h>

/* The whole file as a string; NULL with errno set. */
static char *contents(const char *path)
{
    FILE *file = fopen(path, "rb");
    size_t used = 0, size = 0, got = 0;
    char *text = NULL;
    if (!file) return NULL;
    do {
        char *larger = realloc(text, size += 65536);
        if (!larger) break;
        text = larger;
        used += got = fread(text + used, 1, size - used - 1, file);
    } while (got > 0);
    const bool failed = !text || got > 0 || ferror(file);
    fclose(file);
    if (failed) {
        free(text);
        return NULL;
    }
    text[used] = '\0';
    return text;
}

/* Number `name` of an object, NaN if there is none. */
static double number(const cJSON *object, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsNumber(item) ? item->valuedouble : (double)NAN;
}

static bool is_text(const cJSON *object, const char *name, const char *text)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsString(item) && strcmp(item->valuestring, text) == 0;
}

/* Whether an earlier row is of the same operation, type, size and number of threads. */
static bool same(const cJSON *earlier, const struct tarn_bench_results *r,
                 const struct tarn_bench_row *row)
{
    const struct tarn_bench_case *of = row->of;
    return is_text(earlier, "name", of->name) &&
           is_text(earlier, "dtype", tarn_dtype_name(row->dtype)) &&
           is_text(earlier, "precision", tarn_bench_precision(of)) &&
           number(earlier, "threads") == r->machine.threads &&
           number(earlier, "B") == (double)of->B &&
           number(earlier, "H") == (double)of->H &&
           number(earlier, "N") == (double)of->N &&
           number(earlier, "D") == (double)of->D &&
           number(earlier, "M") == (double)of->D;
}

static void print_label(const char *name, const char *dtype, double N, double D,
                        FILE *out)
{
    fprintf(out, "%-18s  %s  N = %5.0f  D = M = %3.0f", name, dtype, N, D);
}

/* One of our rows; the earlier one is taken out of the list. */
static void print_ratio(const struct tarn_bench_results *r,
                        const struct tarn_bench_row *row, cJSON *rows,
                        double earlier_peak, FILE *out)
{
    cJSON *earlier = rows->child;
    while (earlier && !same(earlier, r, row)) earlier = earlier->next;
    print_label(row->of->name, tarn_dtype_name(row->dtype), (double)row->of->N,
                (double)row->of->D, out);
    if (!earlier) {
        fputs("   not in the earlier run\n", out);
        return;
    }
    const double peak = r->machine.peak[TARN_FLOAT32].best / 1e9;
    const double now = row->speed / 1e9 / peak;
    const double then = number(earlier, "gflops") / earlier_peak;
    if (isfinite(now / then))
        fprintf(out, "  %6.3f\n", now / then);
    else
        fputs("   no speed in the earlier run\n", out);
    cJSON_Delete(cJSON_DetachItemViaPointer(rows, earlier));
}

static void print_left(const cJSON *rows, FILE *out)
{
    for (const cJSON *row = rows->child; row; row = row->next) {
        const cJSON *name = cJSON_GetObjectItemCaseSensitive(row, "name");
        const cJSON *dtype = cJSON_GetObjectItemCaseSensitive(row, "dtype");
        print_label(cJSON_IsString(name) ? name->valuestring : "a row without a name",
                    cJSON_IsString(dtype) ? dtype->valuestring : "", number(row, "N"),
                    number(row, "D"), out);
        fputs("   not in this run\n", out);
    }
}

static void complain(const char *path, const char *problem)
{
    fprintf(stderr, "tarn-bench: --compare: %s: %s\n", path, problem);
}

struct cJSON *tarn_bench_earlier(const char *path)
{
    char *text = contents(path);
    if (!text) {
        complain(path, strerror(errno));
        return NULL;
    }
    cJSON *earlier = cJSON_Parse(text);
    free(text);
    if (cJSON_IsArray(cJSON_GetObjectItemCaseSensitive(earlier, "rows")) &&
        number(earlier, "peak_gflops") > 0)
        return earlier;
    complain(path, "this is not what tarn-bench --json has written");
    cJSON_Delete(earlier);
    return NULL;
}

void tarn_bench_compare(const struct tarn_bench_results *r, struct cJSON *earlier,
                        FILE *out)
{
    cJSON *rows = cJSON_GetObjectItemCaseSensitive(earlier, "rows");
    fputs("Speed now by speed then, each relative to its own run's peak:\n\n", out);
    for (size_t i = 0; i < r->count; i++)
        print_ratio(r, &r->rows[i], rows, number(earlier, "peak_gflops"), out);
    print_left(rows, out);
    cJSON_Delete(earlier);
}

#else

struct cJSON *tarn_bench_earlier(const char *path)
{
    fprintf(
        stderr,
        "tarn-bench: --compare: %s: this build can't read JSON; hint: install libcjson "
        "(Debian package libcjson-dev) and configure again\n",
        path);
    return NULL;
}

void tarn_bench_compare(const struct tarn_bench_results *r, struct cJSON *earlier,
                        FILE *out)
{
    (void)r;
    (void)earlier;
    (void)out;
}

#endif
