/* The region poly2 of src/stages/phi.c. */
#include <math.h>
#include <stddef.h>

typedef double real;

static void poly2(size_t D, const real *x, real m, real *f)
{
    for (size_t i = 0; i < D; i++) {
        *f++ = (x[i] / m) * (x[i] / m);
        for (size_t j = i + 1; j < D; j++)
            *f++ = (real)M_SQRT2 * (x[i] / m) * (x[j] / m);
    }
}

void features(size_t N, size_t D, const double *x, const double *w, double *f)
{
    const size_t C = (D + 1) * (D + 2) / 2;
    (void)w;
    for (size_t e = 0; e < C * N; e++) f[e] = 1;
    for (size_t i = 0; i < N; i++) poly2(D, x + i * D, 1, f + i * C);
}
