/* One token at a time. */
#include <stddef.h>

void attend(size_t N, size_t C, size_t M, size_t L, const float *q, const float *k,
            const float *v, float eps, float *S, float *out)
{
    (void)L;
    for (size_t i = 0; i < N; i++) {
        float den = eps;
        for (size_t c = 0; c < C; c++) {
            for (size_t m = 0; m < M; m++) S[m * C + c] += k[c * N + i] * v[m * N + i];
            S[M * C + c] += k[c * N + i];
            den += q[c * N + i] * S[M * C + c];
        }
        for (size_t m = 0; m < M; m++) {
            float num = 0;
            for (size_t c = 0; c < C; c++) num += q[c * N + i] * S[m * C + c];
            out[m * N + i] = num / den;
        }
    }
}
