/* Softmax in one pass over a cache. Chapter 10, eq 10.3; about 20 lines.
 *
 * R queries [R, D] ask N keys, all of them. Keys and values lie in pages of L rows, k [G, L, D]
 * and v [G, L, M]; the pages of this sequence are page[0], page[1], .. in order, and the last
 * one may not be full. With s_n = q_i . k_n, which is scaled already,
 *
 *     out_i = sum_n exp(s_n) v_n / (exp(sink_i) + sum_n exp(s_n))
 *
 * Scores may be in the hundreds, where exp is Inf. A query reads each key once; take no memory
 * that grows with N. */
#include <math.h>
#include <stddef.h>

void attend(size_t R, size_t N, size_t D, size_t M, size_t L, const float *q,
            const float *k, const float *v, const int *page, const float *sink,
            float *out)
{
    //> todo
    //: (void)R, (void)N, (void)D, (void)M, (void)L, (void)q, (void)k, (void)v;
    //: (void)page, (void)sink, (void)out;
    for (size_t i = 0; i < R; i++) {
        float *const o = out + i * M, max = sink[i], den = 1;
        for (size_t m = 0; m < M; m++) o[m] = 0;
        for (size_t n = 0; n < N; n++) {
            const size_t row = (size_t)page[n / L] * L + n % L;
            float score = 0;
            for (size_t d = 0; d < D; d++) score += q[i * D + d] * k[row * D + d];
            if (score > max) {
                const float factor = expf(max - score);
                for (size_t m = 0; m < M; m++) o[m] *= factor;
                den *= factor;
                max = score;
            }
            const float weight = expf(score - max);
            for (size_t m = 0; m < M; m++) o[m] += weight * v[row * M + m];
            den += weight;
        }
        for (size_t m = 0; m < M; m++) o[m] /= den;
    }
    //< todo
}
