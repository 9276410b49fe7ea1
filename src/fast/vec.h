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

enum {
    LANES = TARN_VEC_BYTES / sizeof(real),
    MANY = TARN_VEC_BYTES == 64 /* the processor has 32 vector registers, not 16 */
};

typedef real vec __attribute__((vector_size(TARN_VEC_BYTES)));
typedef real vec_anywhere
    __attribute__((vector_size(TARN_VEC_BYTES), aligned(sizeof(real)), may_alias));

/* Whole numbers as wide as real, and masks: all ones where something holds. Those without a
 * sign are for the bits of a number, where sums wrap around. */
#define WHOLE_float            int32_t
#define WHOLE_double           int64_t
#define BITS_float             uint32_t
#define BITS_double            uint64_t
#define TYPE_OF(kind, type)    TYPE_PASTE(kind, type)
#define TYPE_PASTE(kind, type) kind##_##type
typedef TYPE_OF(WHOLE, TARN_REAL) whole;
typedef TYPE_OF(BITS, TARN_REAL) bits;
typedef whole ivec __attribute__((vector_size(TARN_VEC_BYTES)));
typedef bits bits_vec __attribute__((vector_size(TARN_VEC_BYTES)));

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

/* All ones in the first n lanes. */
INLINE ivec first_lanes(size_t n)
{
    static const whole numbers[] = {0, 1, 2,  3,  4,  5,  6,  7,
                                    8, 9, 10, 11, 12, 13, 14, 15};
    ivec lane;
    memcpy(&lane, numbers, sizeof lane);
    return lane < (ivec){0} + (whole)n;
}

/* Copies n < LANES numbers, in pieces of fixed sizes: no call, no loop. */
INLINE void copy_few(real *to, const real *from, size_t n)
{
    UNROLL
    for (size_t piece = LANES / 2; piece > 0; piece /= 2)
        if (n & piece) {
            memcpy(to, from, piece * sizeof *to);
            to += piece;
            from += piece;
        }
}

/* The first n lanes from memory, zeros after them; and only those to memory. */
INLINE vec load_some(const real *p, size_t n)
{
    real lanes[LANES] = {0};
    if (n == LANES) return load(p);
    copy_few(lanes, p, n);
    return load(lanes);
}

INLINE void store_some(real *p, vec x, size_t n)
{
    real lanes[LANES];
    store(lanes, x);
    if (n == LANES)
        store(p, x);
    else
        copy_few(p, lanes, n);
}

/* The sum of all lanes, by halves: in the same order whatever came before. */
typedef real half_vec __attribute__((vector_size(TARN_VEC_BYTES / 2)));
typedef real last_vec __attribute__((vector_size(16)));

INLINE last_vec last_sums(vec x)
{
    union {
        vec all;
        half_vec half[2];
        last_vec last[TARN_VEC_BYTES / 16];
    } u = {x};
    if (TARN_VEC_BYTES == 64) u.half[0] += u.half[1];
    if (TARN_VEC_BYTES >= 32) u.last[0] += u.last[1];
    return u.last[0];
}

enum { LAST = 16 / sizeof(real) };

INLINE real sum_of(vec x)
{
    const last_vec s = last_sums(x);
    return LAST == 2 ? s[0] + s[1] : (s[0] + s[1]) + (s[2 % LAST] + s[3 % LAST]);
}

/* Every second lane of a, then of b, from lane `first` on. */
INLINE last_vec every_second(size_t first, last_vec a, last_vec b)
{
    real lanes[LAST];
    last_vec x;
    UNROLL
    for (size_t i = 0; i < LAST / 2; i++) {
        lanes[i] = a[2 * i + first];
        lanes[LAST / 2 + i] = b[2 * i + first];
    }
    memcpy(&x, lanes, sizeof x);
    return x;
}

/* The sums of neighbouring lanes, those of a before those of b. */
INLINE last_vec pair_sums(last_vec a, last_vec b)
{
    return every_second(0, a, b) + every_second(1, a, b);
}

/* sum_of each of n vectors, several at a time. */
INLINE void sums_of(const int n, const vec *x, real *sums)
{
    if (LAST == 4 && n == 4) {
        const last_vec s = pair_sums(pair_sums(last_sums(x[0]), last_sums(x[1])),
                                     pair_sums(last_sums(x[2]), last_sums(x[3])));
        memcpy(sums, &s, sizeof s);
        return;
    }
    UNROLL
    for (int i = 0; i < n; i++) sums[i] = sum_of(x[i]);
}

INLINE bool any_of(ivec mask)
{
    uint64_t words[sizeof mask / sizeof(uint64_t)], any = 0;
    memcpy(words, &mask, sizeof words);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) any |= words[i];
    return any != 0;
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
