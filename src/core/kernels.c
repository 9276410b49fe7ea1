/* kernels.c: the inner loops of the operations on tensors. Compiled for float and double. */
#include "core/kernels.h"
#include "core/real.h"

static void to_float32(const struct tarn_stretch *s)
{
    float *out = s->at[0];
    const real *in = s->at[1];
    if (s->step[0] == 1 && s->step[1] == 1)
        for (size_t i = 0; i < s->n; i++) out[i] = (float)in[i];
    else
        for (size_t i = 0; i < s->n; i++)
            out[(ptrdiff_t)i * s->step[0]] = (float)in[(ptrdiff_t)i * s->step[1]];
}

static void to_float64(const struct tarn_stretch *s)
{
    double *out = s->at[0];
    const real *in = s->at[1];
    if (s->step[0] == 1 && s->step[1] == 1)
        for (size_t i = 0; i < s->n; i++) out[i] = (double)in[i];
    else
        for (size_t i = 0; i < s->n; i++)
            out[(ptrdiff_t)i * s->step[0]] = (double)in[(ptrdiff_t)i * s->step[1]];
}

const struct tarn_kernels TYPED(tarn_kernels) = {
    .to = {to_float32, to_float64},
};
