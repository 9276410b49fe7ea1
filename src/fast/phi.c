/* phi.c: stage 0 by itself, for phi.elu1(t) and the like. Chapter 10. */
#include "fast/fast.h"
#include "fast/phi.h"

/* phi of n entries; the last few by way of a whole vector. */
void FAST(tarn_fast_features)(int id, size_t n, const void *x, void *f)
{
    const size_t left = n % LANES, whole_part = n - left;
    const real *tail = (const real *)x + whole_part;
    real last_x[LANES] = {0}, last_f[LANES];
    if (whole_part > 0) feature_rows(id, 1, whole_part, x, AHEAD, f);
    if (left == 0) return;
    copy_few(last_x, tail, left);
    feature_rows(id, 1, LANES, last_x, 0, last_f);
    copy_few((real *)f + whole_part, last_f, left);
}
