/* weighted-sum: attention as it stands in eq 3, pair by pair. Chapter 1.
 *
 *     out_i = sum_j mass_j s_ij v_j / (eps + sum_j mass_j s_ij)
 *     s_ij  = 1 / (1 + |q_i - k_j|^2)
 *
 * A token is a COLUMN here: q is [D, N_q], k is [D, N], v is [M, N], out is [M, N_q], all row
 * by row in memory. So entry c of key j lies at k[c * N + j]. mass is [N]: key j counts as if
 * it were there mass_j times. Where the denominator is 0, the output is 0.
 *
 * No memory is needed besides out. About 15 lines. */
#include <stddef.h>

void weighted_sum(size_t N_q, size_t N, size_t D, size_t M, const double *q,
                  const double *k, const double *v, const double *mass, double eps,
                  double *out)
{
    //> todo
    for (size_t i = 0; i < N_q; i++) {
        double den = eps;
        for (size_t m = 0; m < M; m++) out[m * N_q + i] = 0;
        for (size_t j = 0; j < N; j++) {
            double distance = 0;
            for (size_t c = 0; c < D; c++) {
                double d = q[c * N_q + i] - k[c * N + j];
                distance += d * d;
            }
            double s = mass[j] / (1 + distance);
            for (size_t m = 0; m < M; m++) out[m * N_q + i] += s * v[m * N + j];
            den += s;
        }
        for (size_t m = 0; m < M; m++)
            out[m * N_q + i] = den == 0 ? 0 : out[m * N_q + i] / den;
    }
    //: (void)D, (void)q, (void)k, (void)v, (void)mass, (void)eps, (void)N;
    //: for (size_t e = 0; e < M * N_q; e++) out[e] = 1;
    //< todo
}
