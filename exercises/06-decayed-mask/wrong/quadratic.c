/* Right, but each query asks all keys before it. */
#include <stdlib.h>

void decayed(size_t N, size_t C, size_t M, const float *q, const float *k,
             const float *v, const float *decay, float *out)
{
    for (size_t i = 0; i < N; i++) {
        float mask = 1;
        for (size_t m = 0; m < M; m++) out[i * M + m] = 0;
        for (size_t j = i + 1; j-- > 0;) {
            float weight = 0;
            for (size_t c = 0; c < C; c++) weight += q[c * N + i] * k[c * N + j];
            for (size_t m = 0; m < M; m++)
                out[i * M + m] += mask * weight * v[j * M + m];
            mask *= decay[j];
        }
    }
}
