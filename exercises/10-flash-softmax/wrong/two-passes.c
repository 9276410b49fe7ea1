/* The largest score first, then everything once more. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

void attend(size_t R, size_t N, size_t D, size_t M, size_t L, const float *q,
            const float *k, const float *v, const int *page, const float *sink,
            float *out)
{
    for (size_t i = 0; i < R; i++) {
        float *const o = out + i * M, max = sink[i];
        for (size_t n = 0; n < N; n++) {
            const size_t row = (size_t)page[n / L] * L + n % L;
            float score = 0;
            for (size_t d = 0; d < D; d++) score += q[i * D + d] * k[row * D + d];
            if (score > max) max = score;
        }
        float den = expf(sink[i] - max);
        for (size_t m = 0; m < M; m++) o[m] = 0;
        for (size_t n = 0; n < N; n++) {
            const size_t row = (size_t)page[n / L] * L + n % L;
            float score = 0;
            for (size_t d = 0; d < D; d++) score += q[i * D + d] * k[row * D + d];
            const float weight = expf(score - max);
            for (size_t m = 0; m < M; m++) o[m] += weight * v[row * M + m];
            den += weight;
        }
        for (size_t m = 0; m < M; m++) o[m] /= den;
    }
}
