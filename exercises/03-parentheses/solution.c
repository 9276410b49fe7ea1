/* Other parentheses. Chapter 3, eqs 5 and 6.
 *
 * Full attention with features, for several heads, with a weight for each key (a weight of 0
 * leaves the key out):
 *
 *     out_i = sum_j w_j (q_i . k_j) v_j / (sum_j w_j (q_i . k_j) + eps)
 *
 * Compute it without visiting pairs of tokens. First the two sums of each head, which no query
 * has a part in, then one question to them for each query:
 *
 *     S_mc = sum_j w_j v_jm k_jc      z_c = sum_j w_j k_jc
 *
 *     q, k  [N, H, C]  features: the heads of a token lie side by side
 *     v     [H, M, N]  a value is a column
 *     w     [N]
 *     S     [H, M, C]  result: C and M the other way round than in the chapter
 *     z     [H, C]     result
 *     out   [N, H, M]  result
 *
 * Results are not set to 0 when you get them. About 25 lines. Twice the tokens may cost
 * little more than twice the loads from memory. */
#include <stddef.h>

void attend(size_t N, size_t H, size_t C, size_t M, const float *q, const float *k,
            const float *v, const float *w, float eps, float *S, float *z, float *out)
{
    //> todo
    //: (void)N, (void)H, (void)C, (void)M, (void)q, (void)k, (void)v, (void)w, (void)eps;
    //: (void)S, (void)z, (void)out;
    for (size_t n = 0; n < H * M * C; n++) S[n] = 0;
    for (size_t n = 0; n < H * C; n++) z[n] = 0;

    for (size_t j = 0; j < N; j++)
        for (size_t h = 0; h < H; h++)
            for (size_t c = 0; c < C; c++) {
                const float f = w[j] * k[(j * H + h) * C + c];
                for (size_t m = 0; m < M; m++)
                    S[(h * M + m) * C + c] += f * v[(h * M + m) * N + j];
                z[h * C + c] += f;
            }

    for (size_t i = 0; i < N; i++)
        for (size_t h = 0; h < H; h++) {
            const float *q_i = q + (i * H + h) * C;
            float den = eps;
            for (size_t c = 0; c < C; c++) den += q_i[c] * z[h * C + c];
            for (size_t m = 0; m < M; m++) {
                float num = 0;
                for (size_t c = 0; c < C; c++) num += q_i[c] * S[(h * M + m) * C + c];
                out[(i * H + h) * M + m] = num / den;
            }
        }
    //< todo
}
