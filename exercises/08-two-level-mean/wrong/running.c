/* One running sum for each row. */
#include <stddef.h>

void mean(size_t N, size_t M, const float *w, const float *v, float *out)
{
    for (size_t m = 0; m < M; m++) {
        float num = 0, den = 0;
        for (size_t i = 0; i < N; i++) {
            num += w[i] * v[m * N + i];
            den += w[i];
        }
        out[m] = num / den;
    }
}
