/* similarities_of of src/stages/sim.c for rows of k [N, D], and the loop around it. Its eps has
 * a place in the denominator, where the sink goes. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

typedef float real;

static real largest_score(size_t n, const real *s)
{
    real max = -INFINITY;
    for (size_t j = 0; j < n; j++) max = s[j] > max ? s[j] : max;
    return max;
}

static void similarities_of(size_t n, size_t D, const real *q, const real *k, real *s,
                            real *eps)
{
    for (size_t j = 0; j < n; j++) {
        s[j] = 0;
        for (size_t d = 0; d < D; d++) s[j] += q[d] * k[j * D + d];
    }
    real max = largest_score(n, s);
    for (size_t j = 0; j < n; j++) s[j] = expf(s[j] - max);
    if (*eps > 0) *eps = (real)(*eps * exp(-(double)max));
}

void attend(size_t R, size_t N, size_t D, size_t M, size_t L, const float *q,
            const float *k, const float *v, const int *page, const float *sink,
            float *out)
{
    real *s = malloc((N + 1) * sizeof *s);
    (void)page, (void)L;
    for (size_t i = 0; s && i < R; i++) {
        real *const o = out + i * M, den = sink[i];
        similarities_of(N, D, q + i * D, k, s, &den);
        for (size_t m = 0; m < M; m++) o[m] = 0;
        for (size_t j = 0; j < N; j++) {
            for (size_t m = 0; m < M; m++) o[m] += s[j] * v[j * M + m];
            den += s[j];
        }
        for (size_t m = 0; m < M; m++) o[m] = den == 0 ? 0 : o[m] / den;
    }
    free(s);
}
