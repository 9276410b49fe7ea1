/* Gives the whole weight to q and to k. */
#include <math.h>
#include <stddef.h>

void features(size_t N, size_t D, const double *x, const double *w, double *f)
{
    for (size_t i = 0; i < N;
         i++, x += D, f++) { /* from here on feature c is f[c * N] */
        double *next = f;
        *next = 1;
        for (size_t d = 0; d < D; d++) *(next += N) = sqrt(2) * w[d] * x[d];
        for (size_t d = 0; d < D; d++) *(next += N) = w[d] * w[d] * x[d] * x[d];
        for (size_t apart = 1; apart < D; apart++)
            for (size_t d = 0; d + apart < D; d++)
                *(next += N) = sqrt(2) * w[d] * w[d + apart] * x[d] * x[d + apart];
    }
}
