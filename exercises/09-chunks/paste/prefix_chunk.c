/* src/stages/prefix.c, regions prefix_inside and prefix_chunk, with the arguments given the names
 * they use and one level of sums. */
#include <stddef.h>

void attend(size_t N, size_t C, size_t M, size_t L, const float *q_, const float *k_,
            const float *v_, float eps, float *S, float *out_)
{
    const float(*q)[C] = (const void *)q_, (*k)[C] = (const void *)k_;
    const float(*v)[M] = (const void *)v_;
    float(*out)[M] = (void *)out_, *z = S + C * M;
    for (size_t start = 0; start < N; start += L) {
        const size_t end = N - start < L ? N : start + L;
        for (size_t i = start; i < end; i++) {
            float den = eps;
            for (size_t m = 0; m < M; m++) out[i][m] = 0;
            for (size_t c = 0; c < C; c++) {
                for (size_t m = 0; m < M; m++) out[i][m] += q[i][c] * S[c * M + m];
                den += q[i][c] * z[c];
            }
            for (size_t j = start; j <= i; j++) {
                float s = 0;
                for (size_t c = 0; c < C; c++) s += q[i][c] * k[j][c];
                for (size_t m = 0; m < M; m++) out[i][m] += s * v[j][m];
                den += s;
            }
            for (size_t m = 0; m < M; m++) out[i][m] = den == 0 ? 0 : out[i][m] / den;
        }
        for (size_t j = start; j < end; j++)
            for (size_t c = 0; c < C; c++) {
                for (size_t m = 0; m < M; m++) S[c * M + m] += k[j][c] * v[j][m];
                z[c] += k[j][c];
            }
    }
}
