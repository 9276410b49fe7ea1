/* elu first, then the sum. */
#include <math.h>
#include <stddef.h>

void phi_and_slope(size_t N, size_t D, const float *x, const float *a, float *out)
{
    for (size_t e = 0; e < N * D; e++) {
        float *value = &out[2 * e], *slope = &out[2 * e + 1];
        const float width = a[e % D];
        const float elu = x[e] > 0 ? x[e] : width * (expf(x[e] / width) - 1);
        *value = elu + width;
        *slope = x[e] > 0 ? 1 : (elu + width) / width;
    }
}
