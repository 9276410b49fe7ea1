/* Find the bug: the future leaks. Chapter 7, eqs 14 and 15; a few lines.
 *
 * The way back of the two sweeps, in chunks of L tokens. q and k are features [N, C], v is
 * [N, M]; G [N, M] and g [N] are the gradients of numerators and denominators, from the way
 * there. R and r hold what comes from the tokens behind the sequence, and afterwards what the
 * sequence hands on to those before it. R is transposed: [M, C].
 *
 *     R_j = R + sum_{i >= j} q_i G_i^T     r_j = r + sum_{i >= j} g_i q_i
 *     dk_j = R_j v_j + r_j                 dv_j = R_j^T k_j
 *
 * With chunks of one token it is right, with others it is not. Find out why, and mend it. */
#include <stddef.h>

void way_back(size_t N, size_t C, size_t M, size_t L, const double *q, const double *G,
              const double *g, const double *k, const double *v, double *R, double *r,
              double *dk, double *dv)
{
    //> todo
    //: for (size_t end = N, start; end > 0; end = start) {
    //:     start = (end - 1) / L * L;
    //:     for (size_t i = start; i < end; i++)
    //:         for (size_t c = 0; c < C; c++) {
    //:             r[c] += g[i] * q[i * C + c];
    //:             for (size_t m = 0; m < M; m++) R[m * C + c] += q[i * C + c] * G[i * M + m];
    //:         }
    //:     for (size_t i = start; i < end; i++) {
    //:         for (size_t m = 0; m < M; m++) dv[i * M + m] = 0;
    //:         for (size_t c = 0; c < C; c++) {
    //:             dk[i * C + c] = r[c];
    //:             for (size_t m = 0; m < M; m++) {
    //:                 dk[i * C + c] += R[m * C + c] * v[i * M + m];
    //:                 dv[i * M + m] += R[m * C + c] * k[i * C + c];
    //:             }
    //:         }
    //:     }
    //: }
    for (size_t end = N, start; end > 0; end = start) {
        start = (end - 1) / L * L;
        for (size_t i = end; i-- > start;) {
            for (size_t c = 0; c < C; c++) {
                r[c] += g[i] * q[i * C + c];
                for (size_t m = 0; m < M; m++)
                    R[m * C + c] += q[i * C + c] * G[i * M + m];
            }
            for (size_t m = 0; m < M; m++) dv[i * M + m] = 0;
            for (size_t c = 0; c < C; c++) {
                dk[i * C + c] = r[c];
                for (size_t m = 0; m < M; m++) {
                    dk[i * C + c] += R[m * C + c] * v[i * M + m];
                    dv[i * M + m] += R[m * C + c] * k[i * C + c];
                }
            }
        }
    }
    //< todo
}
