/* No short chunk. */
#include <stddef.h>

enum { MOST = 64 };

void attend(size_t N, size_t C, size_t M, size_t L, const float *q, const float *k,
            const float *v, float eps, float *S, float *out)
{
    for (size_t start = 0; start < N; start += L) {
        const size_t end = start + L;
        for (size_t i = start; i < end; i++) {
            float pairs[MOST], den = eps;
            for (size_t j = start; j <= i; j++) {
                float similarity = 0;
                for (size_t c = 0; c < C; c++)
                    similarity += q[c * N + i] * k[c * N + j];
                pairs[j - start] = similarity;
                den += similarity;
            }
            for (size_t c = 0; c < C; c++) den += q[c * N + i] * S[M * C + c];
            for (size_t m = 0; m < M; m++) {
                float num = 0;
                for (size_t c = 0; c < C; c++) num += q[c * N + i] * S[m * C + c];
                for (size_t j = start; j <= i; j++)
                    num += pairs[j - start] * v[m * N + j];
                out[m * N + i] = num / den;
            }
        }
        for (size_t row = 0; row <= M; row++)
            for (size_t c = 0; c < C; c++) {
                float sum = 0;
                for (size_t j = start; j < end; j++)
                    sum += k[c * N + j] * (row < M ? v[row * N + j] : 1);
                S[row * C + c] += sum;
            }
    }
}
