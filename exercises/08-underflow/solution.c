/* Tame underflow. Chapter 8, eq 2.5; about 25 lines.
 *
 * Full attention with the feature map exp. q and k are raw, one ROW for each entry: [D, Q] and
 * [D, N], entry d of key j is k[d * N + j]. v is [N, M], out is [Q, M].
 *
 *     s_ij = sum_d exp(q_di) exp(k_dj)      out_i = sum_j s_ij v_j / (sum_j s_ij + eps)
 *
 * Entries may be near -200 or near 90, where exp is 0 or infinite in float32, and the answer still
 * has to be that of the formula, eps included. All keys are known before the first query is
 * asked. The work may not grow with the square of the number of tokens. */
#include <math.h>
#include <stdlib.h>

void tame(size_t Q, size_t N, size_t D, size_t M, const float *q, const float *k,
          const float *v, float eps, float *out)
{
    //> todo
    //: (void)Q, (void)N, (void)D, (void)M, (void)q, (void)k, (void)v, (void)eps, (void)out;
    float *S = calloc(D * M + D, sizeof *S), *z = S + D * M, b = -INFINITY;
    for (size_t x = 0; x < D * N; x++) b = fmaxf(b, k[x]);
    for (size_t d = 0; d < D; d++)
        for (size_t j = 0; j < N; j++) {
            const float f = expf(k[d * N + j] - b);
            z[d] += f;
            for (size_t m = 0; m < M; m++) S[d * M + m] += f * v[j * M + m];
        }
    for (size_t i = 0; i < Q; i++) {
        float a = -INFINITY;
        for (size_t d = 0; d < D; d++) a = fmaxf(a, q[d * Q + i]);
        float den = (float)((double)eps * exp(-(double)a - (double)b));
        for (size_t m = 0; m < M; m++) out[i * M + m] = 0;
        for (size_t d = 0; d < D; d++) {
            const float f = expf(q[d * Q + i] - a);
            den += f * z[d];
            for (size_t m = 0; m < M; m++) out[i * M + m] += f * S[d * M + m];
        }
        for (size_t m = 0; m < M; m++) out[i * M + m] /= den;
    }
    free(S);
    //< todo
}
