/* A tile of registers. Chapter 10, eqs 10.1 and 10.2; about 30 lines.
 *
 * Tokens are columns: q and k are [C, N], v and out are [M, N]. The state S [C, M] comes in and
 * goes out. For each token i in turn, for all c and m
 *
 *     S[c][m] = fade * S[c][m] + k[c][i] * v[m][i]
 *     out[m][i] = sum over c of q[c][i] * S[c][m]
 *
 * The loop below is right, and takes 6 N C M loads of memory: S, k, v, then S, q, out. Yours
 * may take a quarter of them. Local variables count as registers, also arrays of a fixed small
 * size: 2 KB in all, what a large CPU has. C and M may be 256. */
#include <stddef.h>

//> todo
//: void recur(size_t N, size_t C, size_t M, float fade, const float *q, const float *k,
//:            const float *v, float *S, float *out)
//: {
//:     for (size_t i = 0; i < N; i++) {
//:         for (size_t m = 0; m < M; m++) out[m * N + i] = 0;
//:         for (size_t c = 0; c < C; c++) {
//:             for (size_t m = 0; m < M; m++)
//:                 S[c * M + m] = fade * S[c * M + m] + k[c * N + i] * v[m * N + i];
//:             for (size_t m = 0; m < M; m++) out[m * N + i] += q[c * N + i] * S[c * M + m];
//:         }
//:     }
//: }
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
    for (size_t i = 0, T; i < N; i += T) {
        T = N - i < 4 ? N - i : 4;
        for (size_t m = 0, V; m < M; m += V) {
            V = M - m < 4 ? M - m : 4;
            tile((int)T, (int)V, N, C, M, i, m, fade, q, k, v, S, out);
        }
    }
}
//< todo
