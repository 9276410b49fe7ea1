/* kernels.c: element-by-element operations. Compiled for float and for double.
 *
 * Each operation is a function of numbers; map1 and map2 turn it into a loop over a
 * stretch. They are always inlined, so that the compiler sees a plain loop over a plain
 * expression, and turns the cases that lie densely in memory into vector code. */
#include "core/kernels.h"
#include "core/real.h"

#define FORCE_INLINE static inline __attribute__((always_inline))

/* ---- Copies ---------------------------------------------------------------------- */

static void to_float32(const struct tarn_stretch *s)
{
    float *restrict out = s->at[0];
    const real *restrict in = s->at[1];
    if (s->step[0] == 1 && s->step[1] == 1)
        for (size_t i = 0; i < s->n; i++) out[i] = (float)in[i];
    else
        for (size_t i = 0; i < s->n; i++)
            out[(ptrdiff_t)i * s->step[0]] = (float)in[(ptrdiff_t)i * s->step[1]];
}

static void to_float64(const struct tarn_stretch *s)
{
    double *restrict out = s->at[0];
    const real *restrict in = s->at[1];
    if (s->step[0] == 1 && s->step[1] == 1)
        for (size_t i = 0; i < s->n; i++) out[i] = (double)in[i];
    else
        for (size_t i = 0; i < s->n; i++)
            out[(ptrdiff_t)i * s->step[0]] = (double)in[(ptrdiff_t)i * s->step[1]];
}

/* ---- One operand ----------------------------------------------------------------- */

FORCE_INLINE void map1(const struct tarn_stretch *s, real (*f)(real))
{
    real *restrict out = s->at[0];
    const real *restrict in = s->at[1];
    if (s->step[0] == 1 && s->step[1] == 1)
        for (size_t i = 0; i < s->n; i++) out[i] = f(in[i]);
    else
        for (size_t i = 0; i < s->n; i++)
            out[(ptrdiff_t)i * s->step[0]] = f(in[(ptrdiff_t)i * s->step[1]]);
}

FORCE_INLINE real negative(real x)
{
    return -x;
}
FORCE_INLINE real exponential(real x)
{
    return exp(x);
}
FORCE_INLINE real logarithm(real x)
{
    return log(x);
}
FORCE_INLINE real square_root(real x)
{
    return sqrt(x);
}
FORCE_INLINE real magnitude(real x)
{
    return fabs(x);
}
FORCE_INLINE real hyperbolic_tangent(real x)
{
    return tanh(x);
}
/* Both sides exponentiate a negative number, so neither overflows on the way to 0. */
FORCE_INLINE real sigmoid(real x)
{
    real e = exp(-fabs(x));
    return x < 0 ? e / (1 + e) : 1 / (1 + e);
}
/* The comparison is false for NaN, which goes through. */
FORCE_INLINE real relu(real x)
{
    return x < 0 ? 0 : x;
}
FORCE_INLINE real elu(real x)
{
    return x > 0 ? x : expm1(x);
}

static void map_negative(const struct tarn_stretch *s)
{
    map1(s, negative);
}
static void map_exponential(const struct tarn_stretch *s)
{
    map1(s, exponential);
}
static void map_logarithm(const struct tarn_stretch *s)
{
    map1(s, logarithm);
}
static void map_square_root(const struct tarn_stretch *s)
{
    map1(s, square_root);
}
static void map_magnitude(const struct tarn_stretch *s)
{
    map1(s, magnitude);
}
static void map_hyperbolic_tangent(const struct tarn_stretch *s)
{
    map1(s, hyperbolic_tangent);
}
static void map_sigmoid(const struct tarn_stretch *s)
{
    map1(s, sigmoid);
}
static void map_relu(const struct tarn_stretch *s)
{
    map1(s, relu);
}
static void map_elu(const struct tarn_stretch *s)
{
    map1(s, elu);
}

/* ---- Two operands ---------------------------------------------------------------- */

/* The dense cases first: two vectors, or a vector and one repeated number. */
FORCE_INLINE void map2(const struct tarn_stretch *s, real (*f)(real, real))
{
    real *restrict out = s->at[0];
    const real *restrict a = s->at[1];
    const real *restrict b = s->at[2];
    ptrdiff_t step = s->step[0], step_a = s->step[1], step_b = s->step[2];
    if (step == 1 && step_a == 1 && step_b == 1) {
        for (size_t i = 0; i < s->n; i++) out[i] = f(a[i], b[i]);
    } else if (step == 1 && step_a == 1 && step_b == 0) {
        for (size_t i = 0; i < s->n; i++) out[i] = f(a[i], b[0]);
    } else if (step == 1 && step_a == 0 && step_b == 1) {
        for (size_t i = 0; i < s->n; i++) out[i] = f(a[0], b[i]);
    } else {
        for (size_t i = 0; i < s->n; i++) {
            ptrdiff_t j = (ptrdiff_t)i;
            out[j * step] = f(a[j * step_a], b[j * step_b]);
        }
    }
}

FORCE_INLINE real add(real a, real b)
{
    return a + b;
}
FORCE_INLINE real subtract(real a, real b)
{
    return a - b;
}
FORCE_INLINE real multiply(real a, real b)
{
    return a * b;
}
FORCE_INLINE real divide(real a, real b)
{
    return a / b;
}
/* Squares are what pow is asked for most; a * a is the same number, much sooner. */
FORCE_INLINE real power(real a, real b)
{
    return b == 2 ? a * a : pow(a, b);
}
/* If either is NaN the result is: a by the second test, b because both are false. */
FORCE_INLINE real minimum(real a, real b)
{
    return ((a < b) | (a != a)) ? a : b;
}
FORCE_INLINE real maximum(real a, real b)
{
    return ((a > b) | (a != a)) ? a : b;
}
FORCE_INLINE real equal(real a, real b)
{
    return a == b ? 1 : 0;
}
FORCE_INLINE real less(real a, real b)
{
    return a < b ? 1 : 0;
}
FORCE_INLINE real less_or_equal(real a, real b)
{
    return a <= b ? 1 : 0;
}
FORCE_INLINE real greater(real a, real b)
{
    return a > b ? 1 : 0;
}
FORCE_INLINE real greater_or_equal(real a, real b)
{
    return a >= b ? 1 : 0;
}

static void map_add(const struct tarn_stretch *s)
{
    map2(s, add);
}
static void map_subtract(const struct tarn_stretch *s)
{
    map2(s, subtract);
}
static void map_multiply(const struct tarn_stretch *s)
{
    map2(s, multiply);
}
static void map_divide(const struct tarn_stretch *s)
{
    map2(s, divide);
}
static void map_power(const struct tarn_stretch *s)
{
    map2(s, power);
}
static void map_minimum(const struct tarn_stretch *s)
{
    map2(s, minimum);
}
static void map_maximum(const struct tarn_stretch *s)
{
    map2(s, maximum);
}
static void map_equal(const struct tarn_stretch *s)
{
    map2(s, equal);
}
static void map_less(const struct tarn_stretch *s)
{
    map2(s, less);
}
static void map_less_or_equal(const struct tarn_stretch *s)
{
    map2(s, less_or_equal);
}
static void map_greater(const struct tarn_stretch *s)
{
    map2(s, greater);
}
static void map_greater_or_equal(const struct tarn_stretch *s)
{
    map2(s, greater_or_equal);
}

/* ---- Three operands -------------------------------------------------------------- */

static void where(const struct tarn_stretch *s)
{
    real *restrict out = s->at[0];
    const real *restrict mask = s->at[1];
    const real *restrict a = s->at[2];
    const real *restrict b = s->at[3];
    for (size_t i = 0; i < s->n; i++) {
        ptrdiff_t j = (ptrdiff_t)i;
        out[j * s->step[0]] =
            mask[j * s->step[1]] != 0 ? a[j * s->step[2]] : b[j * s->step[3]];
    }
}

const struct tarn_kernels TYPED(tarn_kernels) = {
    .to = {to_float32, to_float64},
    .unary = {[TARN_NEG] = map_negative,
              [TARN_EXP] = map_exponential,
              [TARN_LOG] = map_logarithm,
              [TARN_SQRT] = map_square_root,
              [TARN_ABS] = map_magnitude,
              [TARN_TANH] = map_hyperbolic_tangent,
              [TARN_SIGMOID] = map_sigmoid,
              [TARN_RELU] = map_relu,
              [TARN_ELU] = map_elu},
    .binary = {[TARN_ADD] = map_add,
               [TARN_SUB] = map_subtract,
               [TARN_MUL] = map_multiply,
               [TARN_DIV] = map_divide,
               [TARN_POW] = map_power,
               [TARN_MINIMUM] = map_minimum,
               [TARN_MAXIMUM] = map_maximum,
               [TARN_EQ] = map_equal,
               [TARN_LT] = map_less,
               [TARN_LE] = map_less_or_equal,
               [TARN_GT] = map_greater,
               [TARN_GE] = map_greater_or_equal},
    .where = where,
};
