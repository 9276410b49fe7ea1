/* Counts the last token again until the block is full. */
#include <stddef.h>

void block_sums(size_t N, size_t C, size_t M, size_t L, size_t B, const float *k,
                const float *v, float *S, float *z)
{
    for (size_t x = 0; x < B * M * C; x++) S[x] = 0;
    for (size_t x = 0; x < B * C; x++) z[x] = 0;
    for (size_t b = 0; b < B; b++) {
        const size_t start = b * L, end = start + L;
        for (size_t j = start; j < end; j++)
            for (size_t c = 0; c < C; c++) {
                const size_t i = j < N ? j : N - 1;
                z[b * C + c] += k[c * N + i];
                for (size_t m = 0; m < M; m++)
                    S[(b * M + m) * C + c] += k[c * N + i] * v[i * M + m];
            }
    }
}
