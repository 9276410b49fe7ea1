/* vec.h: vectors of `real`, in the extensions that GCC and clang share. Internal; chapter 10.
 *
 * The files of this folder are compiled for each element type and each instruction set:
 * -DTARN_REAL=float -DTARN_ISA=v4 -DTARN_VEC_BYTES=64 makes FAST(name) name_f32_v4 and a
 * vec 16 floats. Everything else is static, lest the linker take a function compiled for
 * one processor for another's.
 *
 * Products and sums are contracted to one instruction here (-ffp-contract=fast), where
 * src/stages does without: results differ between instruction sets in the last bits. */
#ifndef TARN_VEC_H
#define TARN_VEC_H

#include "core/real.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define FAST(name) TYPED_NAME(TYPED(name), TARN_ISA)
#define INLINE     static inline __attribute__((always_inline))

/* Before a loop over the vectors of a tile, which must not be a loop any more. */
#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

enum { LANES = TARN_VEC_BYTES / sizeof(real) };

typedef real vec __attribute__((vector_size(TARN_VEC_BYTES)));
typedef real vec_anywhere
    __attribute__((vector_size(TARN_VEC_BYTES), aligned(sizeof(real)), may_alias));

/* Whole numbers as wide as real, and masks: all ones where something holds. */
#define WHOLE_float       int32_t
#define WHOLE_double      int64_t
#define WHOLE_OF(type)    TYPED_WHOLE(type)
#define TYPED_WHOLE(type) WHOLE_##type
typedef WHOLE_OF(TARN_REAL) whole;
typedef whole ivec __attribute__((vector_size(TARN_VEC_BYTES)));

INLINE vec load(const real *p)
{
    return *(const vec_anywhere *)p;
}

INLINE void store(real *p, vec x)
{
    *(vec_anywhere *)p = x;
}

INLINE vec splat(real x)
{
    return x - (vec){0};
}

INLINE vec choose(ivec mask, vec yes, vec no)
{
    return (vec)((mask & (ivec)yes) | (~mask & (ivec)no));
}

/* The first n lanes from memory, zeros after them; and only those to memory. */
INLINE vec load_some(const real *p, size_t n)
{
    real lanes[LANES] = {0};
    memcpy(lanes, p, n * sizeof *p);
    return load(lanes);
}

INLINE void store_some(real *p, vec x, size_t n)
{
    real lanes[LANES];
    store(lanes, x);
    memcpy(p, lanes, n * sizeof *p);
}

/* The sum of all lanes, by halves: in the same order whatever came before. What is left in
 * a quarter of the widest vector is in one register on every processor. */
typedef real quad __attribute__((vector_size(16)));
enum { QUAD = 16 / sizeof(real) };

INLINE real sum_of(vec x)
{
    quad part[LANES / QUAD];
    memcpy(part, &x, sizeof x);
    UNROLL
    for (size_t half = LANES / QUAD / 2; half > 0; half /= 2) UNROLL
    for (size_t i = 0; i < half; i++) part[i] += part[i + half];
    real lanes[QUAD];
    memcpy(lanes, part, sizeof lanes);
    return QUAD == 4 ? (lanes[0] + lanes[QUAD - 2]) + (lanes[1] + lanes[QUAD - 1])
                     : lanes[0] + lanes[1];
}

INLINE real largest_of(vec x)
{
    real lanes[LANES];
    store(lanes, x);
    for (size_t half = LANES / 2; half > 0; half /= 2)
        for (size_t i = 0; i < half; i++)
            lanes[i] = lanes[i + half] > lanes[i] ? lanes[i + half] : lanes[i];
    return lanes[0];
}

/* n rounded up to whole vectors. */
INLINE size_t whole_vectors(size_t n)
{
    return (n + LANES - 1) / LANES * LANES;
}

#endif
