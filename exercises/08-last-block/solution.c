/* Find the bug: past the end. Chapter 8; one or two lines.
 *
 * The sums of blocks of L tokens, each by itself, as the partial sums of two levels and
 * the leaves of a scan need them. k holds features, one ROW for each: [C, N]; v is
 * [N, M]. There are B = ceil(N / L) blocks; S is [B, M, C], z is [B, C]:
 *
 *     S_b = sum over the tokens i of block b of v_i k_i^T     z_b = sum of k_i
 *
 * It has worked for years, with N = 1024 and L = 64. Find out when it does not, and mend it. */
#include <stddef.h>

void block_sums(size_t N, size_t C, size_t M, size_t L, size_t B, const float *k,
                const float *v, float *S, float *z)
{
    //> todo
    //: for (size_t x = 0; x < B * M * C; x++) S[x] = 0;
    //: for (size_t x = 0; x < B * C; x++) z[x] = 0;
    //: for (size_t b = 0; b < B; b++) {
    //:     const size_t start = b * L, end = start + L;
    //:     for (size_t i = start; i < end; i++)
    //:         for (size_t c = 0; c < C; c++) {
    //:             z[b * C + c] += k[c * N + i];
    //:             for (size_t m = 0; m < M; m++)
    //:                 S[(b * M + m) * C + c] += k[c * N + i] * v[i * M + m];
    //:         }
    //: }
    for (size_t x = 0; x < B * M * C; x++) S[x] = 0;
    for (size_t x = 0; x < B * C; x++) z[x] = 0;
    for (size_t b = 0; b < B; b++) {
        const size_t start = b * L, end = N - start < L ? N : start + L;
        for (size_t i = start; i < end; i++)
            for (size_t c = 0; c < C; c++) {
                z[b * C + c] += k[c * N + i];
                for (size_t m = 0; m < M; m++)
                    S[(b * M + m) * C + c] += k[c * N + i] * v[i * M + m];
            }
    }
    //< todo
}
