/* assoc_naive of src/stages/assoc.c in the learner's function, on features made as they are. */
#include <math.h>
#include <stdlib.h>

typedef float real;

static void zeros(size_t n, real *x)
{
    for (size_t i = 0; i < n; i++) x[i] = 0;
}

static void add_scaled(size_t n, real a, const real *x, real *y)
{
    for (size_t i = 0; i < n; i++) y[i] += a * x[i];
}

static void level_read(size_t C, size_t M, const real *S, const real *z, const real *f, real *num,
                       real *den)
{
    for (size_t c = 0; c < C; c++) add_scaled(M, f[c], S + c * M, num);
    for (size_t c = 0; c < C; c++) *den += f[c] * z[c];
}

void tame(size_t N_q, size_t N, size_t C, size_t M, const float *raw_q, const float *raw_k,
          const float *v_, float eps, float *out_)
{
    real *f = malloc((N_q + N) * C * sizeof *f), *g = f + N_q * C;
    real *work = malloc((C * M + C) * sizeof *work);
    for (size_t x = 0; x < N_q * C; x++) f[x] = expf(raw_q[x]);
    for (size_t x = 0; x < N * C; x++) g[x] = expf(raw_k[x]);
    const real(*q)[C] = (const real(*)[C])f, (*k)[C] = (const real(*)[C])g;
    const real(*v)[M] = (const real(*)[M])v_;
    real(*out)[M] = (real(*)[M])out_, *S = work, *z = S + C * M;

    /* Sum over the keys, once for all queries. */
    zeros(C * M + C, S);
    for (size_t j = 0; j < N; j++) {
        for (size_t c = 0; c < C; c++) add_scaled(M, k[j][c], v[j], S + c * M);
        add_scaled(C, 1, k[j], z);
    }
    /* Read for each query. */
    for (size_t i = 0; i < N_q; i++) {
        real den = (real)eps;
        zeros(M, out[i]);
        level_read(C, M, S, z, q[i], out[i], &den);
        for (size_t m = 0; m < M; m++) out[i][m] /= den;
    }
    free(f);
    free(work);
}
