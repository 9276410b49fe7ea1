/* Right, but every state of the way there is kept, as automatic differentiation does. */
#include <stdlib.h>

static void clear(size_t n, double *x)
{
    for (size_t i = 0; i < n; i++) x[i] = 0;
}

static double dot(size_t n, const double *x, const double *y)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

/* y += a x */
static void add(size_t n, double a, const double *x, double *y)
{
    for (size_t i = 0; i < n; i++) y[i] += a * x[i];
}

void backward_sweeps(size_t N, size_t H, size_t C, size_t M, const double *q,
                     const double *k, const double *v, const double *dout, double eps,
                     double *dq, double *dk, double *dv)
{
    const size_t size = C * M + C;
    double *S = malloc((size + M) * sizeof *S), *z = S + C * M, *out = z + C;
    double *states = malloc(N * size * sizeof *states);
    double *G = malloc(N * M * sizeof *G), *g = malloc(N * sizeof *g);
    for (size_t h = 0; S && G && g && h < H; h++) {
        clear(C * M + C, S);
        for (size_t i = 0; i < N; i++) {
            const size_t at = i * H + h;
            for (size_t e = 0; e < size; e++) states[i * size + e] = S[e];
            const double *q_i = q + at * C, den = dot(C, q_i, z) + eps;
            clear(M, out);
            for (size_t c = 0; c < C; c++) add(M, q_i[c] / den, S + c * M, out);
            for (size_t m = 0; m < M; m++) G[i * M + m] = dout[at * M + m] / den;
            g[i] = -dot(M, G + i * M, out);
            for (size_t c = 0; c < C; c++) {
                add(M, k[at * C + c], v + at * M, S + c * M);
                z[c] += k[at * C + c];
            }
        }
        clear(C * M + C, S); /* from here on S is R and z is r */
        for (size_t i = N; i-- > 0;) {
            const size_t at = i * H + h;
            const double *S_i = states + i * size, *z_i = S_i + C * M;
            for (size_t c = 0; c < C; c++)
                dq[at * C + c] = dot(M, S_i + c * M, G + i * M) + g[i] * z_i[c];
            clear(M, dv + at * M);
            for (size_t c = 0; c < C; c++) {
                dk[at * C + c] = dot(M, S + c * M, v + at * M) + z[c];
                add(M, k[at * C + c], S + c * M, dv + at * M);
                add(M, q[at * C + c], G + i * M, S + c * M);
                z[c] += g[i] * q[at * C + c];
            }
        }
    }
    free(S);
    free(states);
    free(G);
    free(g);
}
