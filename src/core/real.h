/* real.h: code that is written once and compiled for float and for double. Internal.
 *
 * The build compiles such a file twice, with -DTARN_REAL=float and -DTARN_REAL=double.
 * Inside, everything is static and plain; the one thing it exports is a table whose name
 * carries the type: TYPED(tarn_sim) is tarn_sim_f32 or tarn_sim_f64. <tgmath.h> makes
 * exp(x) of a float the float function. */
#ifndef TARN_REAL_H
#define TARN_REAL_H

#include <tgmath.h>

typedef TARN_REAL real;

#define TYPED_SUFFIX_float     f32
#define TYPED_SUFFIX_double    f64
#define TYPED_SUFFIX_OF(type)  TYPED_SUFFIX_##type
#define TYPED_SUFFIX(type)     TYPED_SUFFIX_OF(type)
#define TYPED_PASTE(name, end) name##_##end
#define TYPED_NAME(name, end)  TYPED_PASTE(name, end)
#define TYPED(name)            TYPED_NAME(name, TYPED_SUFFIX(TARN_REAL))

/* A sum to divide by. One that has left the range is a NaN: the quotient would be 0, which
 * looks like a result. */
static inline real divisor(real sum)
{
    return isinf(sum) ? (real)NAN : sum;
}

#endif
