/* Computes both pieces and blends them. */
#include <math.h>
#include <stddef.h>

void phi_and_slope(size_t N, size_t D, const float *x, const float *a, float *out)
{
    for (size_t e = 0; e < N * D; e++) {
        float *value = &out[2 * e], *slope = &out[2 * e + 1];
        const float width = a[e % D];
        const float right = x[e] > 0, left = 1 - right;
        *value = right * (x[e] + width) + left * width * expf(x[e] / width);
        *slope = right + left * expf(x[e] / width);
    }
}
