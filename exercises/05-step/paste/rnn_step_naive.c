/* src/stages/rnn.c, region rnn_step_naive, with the arguments given the names it uses, features
 * made before it, and a loop over heads around it. */
#include <math.h>
#include <stddef.h>

static float feature(float x)
{
    return x > 0 ? x + 1 : expf(x);
}

static void step_naive(size_t C, size_t M, const float *q_i, const float *k_i,
                       const float *v_i, float eps, float *s, float *z, float *out_i)
{
    for (size_t c = 0; c < C; c++)
        for (size_t m = 0; m < M; m++) s[c * M + m] += k_i[c] * v_i[m];
    for (size_t c = 0; c < C; c++) z[c] += k_i[c];

    float den = eps;
    for (size_t m = 0; m < M; m++) out_i[m] = 0;
    for (size_t c = 0; c < C; c++)
        for (size_t m = 0; m < M; m++) out_i[m] += q_i[c] * s[c * M + m];
    for (size_t c = 0; c < C; c++) den += q_i[c] * z[c];
    for (size_t m = 0; m < M; m++) out_i[m] = den == 0 ? 0 : out_i[m] / den;
}

void step(size_t H, size_t C, size_t M, const float *q, const float *k, const float *v,
          float least, float *state, float *out)
{
    for (size_t h = 0; h < H; h++) {
        float fq[64], fk[64], *s = state + h * (M + 1) * C;
        for (size_t c = 0; c < C; c++) {
            fq[c] = feature(q[h * C + c]);
            fk[c] = feature(k[h * C + c]);
        }
        step_naive(C, M, fq, fk, v + h * M, least, s, s + C * M, out + h * M);
    }
}
