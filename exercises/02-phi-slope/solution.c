/* phi-slope: a feature map with a width for each column, and its slope. Chapter 2.
 *
 *     phi(x) = x + a           for x > 0
 *              a exp(x / a)    for x <= 0
 *
 * For a = 1 this is elu(x) + 1. x is [N, D]; a is [D], one width above 0 for each column; out is
 * [N, D, 2]: for every entry the value, then the slope d phi / d x.
 *
 * Small features have to keep their digits, down to exp(-21), and large x must not give NaN.
 * About 6 lines. */
#include <math.h>
#include <stddef.h>

void phi_and_slope(size_t N, size_t D, const float *x, const float *a, float *out)
{
    for (size_t e = 0; e < N * D; e++) {
        float *value = &out[2 * e], *slope = &out[2 * e + 1];
        const float width = a[e % D];
        //> todo
        if (x[e] > 0) {
            *value = x[e] + width;
            *slope = 1;
        } else {
            *slope = expf(x[e] / width);
            *value = width * *slope;
        }
        //: (void)x;
        //: *value = *slope = width;
        //< todo
    }
}
