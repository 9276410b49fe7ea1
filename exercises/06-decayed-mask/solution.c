/* The mask of a decayed state. Chapter 6; about 12 lines.
 *
 * q and k are features, one ROW for each feature: [C, N], element (c, i) of q is q[c * N + i].
 * v and out are [N, M], decay is [N]. There is no denominator:
 *
 *     out = ((Q^T K) o L) V      L_ij = decay_{j+1} decay_{j+2} .. decay_i for j < i,
 *                                L_ii = 1, and 0 for j > i
 *
 * where o multiplies entry by entry. Compute it in one pass over the tokens, with memory that
 * does not grow with N. */
#include <stdlib.h>

void decayed(size_t N, size_t C, size_t M, const float *q, const float *k,
             const float *v, const float *decay, float *out)
{
    //> todo
    //: (void)N, (void)C, (void)M, (void)q, (void)k, (void)v, (void)decay, (void)out;
    float *S = calloc(C * M, sizeof *S);
    for (size_t i = 0; S && i < N; i++) {
        for (size_t m = 0; m < M; m++) out[i * M + m] = 0;
        for (size_t c = 0; c < C; c++)
            for (size_t m = 0; m < M; m++) {
                S[c * M + m] = decay[i] * S[c * M + m] + k[c * N + i] * v[i * M + m];
                out[i * M + m] += q[c * N + i] * S[c * M + m];
            }
    }
    free(S);
    //< todo
}
