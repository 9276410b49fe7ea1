/* Prefill, then decode. Chapter 5, eqs 16 to 20.
 *
 * A small model that goes on with a sequence by itself. It reads P tokens and then makes T new
 * ones: each new token is Wo times the attention output of the token before it.
 *
 *     q_i = Wq x_i    k_i = Wk x_i    v_i = Wv x_i        features of q and k: elu1
 *     a_i = phi(q_i)^T s_i / phi(q_i)^T z_i
 *     x_{i+1} = Wo a_i                                    for i = P, P + 1, ...
 *
 *     prompt          [P, D]  x_1 to x_P; P is at least 1
 *     Wq, Wk, Wv, Wo  [D, D]  row r makes entry r
 *     out             [T, D]  result: x_{P + 1} to x_{P + T}
 *
 * Twice the tokens may cost little more than twice the loads from memory, so no token may look at
 * all that came before it, and 8 kB of the heap are enough for any T; D is at most 16. */
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
    //> todo
    //: (void)cell, (void)D, (void)Wq, (void)Wk, (void)Wv, (void)x, (void)a;
    //: (void)times, (void)feature;
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
    //< todo
}

void generate(size_t P, size_t T, size_t D, const float *prompt, const float *Wq,
              const float *Wk, const float *Wv, const float *Wo, float *out)
{
    struct cell cell = {0};
    //> todo
    //: (void)P, (void)T, (void)D, (void)prompt, (void)Wq, (void)Wk, (void)Wv, (void)Wo;
    //: (void)out, (void)cell, (void)step;
    float a[MOST];
    for (size_t i = 0; i < P; i++) step(&cell, D, Wq, Wk, Wv, prompt + i * D, a);
    for (size_t t = 0; t < T; t++) {
        times(D, Wo, a, out + t * D);
        if (t + 1 < T) step(&cell, D, Wq, Wk, Wv, out + t * D, a);
    }
    //< todo
}
