/* src/stages/prefix.c, region prefix_naive, with the arguments given the names it uses. */
#include <stddef.h>

void attend(size_t N, size_t C, size_t M, size_t L, const float *q_, const float *k_,
            const float *v_, float eps, float *out_)
{
    (void)L;
    const float(*q)[C] = (const void *)q_, (*k)[C] = (const void *)k_;
    const float(*v)[M] = (const void *)v_;
    float(*out)[M] = (void *)out_, S[8][8] = {{0}}, z[8] = {0};
    for (size_t i = 0; i < N; i++) {
        for (size_t c = 0; c < C; c++) {
            for (size_t m = 0; m < M; m++) S[c][m] += k[i][c] * v[i][m];
            z[c] += k[i][c];
        }
        float den = eps;
        for (size_t m = 0; m < M; m++) out[i][m] = 0;
        for (size_t c = 0; c < C; c++) {
            for (size_t m = 0; m < M; m++) out[i][m] += q[i][c] * S[c][m];
            den += q[i][c] * z[c];
        }
        for (size_t m = 0; m < M; m++) out[i][m] = den == 0 ? 0 : out[i][m] / den;
    }
}
