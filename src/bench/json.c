/* json.c: the results for programs, as one JSON object. See results.h. */
#include "bench/results.h"
#include "core/tensor.h"
#include <math.h>

static void put_string(const char *text, FILE *out)
{
    fputc('"', out);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\')
            fprintf(out, "\\%c", *c);
        else if (*c < ' ')
            fprintf(out, "\\u%04x", *c);
        else
            fputc(*c, out);
    }
    fputc('"', out);
}

/* "name": number; JSON knows neither NaN nor infinity. */
static void put_number(const char *name, double x, FILE *out)
{
    if (isfinite(x))
        fprintf(out, "\"%s\": %.9g", name, x);
    else
        fprintf(out, "\"%s\": null", name);
}

static void put_row(const struct tarn_bench_results *r,
                    const struct tarn_bench_row *row, FILE *out)
{
    const struct tarn_bench_case *of = row->of;
    const struct {
        const char *name;
        double value;
    } numbers[] = {{"median_s", row->seconds.median},
                   {"min_s", row->seconds.min},
                   {"max_s", row->seconds.max},
                   {"gflops", row->speed / 1e9},
                   {"percent_peak", tarn_bench_percent(&r->machine, row)},
                   {"rms_error", row->rms_error}};
    fprintf(
        out,
        "  {\"name\": \"%s\", \"dtype\": \"%s\", \"isa\": \"%s\", \"precision\": "
        "\"%s\", "
        "\"threads\": %d, \"B\": %zu, \"H\": %zu, \"N\": %zu, \"D\": %zu, \"M\": %zu",
        of->name, tarn_dtype_name(row->dtype), r->machine.isa, tarn_bench_precision(of),
        r->machine.threads, of->B, of->H, of->N, of->D, of->D);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        fputs(", ", out);
        put_number(numbers[i].name, numbers[i].value, out);
    }
    fputc('}', out);
}

void tarn_bench_json(const struct tarn_bench_results *r, FILE *out)
{
    const struct tarn_machine *m = &r->machine;
    fputs("{\"machine\": ", out);
    put_string(m->name, out);
    fputs(", ", out);
    put_number("peak_gflops", m->peak[TARN_FLOAT32].best / 1e9, out);
    fputs(", ", out);
    put_number("sgemm_gflops", m->sgemm / 1e9, out);
    fputs(", ", out);
    put_number("copy_gbs", m->copy / 1e9, out);
    fputs(", \"rows\": [", out);
    for (size_t i = 0; i < r->count; i++) {
        fputs(i ? ",\n" : "\n", out);
        put_row(r, &r->rows[i], out);
    }
    fputs("\n]}\n", out);
}
