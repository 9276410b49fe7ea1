/* blocks.h: tokens come in blocks: how many, and what happens between them. Internal;
 * chapter 10. */
#ifndef TARN_FAST_BLOCKS_H
#define TARN_FAST_BLOCKS_H

#include "fast/vec.h"

enum {
    BLOCK = 32 /* tokens whose features are made at a time */
};

/* Fetches the rows of the next block while this one is computed. */
INLINE void prefetch_rows(size_t n, size_t width, const real *x, ptrdiff_t stride)
{
    for (size_t t = 0; t < n; t++)
        for (size_t c = 0; c < width; c += 64 / sizeof(real))
            __builtin_prefetch(x + (ptrdiff_t)t * stride + c, 0, 2);
}

/* What is left of finite numbers is nothing, of others a NaN, which has bits. */
INLINE ivec not_finite(vec x)
{
    return (ivec)(x - x);
}

/* total += part, exactly, as src/stages/sums.h has it; n is whole vectors. */
static inline void carry(size_t n, real *part, real *total)
{
    for (size_t i = 0; i < n; i += LANES) {
        const vec a = load(total + i), b = load(part + i), sum = a + b, added = sum - a;
        const vec lost = (a - (sum - added)) + (b - added);
        store(total + i, sum);
        store(part + i,
              choose(lost == lost, lost, splat(0))); /* NaN: sum is not finite */
    }
}

/* 0 in all lanes if n numbers are finite, else NaN in some: 0 x is 0 or NaN. The last vector
 * may overlap the one before. */
static inline vec zeros_of(size_t n, const real *x)
{
    enum { SUMS = 4 };
    vec sums[SUMS] = {0};
    size_t i = 0;
    if (n < LANES) return load_some(x, n) * splat(0);
    for (; i + SUMS * LANES <= n; i += SUMS * LANES) {
        UNROLL
        for (size_t s = 0; s < SUMS; s++) sums[s] += load(x + i + s * LANES) * splat(0);
    }
    for (; i + LANES <= n; i += LANES) sums[0] += load(x + i) * splat(0);
    sums[1] += load(x + n - LANES) * splat(0);
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/* True if all of n rows is finite. */
static inline bool finite_rows(size_t n, size_t columns, const real *x,
                               ptrdiff_t stride)
{
    vec zeros = splat(0);
    if (stride == (ptrdiff_t)columns) { /* the rows are one long row */
        columns *= n;
        n = 1;
    }
    for (size_t t = 0; t < n; t++, x += stride) zeros += zeros_of(columns, x);
    return !any_of(zeros != splat(0));
}

#endif
