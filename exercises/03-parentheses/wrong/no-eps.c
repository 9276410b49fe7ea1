/* eps is not used. */
#include <stddef.h>

void attend(size_t N, size_t H, size_t C, size_t M, const float *q, const float *k,
            const float *v, const float *w, float eps, float *S, float *z, float *out)
{
    (void)eps;
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
            const float *q_i = q + (i * H + h) * C;
            float den = 0;
            for (size_t c = 0; c < C; c++) den += q_i[c] * z[h * C + c];
            for (size_t m = 0; m < M; m++) {
                float num = 0;
                for (size_t c = 0; c < C; c++) num += q_i[c] * S[(h * M + m) * C + c];
                out[(i * H + h) * M + m] = num / den;
            }
        }
}
