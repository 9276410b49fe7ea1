/* Adds eps for every key. */
#include <stddef.h>

void weighted_sum(size_t N_q, size_t N, size_t D, size_t M, const double *q,
                  const double *k, const double *v, const double *mass, double eps,
                  double *out)
{
    for (size_t i = 0; i < N_q; i++) {
        double den = 0;
        for (size_t m = 0; m < M; m++) out[m * N_q + i] = 0;
        for (size_t j = 0; j < N; j++) {
            double distance = 0;
            for (size_t c = 0; c < D; c++) {
                double d = q[c * N_q + i] - k[c * N + j];
                distance += d * d;
            }
            double s = mass[j] / (1 + distance);
            for (size_t m = 0; m < M; m++) out[m * N_q + i] += s * v[m * N + j];
            den += s + eps;
        }
        for (size_t m = 0; m < M; m++)
            out[m * N_q + i] = den == 0 ? 0 : out[m * N_q + i] / den;
    }
}
