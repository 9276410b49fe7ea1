/* least as an eps. */
#include <math.h>
#include <stddef.h>

static float feature(float x)
{
    return x > 0 ? x + 1 : expf(x);
}

void step(size_t H, size_t C, size_t M, const float *q, const float *k, const float *v,
          float least, float *state, float *out)
{
    for (size_t h = 0; h < H; h++) {
        const float *q_h = q + h * C, *k_h = k + h * C;
        float *s = state + h * (M + 1) * C, *z = s + M * C, den = 0;
        for (size_t c = 0; c < C; c++) {
            z[c] += feature(k_h[c]);
            den += feature(q_h[c]) * z[c];
        }
        den += least;
        for (size_t m = 0; m < M; m++) {
            float num = 0;
            for (size_t c = 0; c < C; c++) {
                s[m * C + c] += feature(k_h[c]) * v[h * M + m];
                num += feature(q_h[c]) * s[m * C + c];
            }
            out[h * M + m] = num / den;
        }
    }
}
