/* The way back of src/stages/prefix_grad.c in the learner's function: its R is [C, M]. */
#include <stddef.h>

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

/* Backwards: dphi(k_i) = R_i v_i + r_i, dv_i = R_i^T phi(k_i) (eqs 14, 15). */
void way_back(size_t N, size_t C, size_t M, size_t L, const double *q_,
              const double *G_, const double *gd, const double *k_, const double *v_,
              double *R_, double *r, double *dk_, double *dv_)
{
    const double(*q)[C] = (const double(*)[C])q_, (*k)[C] = (const double(*)[C])k_;
    const double(*v)[M] = (const double(*)[M])v_;
    const double(*Gn)[M] = (const double(*)[M])G_;
    double(*dk)[C] = (double(*)[C])dk_, (*dv)[M] = (double(*)[M])dv_,
    (*R)[M] = (double(*)[M])R_;
    (void)L;
    for (size_t i = N; i-- > 0;) {
        for (size_t c = 0; c < C; c++) add_scaled(M, q[i][c], Gn[i], R[c]);
        add_scaled(C, gd[i], q[i], r);
        for (size_t c = 0; c < C; c++) dk[i][c] = dot(M, R[c], v[i]) + r[c];
        for (size_t m = 0; m < M; m++) dv[i][m] = 0;
        for (size_t c = 0; c < C; c++) add_scaled(M, k[i][c], R[c], dv[i]);
    }
}
