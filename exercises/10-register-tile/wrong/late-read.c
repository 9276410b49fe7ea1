/* All four tokens go into the row before any of them reads it. */
#include <stddef.h>

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
            const float k_t = k[c * N + i + t];
            for (int x = 0; x < V; x++) row[x] = fade * row[x] + k_t * values[t][x];
        }
        for (int t = 0; t < T; t++)
            for (int x = 0; x < V; x++) sums[t][x] += q[c * N + i + t] * row[x];
        for (int x = 0; x < V; x++) S[c * M + m + x] = row[x];
    }
    for (int t = 0; t < T; t++)
        for (int x = 0; x < V; x++) out[(m + x) * N + i + t] = sums[t][x];
}

void recur(size_t N, size_t C, size_t M, float fade, const float *q, const float *k,
           const float *v, float *S, float *out)
{
    for (size_t i = 0, T; i < N; i += T) {
        T = N - i < 4 ? N - i : 4;
        for (size_t m = 0, V; m < M; m += V) {
            V = M - m < 4 ? M - m : 4;
            tile((int)T, (int)V, N, C, M, i, m, fade, q, k, v, S, out);
        }
    }
}
