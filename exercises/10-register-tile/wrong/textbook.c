/* The loop of the text, with a mistake in none of its sums. */
#include <stddef.h>

void recur(size_t N, size_t C, size_t M, float fade, const float *q, const float *k,
           const float *v, float *S, float *out)
{
    for (size_t i = 0; i < N; i++) {
        for (size_t m = 0; m < M; m++) out[m * N + i] = 0;
        for (size_t c = 0; c < C; c++) {
            for (size_t m = 0; m < M; m++)
                S[c * M + m] = fade * S[c * M + m] + k[c * N + i] * v[m * N + i];
            for (size_t m = 0; m < M; m++)
                out[m * N + i] += q[c * N + i] * S[c * M + m];
        }
    }
}
