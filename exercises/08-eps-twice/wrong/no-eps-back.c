/* Leaves eps out on the way back. */
#include <math.h>
#include <stdlib.h>

void read_and_back(size_t N, size_t C, size_t M, const float *q, const float *S,
                   const float *z, const float *dout, float eps, float *out, float *dq)
{
    float *f = malloc(C * sizeof *f);
    for (size_t i = 0; i < N; i++) {
        float a = q[i * C];
        for (size_t c = 1; c < C; c++) a = fmaxf(a, q[i * C + c]);
        float den = eps * expf(-a);
        for (size_t c = 0; c < C; c++) {
            f[c] = expf(q[i * C + c] - a);
            den += f[c] * z[c];
        }
        for (size_t m = 0; m < M; m++) {
            out[i * M + m] = 0;
            for (size_t c = 0; c < C; c++) out[i * M + m] += f[c] * S[c * M + m] / den;
        }

        for (size_t c = 0; c < C; c++) {
            float sum = 0;
            for (size_t m = 0; m < M; m++) {
                const float G = dout[i * M + m] / (den - eps * expf(-a));
                sum += G * (S[c * M + m] - out[i * M + m] * z[c]);
            }
            dq[i * C + c] = f[c] * sum;
        }
    }
    free(f);
}
