/* weighted_sum of src/stages/sim.c in the learner's function: its values are rows of M. */
#include <stdlib.h>

enum { TARN_BLOCK = 64 };
typedef float real;

static void zeros(size_t n, real *x)
{
    for (size_t i = 0; i < n; i++) x[i] = 0;
}

static void add_scaled(size_t n, real a, const real *x, real *y)
{
    for (size_t i = 0; i < n; i++) y[i] += a * x[i];
}

/* num = sum_j s_j v_j and den = sum_j s_j, in two levels: blocks of keys, then
 * their sums. */
static void totals_by_weight(size_t n, size_t M, const real *s, const real *v,
                             real *num, real *den, real *part)
{
    for (size_t start = 0; start < n; start += TARN_BLOCK) {
        size_t end = n - start < TARN_BLOCK ? n : start + TARN_BLOCK;
        real den_part = 0;
        zeros(M, part);
        for (size_t j = start; j < end; j++) {
            add_scaled(M, s[j], v + j * M, part);
            den_part += s[j];
        }
        add_scaled(M, 1, part, num);
        *den += den_part;
    }
}

void mean(size_t N, size_t M, const float *w, const float *v, float *out)
{
    float *part = malloc(M * sizeof *part), den = 0;
    zeros(M, out);
    totals_by_weight(N, M, w, v, out, &den, part);
    for (size_t m = 0; m < M; m++) out[m] /= den;
    free(part);
}
