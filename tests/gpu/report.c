/* report.c: what check_gpu has found, for people in 80 columns and for programs. */
#include "gpu.h"
#include <math.h>
#include <string.h>

static const char *kind(bool grad)
{
    return grad ? "gradient" : "output";
}

static void print_compared(const struct compared *row, FILE *out)
{
    const bool bad = row->worst > 1 || row->apart > 2;
    fprintf(out, "%-11s %-8s %-6s %-8s %8zu %13.2g %10.2g  %s\n", row->form->name,
            kind(row->grad), row->rung, tarn_dtype_name(row->dtype), row->problems,
            row->worst, row->apart, bad ? "WRONG" : "ok");
    if (*row->complaint) fprintf(out, "    %s\n", row->complaint);
}

static void print_timed(const struct timed *row, FILE *out)
{
    fprintf(out, "%-11s %-8s %-6s %-8s %3zu %6zu %4zu %9.3g %8.3g %8.3g\n",
            row->form->name, kind(row->grad), row->rung, tarn_dtype_name(row->dtype),
            row->heads, row->N, row->D, row->seconds * 1e6, row->floor * 1e6,
            row->seconds / row->floor);
}

void gpu_print_table(const struct gpu_results *r, FILE *out)
{
    fprintf(out, "%s%s%s, copies at %.4g GB/s\n\n", r->device, *r->name ? ": " : "",
            r->name, r->copy / 1e9);
    fprintf(out, "%-11s %-8s %-6s %-8s %8s %13s %10s\n", "form", "", "rung", "dtype",
            "problems", "error / bound", "from emu");
    for (size_t i = 0; i < r->compared_count; i++) print_compared(&r->compared[i], out);
    if (r->timed_count == 0) return;
    if (strcmp(r->device, "emu") == 0)
        fprintf(out, "\nThe times of an emulated device say nothing of a GPU.\n");
    fprintf(out, "\n%-11s %-8s %-6s %-8s %3s %6s %4s %9s %8s %8s\n", "form", "", "rung",
            "dtype", "H", "N", "D", "us", "floor us", "floors");
    for (size_t i = 0; i < r->timed_count; i++) print_timed(&r->timed[i], out);
}

/* ---- JSON ------------------------------------------------------------------------------ */

/* In quotes; names and messages have nothing to escape but quotes and backslashes. */
static void put_text(const char *name, const char *text, FILE *out)
{
    fprintf(out, "\"%s\": \"", name);
    for (; *text; text++)
        if (*text == '"' || *text == '\\')
            fprintf(out, "\\%c", *text);
        else
            fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
    fputs("\", ", out);
}

/* JSON knows neither NaN nor infinity. */
static void put_number(const char *name, double x, const char *after, FILE *out)
{
    if (isfinite(x))
        fprintf(out, "\"%s\": %.6g%s", name, x, after);
    else
        fprintf(out, "\"%s\": null%s", name, after);
}

static void put_rung(const struct form *form, bool grad, const char *rung,
                     tarn_dtype dtype, FILE *out)
{
    fputs("  {", out);
    put_text("form", form->name, out);
    put_text("what", kind(grad), out);
    put_text("rung", rung, out);
    put_text("dtype", tarn_dtype_name(dtype), out);
}

static void put_compared(const struct compared *row, FILE *out)
{
    put_rung(row->form, row->grad, row->rung, row->dtype, out);
    put_text("complaint", row->complaint, out);
    put_number("problems", (double)row->problems, ", ", out);
    put_number("error_over_bound", row->worst, ", ", out);
    put_number("from_emu_over_bound", row->apart, "}", out);
}

static void put_timed(const struct timed *row, FILE *out)
{
    put_rung(row->form, row->grad, row->rung, row->dtype, out);
    put_number("H", (double)row->heads, ", ", out);
    put_number("N", (double)row->N, ", ", out);
    put_number("D", (double)row->D, ", ", out);
    put_number("seconds", row->seconds, ", ", out);
    put_number("floor_seconds", row->floor, "}", out);
}

void gpu_print_json(const struct gpu_results *r, FILE *out)
{
    fputs("{", out);
    put_text("device", r->device, out);
    put_text("name", r->name, out);
    fprintf(out, "\"ok\": %s, ", r->ok ? "true" : "false");
    put_number("copy_gbs", r->copy / 1e9, ",\n \"compared\": [", out);
    for (size_t i = 0; i < r->compared_count; i++) {
        fputs(i ? ",\n" : "\n", out);
        put_compared(&r->compared[i], out);
    }
    fputs("\n ],\n \"timed\": [", out);
    for (size_t i = 0; i < r->timed_count; i++) {
        fputs(i ? ",\n" : "\n", out);
        put_timed(&r->timed[i], out);
    }
    fputs("\n ]}\n", out);
}
