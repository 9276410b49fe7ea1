/* Right, but each query asks all keys before it: the work grows with the square of N. */
#include <stdlib.h>

void prefix_loop(size_t N, size_t H, size_t C, size_t M, const float *q, const float *k,
                 const float *v, float *out, float least)
{
    for (size_t h = 0; h < H; h++) {
        for (size_t i = 0; i < N; i++) {
            float *out_i = out + (i * H + h) * M, den = 0;
            for (size_t m = 0; m < M; m++) out_i[m] = 0;
            for (size_t j = 0; j <= i; j++) {
                float weight = 0;
                for (size_t c = 0; c < C; c++)
                    weight += q[(i * H + h) * C + c] * k[(j * H + h) * C + c];
                den += weight;
                for (size_t m = 0; m < M; m++) out_i[m] += weight * v[(j * H + h) * M + m];
            }
            if (den < least) den = least;
            for (size_t m = 0; m < M; m++) out_i[m] /= den;
        }
    }
}
