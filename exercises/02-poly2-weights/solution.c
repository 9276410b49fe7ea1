/* poly2-weights: finite features of a weighted square. Chapter 2.
 *
 *     (1 + sum_d w_d q_d k_d)^2 = phi(q) . phi(k)
 *
 * x is [N, D], w is [D], its entries are not negative. f is [C, N], a feature a row, with
 * C = (D + 1) (D + 2) / 2 features in this order:
 *
 *     the constant; the D entries; the D squares;
 *     the pairs by distance: (1,2) (2,3) .. (D-1,D), then (1,3) (2,4) .., at last (1,D)
 *
 * No memory is needed besides f. About 15 lines. */
#include <math.h>
#include <stddef.h>

void features(size_t N, size_t D, const double *x, const double *w, double *f)
{
    for (size_t i = 0; i < N;
         i++, x += D, f++) { /* from here on feature c is f[c * N] */
        //> todo
        double *next = f;
        *next = 1;
        for (size_t d = 0; d < D; d++) *(next += N) = sqrt(2 * w[d]) * x[d];
        for (size_t d = 0; d < D; d++) *(next += N) = w[d] * x[d] * x[d];
        for (size_t apart = 1; apart < D; apart++)
            for (size_t d = 0; d + apart < D; d++)
                *(next += N) = sqrt(2 * w[d] * w[d + apart]) * x[d] * x[d + apart];
        //: (void)w;
        //: for (size_t c = 0; c < (D + 1) * (D + 2) / 2; c++) f[c * N] = 1;
        //< todo
    }
}
