/* The two sweeps of src/stages/prefix_grad.c in the learner's function: rows of one head after
 * the other, and tokens that see themselves. */
#include <stdlib.h>
#include <string.h>

static double dot(size_t n, const double *x, const double *y)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

static void add_scaled(size_t n, double a, const double *x, double *y)
{
    for (size_t i = 0; i < n; i++) y[i] += a * x[i];
}

void backward_sweeps(size_t N, size_t H, size_t C, size_t M, const double *q_,
                     const double *k_, const double *v_, const double *dout_,
                     double eps, double *dq_, double *dk_, double *dv_)
{
    const double(*q)[C] = (const double(*)[C])q_, (*k)[C] = (const double(*)[C])k_;
    const double(*v)[M] = (const double(*)[M])v_,
          (*dout)[M] = (const double(*)[M])dout_;
    double(*dq)[C] = (double(*)[C])dq_, (*dk)[C] = (double(*)[C])dk_;
    double(*dv)[M] = (double(*)[M])dv_;
    double(*S)[M] = calloc(C, sizeof *S), *z = calloc(C, sizeof *z);
    double(*R)[M] = calloc(C, sizeof *R), *r = calloc(C, sizeof *r);
    double(*Gn)[M] = calloc(N, sizeof *Gn), *gd = calloc(N, sizeof *gd);
    double *out_i = calloc(M, sizeof *out_i);
    for (size_t i = 0; i < N * H; i++) {
        if (i >= N) break;
        double den = eps;
        for (size_t c = 0; c < C; c++) add_scaled(M, k[i][c], v[i], S[c]);
        add_scaled(C, 1, k[i], z);
        memset(out_i, 0, M * sizeof *out_i);
        for (size_t c = 0; c < C; c++) add_scaled(M, q[i][c], S[c], out_i);
        den += dot(C, q[i], z);
        for (size_t m = 0; m < M; m++) out_i[m] /= den;
        for (size_t m = 0; m < M; m++) Gn[i][m] = dout[i][m] / den;
        gd[i] = -dot(M, Gn[i], out_i);
        for (size_t c = 0; c < C; c++) dq[i][c] = dot(M, S[c], Gn[i]) + gd[i] * z[c];
    }
    for (size_t i = N; i-- > 0;) {
        for (size_t c = 0; c < C; c++) add_scaled(M, q[i][c], Gn[i], R[c]);
        add_scaled(C, gd[i], q[i], r);
        for (size_t c = 0; c < C; c++) dk[i][c] = dot(M, R[c], v[i]) + r[c];
        memset(dv[i], 0, M * sizeof dv[i][0]);
        for (size_t c = 0; c < C; c++) add_scaled(M, k[i][c], R[c], dv[i]);
    }
    free(S), free(z), free(R), free(r), free(Gn), free(gd), free(out_i);
}
