/* report.c: the rows of a comparison, shared by equiv and gradcheck. Chapter 8. */
#include "check/report.h"
#include <float.h>
#include <math.h>
#include <string.h>
#include <time.h>

/* |got - expected|, 0 for equal infinities, Inf for NaN: two NaN are no agreement. */
static double distance(double got, double expected)
{
    if (isnan(got) || isnan(expected)) return HUGE_VAL;
    return got == expected ? 0 : fabs(got - expected);
}

/* Takes a row-major position apart. */
static void set_index(tarn_row *row, const tarn_tensor *like, size_t position)
{
    row->worst.rank = like->rank;
    for (int d = like->rank - 1; d >= 0; d--) {
        row->worst.index[d] = position % like->shape[d];
        position /= like->shape[d];
    }
}

void tarn_row_compare(tarn_row *row, const tarn_tensor *like, size_t position,
                      double got, double expected, double magnitude)
{
    const bool single = row->dtype == TARN_FLOAT32;
    if (single && fabs(expected) > (double)FLT_MAX)
        expected = copysign(HUGE_VAL, expected);

    /* Down here the factors that a number is the product of have begun to lose their digits
     * as subnormals, or have vanished; so may the number. */
    const double smallest =
        single ? (double)(FLT_MIN / FLT_EPSILON) : DBL_MIN / DBL_EPSILON;
    const double error = distance(got, expected);
    double relative = error < smallest ? 0 : error;
    if (isfinite(error)) relative /= fmax(magnitude, smallest);
    row->max_abs = fmax(row->max_abs, error);
    if (row->worst.rank && relative <= row->max_rel) return;
    row->max_rel = relative;
    set_index(row, like, position);
    row->worst.got = got;
    row->worst.expected = expected;
}

/* Makes room for one more row: the rows are moved whenever their count is a power of 2. */
static tarn_status grow(tarn_context *ctx, tarn_report *report)
{
    const size_t count = report->count;
    if (count & (count - 1)) return TARN_OK;
    tarn_row *rows = tarn_alloc(ctx, count ? 2 * count : 1, sizeof *rows);
    if (!rows) return TARN_ENOMEM;
    if (count) memcpy(rows, report->rows, count * sizeof *rows);
    tarn_release(report->rows);
    report->rows = rows;
    return TARN_OK;
}

tarn_status tarn_report_add(tarn_context *ctx, tarn_report *report, tarn_row row)
{
    tarn_status status = grow(ctx, report);
    if (status) return status;
    row.ok = row.max_rel <= row.tol;
    report->ok = report->ok && row.ok;
    report->rows[report->count++] = row;
    return TARN_OK;
}

void tarn_report_free(tarn_report *report)
{
    tarn_release(report->rows);
    *report = (tarn_report){0};
}

double tarn_report_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
