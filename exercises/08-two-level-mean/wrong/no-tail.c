/* Never adds what is in the last part. */
#include <stddef.h>

struct sum {
    float total, part;
};

/* Empties the part into the total; what the rounding of the total loses stays in the part. */
static void carry(struct sum *s)
{
    const float total = s->total + s->part, added = total - s->total;
    s->part = (s->total - (total - added)) + (s->part - added);
    s->total = total;
}

/* sum_i w_i x_i, or the sum of the weights if x is NULL. */
static float sum_of(size_t N, const float *w, const float *x)
{
    struct sum s = {0, 0};
    for (size_t i = 0; i < N; i++) {
        s.part += x ? w[i] * x[i] : w[i];
        if (i % 64 == 63) carry(&s);
    }
    return s.total;
}

void mean(size_t N, size_t M, const float *w, const float *v, float *out)
{
    const float den = sum_of(N, w, NULL);
    for (size_t m = 0; m < M; m++) out[m] = sum_of(N, w, v + m * N) / den;
}
