/* Each turn begins with a step, the first one too. */
#include <math.h>
#include <stddef.h>

enum { MOST = 16 };

/* y = W x */
static void times(size_t D, const float *W, const float *x, float *y)
{
    for (size_t r = 0; r < D; r++) {
        y[r] = 0;
        for (size_t c = 0; c < D; c++) y[r] += W[r * D + c] * x[c];
    }
}

static float feature(float x)
{
    return x > 0 ? x + 1 : expf(x);
}

struct cell {
    float s[MOST][MOST], z[MOST];
};

/* Takes one token x into the cell and gives its attention output a. */
static void step(struct cell *cell, size_t D, const float *Wq, const float *Wk,
                 const float *Wv, const float *x, float *a)
{
    float q[MOST], k[MOST], v[MOST], den = 0;
    times(D, Wq, x, q);
    times(D, Wk, x, k);
    times(D, Wv, x, v);
    for (size_t m = 0; m < D; m++) a[m] = 0;
    for (size_t c = 0; c < D; c++) {
        const float f_q = feature(q[c]), f_k = feature(k[c]);
        cell->z[c] += f_k;
        den += f_q * cell->z[c];
        for (size_t m = 0; m < D; m++) {
            cell->s[c][m] += f_k * v[m];
            a[m] += f_q * cell->s[c][m];
        }
    }
    for (size_t m = 0; m < D; m++) a[m] /= den;
}

void generate(size_t P, size_t T, size_t D, const float *prompt, const float *Wq,
              const float *Wk, const float *Wv, const float *Wo, float *out)
{
    struct cell cell = {0};
    float a[MOST];
    for (size_t i = 0; i < P; i++) step(&cell, D, Wq, Wk, Wv, prompt + i * D, a);
    const float *last = prompt + (P - 1) * D;
    for (size_t t = 0; t < T; t++) {
        step(&cell, D, Wq, Wk, Wv, last, a);
        times(D, Wo, a, out + t * D);
        last = out + t * D;
    }
}
