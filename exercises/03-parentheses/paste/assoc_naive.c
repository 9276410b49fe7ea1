/* src/stages/assoc.c, region assoc_naive, with the arguments given the names it uses. */
#include <stddef.h>

static void zeros(size_t n, float *x)
{
    for (size_t i = 0; i < n; i++) x[i] = 0;
}

static void add_scaled(size_t n, float a, const float *x, float *y)
{
    for (size_t i = 0; i < n; i++) y[i] += a * x[i];
}

void attend(size_t N, size_t H, size_t C, size_t M, const float *q_, const float *k_,
            const float *v_, const float *w, float eps, float *S, float *z, float *out_)
{
    (void)H, (void)w;
    const float(*q)[C] = (const void *)q_, (*k)[C] = (const void *)k_;
    const float(*v)[M] = (const void *)v_;
    float(*out)[M] = (void *)out_;

    zeros(C * M, S);
    zeros(C, z);
    for (size_t j = 0; j < N; j++) {
        for (size_t c = 0; c < C; c++) add_scaled(M, k[j][c], v[j], S + c * M);
        add_scaled(C, 1, k[j], z);
    }
    for (size_t i = 0; i < N; i++) {
        float den = eps;
        zeros(M, out[i]);
        for (size_t c = 0; c < C; c++) add_scaled(M, q[i][c], S + c * M, out[i]);
        for (size_t c = 0; c < C; c++) den += q[i][c] * z[c];
        for (size_t m = 0; m < M; m++) out[i][m] = den == 0 ? 0 : out[i][m] / den;
    }
}
