/* The region sim_naive of src/stages/sim.c, with what it needs: rows, softmax, no mass. */
#include <math.h>
#include <stddef.h>

static double score(size_t D, const double *q_i, const double *k_j)
{
    double sum = 0;
    for (size_t c = 0; c < D; c++) sum += q_i[c] * k_j[c];
    return sum / sqrt((double)D);
}

void weighted_sum(size_t N_q, size_t N, size_t D, size_t M, const double *q,
                  const double *k, const double *v, const double *mass, double eps,
                  double *out)
{
    (void)mass;
    for (size_t i = 0; i < N_q; i++) {
        double den = eps;
        for (size_t m = 0; m < M; m++) out[i * M + m] = 0;
        for (size_t j = 0; j < N; j++) {
            double s = exp(score(D, q + i * D, k + j * D));
            for (size_t m = 0; m < M; m++) out[i * M + m] += s * v[j * M + m];
            den += s;
        }
        for (size_t m = 0; m < M; m++)
            out[i * M + m] = den == 0 ? 0 : out[i * M + m] / den;
    }
}
