/* The causal sum as a loop. Chapter 4, eqs 10 to 12; about 20 lines.
 *
 * q and k are features, [N, H, C]; v and out are [N, H, M]: the heads of a token lie side by
 * side, element (i, h, c) of q is q[(i * H + h) * C + c]. For each head
 *
 *     out_i = sum_{j <= i} (q_i . k_j) v_j / max(sum_{j <= i} q_i . k_j, least)
 *
 * in one pass over the tokens: the work may grow with N, not with its square, and the memory
 * may not grow with N at all. */
#include <stdlib.h>

void prefix_loop(size_t N, size_t H, size_t C, size_t M, const float *q, const float *k,
                 const float *v, float *out, float least)
{
    //> todo
    //: (void)N, (void)H, (void)C, (void)M, (void)q, (void)k, (void)v, (void)out, (void)least;
    float *S = malloc(C * M * sizeof *S), *z = malloc(C * sizeof *z);
    for (size_t h = 0; S && z && h < H; h++) {
        for (size_t x = 0; x < C * M; x++) S[x] = 0;
        for (size_t c = 0; c < C; c++) z[c] = 0;
        for (size_t i = 0; i < N; i++) {
            const float *q_i = q + (i * H + h) * C, *k_i = k + (i * H + h) * C;
            const float *v_i = v + (i * H + h) * M;
            float *out_i = out + (i * H + h) * M, den = 0;
            for (size_t m = 0; m < M; m++) out_i[m] = 0;
            for (size_t c = 0; c < C; c++) {
                z[c] += k_i[c];
                den += q_i[c] * z[c];
                for (size_t m = 0; m < M; m++) {
                    S[c * M + m] += k_i[c] * v_i[m];
                    out_i[m] += q_i[c] * S[c * M + m];
                }
            }
            if (den < least) den = least;
            for (size_t m = 0; m < M; m++) out_i[m] /= den;
        }
    }
    free(S);
    free(z);
    //< todo
}
