/* prefix_naive of src/stages/prefix.c in the learner's function: rows of tokens, a denominator
 * and no decay. */
#include <stdlib.h>
#include <string.h>

void decayed(size_t N, size_t C, size_t M, const float *q_, const float *k_,
             const float *v_, const float *decay, float *out_)
{
    const float(*q)[C] = (const float(*)[C])q_, (*k)[C] = (const float(*)[C])k_;
    const float(*v)[M] = (const float(*)[M])v_;
    float(*out)[M] = (float(*)[M])out_;
    float(*S)[M] = calloc(C, sizeof *S), *z = calloc(C, sizeof *z);
    (void)decay;
    for (size_t i = 0; i < N; i++) {
        /* S_i = S_{i-1} + phi(k_i) v_i^T, z_i = z_{i-1} + phi(k_i) */
        for (size_t c = 0; c < C; c++) {
            for (size_t m = 0; m < M; m++) S[c][m] += k[i][c] * v[i][m];
            z[c] += k[i][c];
        }
        /* out_i = phi(q_i)^T S_i / (phi(q_i)^T z_i + eps) */
        float den = 0;
        memset(out[i], 0, M * sizeof out[i][0]);
        for (size_t c = 0; c < C; c++) {
            for (size_t m = 0; m < M; m++) out[i][m] += q[i][c] * S[c][m];
            den += q[i][c] * z[c];
        }
        for (size_t m = 0; m < M; m++) out[i][m] /= den;
    }
    free(S);
    free(z);
}
