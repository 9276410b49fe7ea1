/* From the loop to chunks. Chapters 4 and 9, eqs 9.1 to 9.3.
 *
 * Causal attention of one head, L tokens at a time. A query asks the state for everything before
 * its chunk, and visits the keys of its own chunk one by one, up to itself. When the chunk is
 * done, its keys and values are added to the state, each number of which is stored once:
 *
 *     num_i = q_i . S_before + sum_{j in the chunk, j <= i} (q_i . k_j) v_j     den_i likewise
 *     out_i = num_i / (den_i + eps)
 *
 *     q, k  [C, N]      features; a token is a column
 *     v     [M, N]
 *     S     [M + 1, C]  comes in and goes out: row m is column m of the state, the last row z
 *     out   [M, N]      result, not set to 0 when you get it
 *
 * N need not be a multiple of L, and L is at most 64. About 30 lines. The loop of chapter 4 stores
 * (M + 1) C numbers a token; you may store a third of that. A sum in a local variable is not
 * stored until it is written to an array. */
#include <stddef.h>

enum { MOST = 64 };

void attend(size_t N, size_t C, size_t M, size_t L, const float *q, const float *k,
            const float *v, float eps, float *S, float *out)
{
    //> todo
    //: (void)N, (void)C, (void)M, (void)L, (void)q, (void)k, (void)v, (void)eps, (void)S;
    //: (void)out;
    for (size_t start = 0; start < N; start += L) {
        const size_t end = N - start < L ? N : start + L;
        for (size_t i = start; i < end; i++) {
            float pairs[MOST], den = eps;
            for (size_t j = start; j <= i; j++) {
                float similarity = 0;
                for (size_t c = 0; c < C; c++)
                    similarity += q[c * N + i] * k[c * N + j];
                pairs[j - start] = similarity;
                den += similarity;
            }
            for (size_t c = 0; c < C; c++) den += q[c * N + i] * S[M * C + c];
            for (size_t m = 0; m < M; m++) {
                float num = 0;
                for (size_t c = 0; c < C; c++) num += q[c * N + i] * S[m * C + c];
                for (size_t j = start; j <= i; j++)
                    num += pairs[j - start] * v[m * N + j];
                out[m * N + i] = num / den;
            }
        }
        for (size_t row = 0; row <= M; row++)
            for (size_t c = 0; c < C; c++) {
                float sum = 0;
                for (size_t j = start; j < end; j++)
                    sum += k[c * N + j] * (row < M ? v[row * N + j] : 1);
                S[row * C + c] += sum;
            }
    }
    //< todo
}
