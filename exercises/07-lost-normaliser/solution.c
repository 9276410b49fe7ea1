/* Find the bug: the lost normaliser. Chapter 7, eqs 14 and 7.2; three lines.
 *
 * q and k are features [N, C]. Values and dout stand in columns, [M, N]: value m of token i is
 * v[m * N + i]. Key j counts share[j] times, and
 *
 *     out_i = sum_{j <= i} share_j (q_i . k_j) v_j / (sum_{j <= i} share_j (q_i . k_j) + eps)
 *
 * dout is the gradient of a loss with respect to out; dk should be that with respect to k. Its
 * author has compared the outputs with another program, and they are right. The gradient is not.
 * Find out why, and mend it. */
#include <stdlib.h>

void key_gradient(size_t N, size_t C, size_t M, const double *q, const double *k,
                  const double *v, const double *share, const double *dout, double eps,
                  double *dk)
{
    //> todo
    //: double *S = calloc(C * M + C, sizeof *S), *z = S + C * M; /* S on the way back is R */
    //: double *G = malloc(M * N * sizeof *G);
    //: for (size_t i = 0; i < N; i++) {
    //:     double den = eps;
    //:     for (size_t c = 0; c < C; c++) {
    //:         z[c] += share[i] * k[i * C + c];
    //:         den += q[i * C + c] * z[c];
    //:     }
    //:     for (size_t m = 0; m < M; m++) {
    //:         for (size_t c = 0; c < C; c++)
    //:             S[c * M + m] += share[i] * k[i * C + c] * v[m * N + i];
    //:         G[m * N + i] = dout[m * N + i] / den;
    //:     }
    //: }
    //: for (size_t x = 0; x < C * M + C; x++) S[x] = 0;
    //: for (size_t i = N; i-- > 0;)
    //:     for (size_t c = 0; c < C; c++) {
    //:         double sum = 0;
    //:         for (size_t m = 0; m < M; m++) {
    //:             S[c * M + m] += q[i * C + c] * G[m * N + i];
    //:             sum += S[c * M + m] * v[m * N + i];
    //:         }
    //:         dk[i * C + c] = share[i] * sum;
    //:     }
    //: free(S);
    //: free(G);
    double *S = calloc(C * M + C, sizeof *S),
           *z = S + C * M; /* on the way back R and r */
    double *G = malloc(M * N * sizeof *G), *g = calloc(N, sizeof *g);
    for (size_t i = 0; i < N; i++) {
        double den = eps;
        for (size_t c = 0; c < C; c++) {
            z[c] += share[i] * k[i * C + c];
            den += q[i * C + c] * z[c];
        }
        for (size_t m = 0; m < M; m++) {
            double out = 0;
            for (size_t c = 0; c < C; c++) {
                S[c * M + m] += share[i] * k[i * C + c] * v[m * N + i];
                out += q[i * C + c] * S[c * M + m] / den;
            }
            G[m * N + i] = dout[m * N + i] / den;
            g[i] -= G[m * N + i] * out;
        }
    }
    for (size_t x = 0; x < C * M + C; x++) S[x] = 0;
    for (size_t i = N; i-- > 0;)
        for (size_t c = 0; c < C; c++) {
            z[c] += g[i] * q[i * C + c];
            double sum = z[c];
            for (size_t m = 0; m < M; m++) {
                S[c * M + m] += q[i * C + c] * G[m * N + i];
                sum += S[c * M + m] * v[m * N + i];
            }
            dk[i * C + c] = share[i] * sum;
        }
    free(S);
    free(G);
    free(g);
    //< todo
}
