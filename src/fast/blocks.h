/* blocks.h: tokens come in blocks: how many, and what happens between them. Internal;
 * chapter 10. */
#ifndef TARN_FAST_BLOCKS_H
#define TARN_FAST_BLOCKS_H

#include "fast/vec.h"

enum {
    MANY = TARN_VEC_BYTES == 64, /* the processor has 32 vector registers, not 16 */
    BLOCK = 32                   /* tokens whose features are made at a time */
};

/* Fetches the rows of the next block while this one is computed. */
INLINE void prefetch_rows(size_t n, size_t width, const real *x, ptrdiff_t stride)
{
    for (size_t t = 0; t < n; t++)
        for (size_t c = 0; c < width; c += 64 / sizeof(real))
            __builtin_prefetch(x + (ptrdiff_t)t * stride + c, 0, 2);
}

/* total += part, exactly, as src/stages/sums.h has it; n is whole vectors. */
static inline void carry(size_t n, real *part, real *total)
{
    for (size_t i = 0; i < n; i += LANES) {
        const vec a = load(total + i), b = load(part + i), sum = a + b, added = sum - a;
        const vec lost = (a - (sum - added)) + (b - added);
        const ivec finite = (sum - sum) == splat(0);
        store(total + i, sum);
        store(part + i, choose(finite, lost, splat(0)));
    }
}

/* True if all of n rows is finite: x - x is 0 then. The last vector of a row may overlap the
 * one before. */
static inline bool finite_rows(size_t n, size_t columns, const real *x,
                               ptrdiff_t stride)
{
    ivec finite = ~(ivec){0};
    for (size_t t = 0; t < n; t++, x += stride) {
        for (size_t c = 0; c < columns; c += LANES) {
            const size_t left = columns - c,
                         at = left < LANES && c > 0 ? columns - LANES : c;
            const vec x_c = columns < LANES ? load_some(x, columns) : load(x + at);
            finite &= (x_c - x_c) == splat(0);
        }
    }
    return !any_of(~finite);
}

#endif
