/* table.c: the results for people. See results.h. */
#include "bench/results.h"
#include "core/tensor.h"
#include <math.h>

/* The unit in which a duration has one to three digits before its point. */
static const struct unit {
    const char *name;
    double seconds;
} units[] = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}};

static const struct unit *unit_of(double seconds)
{
    const struct unit *u = units;
    while (seconds < u->seconds && u->seconds > 1e-9) u++;
    return u;
}

/* A number in `width` columns with three digits that count, "-" if there is none. */
static const char *digits(char text[16], double x)
{
    if (isnan(x))
        snprintf(text, 16, "-");
    else
        snprintf(text, 16, "%.*f", x < 9.995 ? 2 : x < 99.95 ? 1 : 0, x);
    return text;
}

static void print_machine(const struct tarn_machine *m, FILE *out)
{
    char a[16], b[16];
    const double peak = m->peak[TARN_FLOAT32].best;
    fprintf(out, "%s\n", m->name);
    fprintf(out, "tarn %s, %s, %d thread%s\n", tarn_version(), m->isa, m->threads,
            m->threads == 1 ? ", timed by its CPU time" : "s, timed by the wall");
    fprintf(out, "peak   %s GFLOP/s in float32, %s in float64\n", digits(a, peak / 1e9),
            digits(b, m->peak[TARN_FLOAT64].best / 1e9));
    if (!isnan(m->sgemm))
        fprintf(out, "sgemm  %s GFLOP/s, %.0f %% of the peak\n",
                digits(a, m->sgemm / 1e9), 100 * m->sgemm / peak);
    if (!isnan(m->copy))
        fprintf(out, "copy   %s GB/s, read and written, one thread\n",
                digits(a, m->copy / 1e9));
}

static void print_row(const struct tarn_bench_results *r,
                      const struct tarn_bench_row *row, FILE *out)
{
    char name[32], a[16], b[16], c[16], d[16], spread[40];
    const struct tarn_bench_case *of = row->of;
    const struct unit *u = unit_of(row->seconds.median);
    const double percent = tarn_bench_percent(&r->machine, row);
    snprintf(name, sizeof name, "%s%s", of->name,
             of->precision == TARN_FAST ? ", fast" : "");
    snprintf(spread, sizeof spread, "%s-%s", digits(a, row->seconds.min / u->seconds),
             digits(b, row->seconds.max / u->seconds));
    fprintf(out, "%-18s f%d %2zu %5zu %3zu  %5s %-2s %11s  %6s %5s  %7.1e\n", name,
            row->dtype == TARN_FLOAT32 ? 32 : 64, of->B * of->H, of->N, of->D,
            digits(c, row->seconds.median / u->seconds), u->name, spread,
            digits(d, row->speed / 1e9), isnan(percent) ? "-" : digits(a, percent),
            row->rms_error);
}

void tarn_bench_table(const struct tarn_bench_results *r, FILE *out)
{
    print_machine(&r->machine, out);
    fprintf(out, "\n%-18s     H %5s %3s  %8s %11s  %6s %5s  %7s\n", "", "N", "D=M",
            "median", "min-max", "GFLOP", "% of", "error");
    fprintf(out, "%65s %5s  %7s\n", "per s", "peak", "rms");
    for (size_t i = 0; i < r->count; i++) print_row(r, &r->rows[i], out);
    fputs("\nSpeeds are those of the fastest round. phi_elu1 is in 10^9 elements a "
          "second.\n"
          "Errors are relative to the plain stages in float64.\n",
          out);
}
