/* One token. Chapter 5, eqs 18 to 20.
 *
 * The step of a cell with H heads: write the token into the state, then read the state.
 * Features are elu1's. A denominator below `least` counts as `least`, instead of an eps that is
 * added:
 *
 *     s += phi(k) v^T    z += phi(k)    out = phi(q)^T s / max(phi(q)^T z, least)
 *
 *     q, k   [H, C]         not features yet
 *     v      [H, M]
 *     state  [H, M + 1, C]  comes in and goes out: row m of a head is column m of s, the
 *                           last row is z
 *     out    [H, M]         result, not set to 0 when you get it
 *
 * About 15 lines, no memory from the heap. */
#include <math.h>
#include <stddef.h>

static float feature(float x)
{
    return x > 0 ? x + 1 : expf(x);
}

void step(size_t H, size_t C, size_t M, const float *q, const float *k, const float *v,
          float least, float *state, float *out)
{
    //> todo
    //: (void)H, (void)C, (void)M, (void)q, (void)k, (void)v, (void)least, (void)state;
    //: (void)out, (void)feature;
    for (size_t h = 0; h < H; h++) {
        const float *q_h = q + h * C, *k_h = k + h * C;
        float *s = state + h * (M + 1) * C, *z = s + M * C, den = 0;
        for (size_t c = 0; c < C; c++) {
            z[c] += feature(k_h[c]);
            den += feature(q_h[c]) * z[c];
        }
        if (den < least) den = least;
        for (size_t m = 0; m < M; m++) {
            float num = 0;
            for (size_t c = 0; c < C; c++) {
                s[m * C + c] += feature(k_h[c]) * v[h * M + m];
                num += feature(q_h[c]) * s[m * C + c];
            }
            out[h * M + m] = num / den;
        }
    }
    //< todo
}
