/* Writes the token before its own decay. */
#include <stdlib.h>

void decayed(size_t N, size_t C, size_t M, const float *q, const float *k,
             const float *v, const float *decay, float *out)
{
    float *S = calloc(C * M, sizeof *S);
    for (size_t i = 0; S && i < N; i++) {
        for (size_t m = 0; m < M; m++) out[i * M + m] = 0;
        for (size_t c = 0; c < C; c++)
            for (size_t m = 0; m < M; m++) {
                S[c * M + m] = decay[i] * (S[c * M + m] + k[c * N + i] * v[i * M + m]);
                out[i * M + m] += q[c * N + i] * S[c * M + m];
            }
    }
    free(S);
}
