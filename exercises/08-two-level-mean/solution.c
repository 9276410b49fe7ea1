/* A mean of a million. Chapter 8, eqs 8.3 and 8.4; about 20 lines.
 *
 * w are N positive weights, v has M rows of N values: value i of row m is v[m * N + i].
 *
 *     out_m = sum_i w_i v_mi / sum_i w_i
 *
 * Use float alone, as a kernel on a graphics card has to: a double would hide what this is about.
 * The error must not grow with N. */
#include <stddef.h>

//> todo
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
    carry(&s);
    return s.total + s.part;
}
//< todo

void mean(size_t N, size_t M, const float *w, const float *v, float *out)
{
    //> todo
    //: (void)N, (void)M, (void)w, (void)v, (void)out;
    const float den = sum_of(N, w, NULL);
    for (size_t m = 0; m < M; m++) out[m] = sum_of(N, w, v + m * N) / den;
    //< todo
}
