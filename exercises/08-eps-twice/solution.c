/* Find the bug: one eps for two denominators. Chapter 8, eqs 2.5 and 7.1; two lines.
 *
 * Queries read a state and are differentiated: q [N, C] is raw, the feature map is exp, S is
 * [C, M] and z is [C].
 *
 *     out_i = exp(q_i)^T S / (exp(q_i)^T z + eps)
 *
 * dout [N, M] is the gradient of a loss with respect to out, dq [N, C] should be that with
 * respect to q. Each row of features is divided by its largest, so that none underflows.
 * Outputs are right. The gradient has the right values in all the author's tests, but in
 * training it sometimes explodes. Find out why, and mend it. */
#include <math.h>
#include <stdlib.h>

void read_and_back(size_t N, size_t C, size_t M, const float *q, const float *S,
                   const float *z, const float *dout, float eps, float *out, float *dq)
{
    //> todo
    //: float *f = malloc(C * sizeof *f);
    //: for (size_t i = 0; i < N; i++) {
    //:     float a = q[i * C];
    //:     for (size_t c = 1; c < C; c++) a = fmaxf(a, q[i * C + c]);
    //:     float den = eps * expf(-a);
    //:     for (size_t c = 0; c < C; c++) {
    //:         f[c] = expf(q[i * C + c] - a);
    //:         den += f[c] * z[c];
    //:     }
    //:     for (size_t m = 0; m < M; m++) {
    //:         out[i * M + m] = 0;
    //:         for (size_t c = 0; c < C; c++) out[i * M + m] += f[c] * S[c * M + m] / den;
    //:     }
    //:
    //:     float back = eps;
    //:     for (size_t c = 0; c < C; c++) back += f[c] * z[c];
    //:     for (size_t c = 0; c < C; c++) {
    //:         float sum = 0;
    //:         for (size_t m = 0; m < M; m++) {
    //:             const float G = dout[i * M + m] / back;
    //:             sum += G * (S[c * M + m] - out[i * M + m] * z[c]);
    //:         }
    //:         dq[i * C + c] = f[c] * sum;
    //:     }
    //: }
    //: free(f);
    float *f = malloc(C * sizeof *f);
    for (size_t i = 0; i < N; i++) {
        float a = q[i * C];
        for (size_t c = 1; c < C; c++) a = fmaxf(a, q[i * C + c]);
        float den = eps * expf(-a);
        for (size_t c = 0; c < C; c++) {
            f[c] = expf(q[i * C + c] - a);
            den += f[c] * z[c];
        }
        for (size_t m = 0; m < M; m++) {
            out[i * M + m] = 0;
            for (size_t c = 0; c < C; c++) out[i * M + m] += f[c] * S[c * M + m] / den;
        }

        for (size_t c = 0; c < C; c++) {
            float sum = 0;
            for (size_t m = 0; m < M; m++) {
                const float G = dout[i * M + m] / den;
                sum += G * (S[c * M + m] - out[i * M + m] * z[c]);
            }
            dq[i * C + c] = f[c] * sum;
        }
    }
    free(f);
    //< todo
}
