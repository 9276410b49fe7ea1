/* Adds and reads token by token, but from the front of the chunk. */
#include <stddef.h>

void way_back(size_t N, size_t C, size_t M, size_t L, const double *q, const double *G,
              const double *g, const double *k, const double *v, double *R, double *r,
              double *dk, double *dv)
{
    for (size_t end = N, start; end > 0; end = start) {
        start = (end - 1) / L * L;
        for (size_t i = start; i < end; i++) {
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
}
