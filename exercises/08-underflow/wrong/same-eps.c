/* Scales the rows and leaves eps as it was. */
#include <math.h>
#include <stdlib.h>

void tame(size_t Q, size_t N, size_t D, size_t M, const float *q, const float *k,
          const float *v, float eps, float *out)
{
    float *S = calloc(D * M + D, sizeof *S), *z = S + D * M, b = -INFINITY;
    for (size_t x = 0; x < D * N; x++) b = fmaxf(b, k[x]);
    for (size_t d = 0; d < D; d++)
        for (size_t j = 0; j < N; j++) {
            const float f = expf(k[d * N + j] - b);
            z[d] += f;
            for (size_t m = 0; m < M; m++) S[d * M + m] += f * v[j * M + m];
        }
    for (size_t i = 0; i < Q; i++) {
        float a = -INFINITY;
        for (size_t d = 0; d < D; d++) a = fmaxf(a, q[d * Q + i]);
        float den = eps;
        for (size_t m = 0; m < M; m++) out[i * M + m] = 0;
        for (size_t d = 0; d < D; d++) {
            const float f = expf(q[d * Q + i] - a);
            den += f * z[d];
            for (size_t m = 0; m < M; m++) out[i * M + m] += f * S[d * M + m];
        }
        for (size_t m = 0; m < M; m++) out[i * M + m] /= den;
    }
    free(S);
}
