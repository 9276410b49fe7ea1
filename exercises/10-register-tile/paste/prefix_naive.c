/* sequential_naive of src/stages/prefix.c: rows of tokens, nothing fades, a denominator. */
#include <stddef.h>
#include <stdlib.h>

void recur(size_t N, size_t C, size_t M, float fade, const float *q_, const float *k_,
           const float *v_, float *S_, float *out_)
{
    const float(*q)[C] = (const float(*)[C])q_, (*k)[C] = (const float(*)[C])k_;
    const float(*v)[M] = (const float(*)[M])v_;
    float(*out)[M] = (float(*)[M])out_, (*S)[M] = (float(*)[M])S_;
    float *z = calloc(C, sizeof *z);
    (void)fade;
    for (size_t i = 0; i < N; i++) {
        for (size_t c = 0; c < C; c++) {
            for (size_t m = 0; m < M; m++) S[c][m] += k[i][c] * v[i][m];
            z[c] += k[i][c];
        }
        float den = 0;
        for (size_t m = 0; m < M; m++) out[i][m] = 0;
        for (size_t c = 0; c < C; c++) {
            for (size_t m = 0; m < M; m++) out[i][m] += q[i][c] * S[c][m];
            den += q[i][c] * z[c];
        }
        for (size_t m = 0; m < M; m++) out[i][m] = den == 0 ? 0 : out[i][m] / den;
    }
    free(z);
}
