/* The backward sweeps. Chapter 7, eqs 13 to 15 and 7.2; about 40 lines.
 *
 * q and k are features [N, H, C], v and dout are [N, H, M]: element (i, h, c) of q is
 * q[(i * H + h) * C + c]. A token sees only the tokens BEFORE it. For each head
 *
 *     out_i = sum_{j < i} (q_i . k_j) v_j / (sum_{j < i} q_i . k_j + eps)
 *
 * with eps > 0, and dout is the gradient of a loss with respect to out. Write its gradient with
 * respect to q, k and v into dq, dk and dv. out itself is not asked for.
 *
 * N may be 20,000: neither N x N weights nor N states fit into the 8 MB that you may take. */
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
    //> todo
    //: (void)N, (void)H, (void)C, (void)M, (void)q, (void)k, (void)v, (void)dout, (void)eps;
    //: (void)dq, (void)dk, (void)dv, (void)clear, (void)dot, (void)add, (void)malloc;
    double *S = malloc((C * M + C + M) * sizeof *S), *z = S + C * M, *out = z + C;
    double *G = malloc(N * M * sizeof *G), *g = malloc(N * sizeof *g);
    for (size_t h = 0; S && G && g && h < H; h++) {
        clear(C * M + C, S);
        for (size_t i = 0; i < N; i++) {
            const size_t at = i * H + h;
            const double *q_i = q + at * C, den = dot(C, q_i, z) + eps;
            clear(M, out);
            for (size_t c = 0; c < C; c++) add(M, q_i[c] / den, S + c * M, out);
            for (size_t m = 0; m < M; m++) G[i * M + m] = dout[at * M + m] / den;
            g[i] = -dot(M, G + i * M, out);
            for (size_t c = 0; c < C; c++) {
                dq[at * C + c] = dot(M, S + c * M, G + i * M) + g[i] * z[c];
                add(M, k[at * C + c], v + at * M, S + c * M);
                z[c] += k[at * C + c];
            }
        }
        clear(C * M + C, S); /* from here on S is R and z is r */
        for (size_t i = N; i-- > 0;) {
            const size_t at = i * H + h;
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
    free(G);
    free(g);
    //< todo
}
