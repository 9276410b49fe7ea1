/* Whole tiles only. */
#include <stddef.h>
#include <string.h>

/* One tile: T tokens from token i on, V columns from column m on. */
static inline void tile(const int T, const int V, size_t N, size_t C, size_t M,
                        size_t i, size_t m, float fade, const float *q, const float *k,
                        const float *v, float *S, float *out)
{
    float values[4][4], sums[4][4] = {{0}};
    for (int t = 0; t < T; t++)
        for (int x = 0; x < V; x++) values[t][x] = v[(m + x) * N + i + t];
    for (size_t c = 0; c < C; c++) {
        float row[4];
        for (int x = 0; x < V; x++) row[x] = S[c * M + m + x];
        for (int t = 0; t < T; t++) {
            const float k_t = k[c * N + i + t], q_t = q[c * N + i + t];
            for (int x = 0; x < V; x++) {
                row[x] = fade * row[x] + k_t * values[t][x];
                sums[t][x] += q_t * row[x];
            }
        }
        for (int x = 0; x < V; x++) S[c * M + m + x] = row[x];
    }
    for (int t = 0; t < T; t++)
        for (int x = 0; x < V; x++) out[(m + x) * N + i + t] = sums[t][x];
}

void recur(size_t N, size_t C, size_t M, float fade, const float *q, const float *k,
           const float *v, float *S, float *out)
{
    memset(out, 0, M * N * sizeof *out);
    for (size_t i = 0; i + 4 <= N; i += 4)
        for (size_t m = 0; m + 4 <= M; m += 4)
            tile(4, 4, N, C, M, i, m, fade, q, k, v, S, out);
    if (N < 4)
        for (size_t i = 0; i < N; i++)
            for (size_t m = 0; m < M; m++)
                tile(1, 1, N, C, M, i, m, fade, q, k, v, S, out);
}
