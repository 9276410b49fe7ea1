/* report.h: the rows of a comparison, shared by equiv and gradcheck. Internal. */
#ifndef TARN_REPORT_H
#define TARN_REPORT_H

#include "core/tensor.h"

/* Compares one element of a tensor of the shape of `like`, at a row-major position, and
 * keeps in *row what is worst. Both NaN agree, infinities must have the same sign; an
 * expected number that row->dtype can't hold counts as infinite. */
void tarn_row_compare(tarn_row *row, const tarn_tensor *like, size_t position,
                      double got, double expected, double magnitude);

/* Adds a row whose numbers are complete: says whether it is ok and counts it in. */
tarn_status tarn_report_add(tarn_context *ctx, tarn_report *report, tarn_row row);

/* Seconds on a clock that only goes forward. */
double tarn_report_clock(void);

#endif
