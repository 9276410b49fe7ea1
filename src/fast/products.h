/* products.h: one register tile for all products that are not causal. Internal; chapter 10.
 *
 *     out[t] (+)= sum_p a[t, p] b[p]       t: rows of a tile,  b[p]: one group of columns
 *
 * ROWS sums of two vectors each stay in registers while p runs; a step loads two vectors
 * and ROWS factors for 2 ROWS multiply-adds: 0.63 loads each with 32 registers, 0.75 with
 * 16, and a store only at the end. The factors a[t, p] are read one by one, so a may lie
 * in memory either way round: sums over tokens and products with features are the same
 * tile. b, [p, WIDTH], is read as it lies.
 *
 * A sum begins at zero and is added to `out` whole, so that sums over blocks are pairwise
 * sums of short ones. Every element is summed in the order of p, whatever tile it is in. */
#ifndef TARN_PRODUCTS_H
#define TARN_PRODUCTS_H

#include "fast/blocks.h"

enum { ROWS = MANY ? 8 : 4, WIDTH = 2 * LANES };

/* Where a[t, p] and b[p] are, and where out[t] goes: distances in elements. Where b comes
 * from memory, the first tile asks for what lies `b_ahead` further on. */
struct product {
    const real *a;
    ptrdiff_t a_row, a_step;
    const real *b;
    ptrdiff_t b_step, b_ahead;
    real *out;
    ptrdiff_t out_row;
    const real *from; /* PULL */
    ptrdiff_t from_row;
};

/* SET multiplies out[t] by scale[t]; SQUARES is SET with (a - b)^2 for a b, PULL is ADD with
 * a (b - from[t]). */
enum product_kind { ADD, SET, SQUARES, PULL };

INLINE vec term(const enum product_kind kind, vec a, vec b, const real *from)
{
    if (kind == SQUARES) return (a - b) * (a - b);
    return kind == PULL ? a * (b - load(from)) : a * b;
}

/* T rows of V vectors, n steps. */
INLINE void product_tile(const int T, const int V, const enum product_kind kind,
                         size_t n, struct product x, const real *scale)
{
    vec sums[ROWS][2];
    UNROLL
    for (int t = 0; t < T; t++) sums[t][0] = sums[t][1] = splat(0);
    for (size_t p = 0; p < n; p++) {
        const vec b[2] = {load(x.b), V == 2 ? load(x.b + LANES) : splat(0)};
        if (x.b_ahead != 0) {
            UNROLL
            for (int c = 0; c < V; c++)
                __builtin_prefetch(x.b + x.b_ahead + c * LANES, 0, 3);
        }
        UNROLL
        for (int t = 0; t < T; t++) {
            const vec a = splat(x.a[t * x.a_row]);
            UNROLL
            for (int c = 0; c < V; c++)
                sums[t][c] += term(kind, a, b[c], x.from + t * x.from_row + c * LANES);
        }
        x.a += x.a_step;
        x.b += x.b_step;
    }
    UNROLL
    for (int t = 0; t < T; t++) UNROLL
    for (int c = 0; c < V; c++) {
        real *out = x.out + t * x.out_row + c * LANES;
        const vec sum = sums[t][c];
        store(out,
              kind == ADD || kind == PULL ? load(out) + sum : sum * splat(scale[t]));
    }
}

INLINE void product_rows(const int V, const enum product_kind kind, size_t rows,
                         size_t n, struct product x, const real *scale)
{
    for (size_t t = 0; t < rows; t += t + ROWS <= rows ? ROWS : 1) {
        struct product x_t = x;
        x_t.a += (ptrdiff_t)t * x.a_row;
        x_t.out += (ptrdiff_t)t * x.out_row;
        x_t.from += (ptrdiff_t)t * x.from_row;
        if (t > 0) x_t.b_ahead = 0;
        if (t + ROWS <= rows)
            product_tile(ROWS, V, kind, n, x_t, scale + t);
        else
            product_tile(1, V, kind, n, x_t, scale + t);
    }
}

/* Any number of rows, for a group of which only the first `columns` count. */
INLINE void product(const enum product_kind kind, size_t rows, size_t columns, size_t n,
                    struct product x, const real *scale)
{
    if (columns > LANES)
        product_rows(2, kind, rows, n, x, scale);
    else
        product_rows(1, kind, rows, n, x, scale);
}

INLINE size_t whole_groups(size_t columns)
{
    return (columns + WIDTH - 1) / WIDTH * WIDTH;
}

/* Whether a tile may read and write a group of columns in place, of which there are
 * `left` to the end of the row. */
INLINE bool fits(size_t left)
{
    return left >= WIDTH || left == LANES;
}

/* Rows of a group of columns that a tile can read: those of x if they fit, else a copy,
 * padded with zeros. */
INLINE const real *group_of(const real *x, ptrdiff_t *stride, size_t n, size_t left,
                            real *copy)
{
    if (fits(left)) return x;
    memset(copy, 0, n * WIDTH * sizeof(real));
    for (size_t t = 0; t < n; t++)
        memcpy(copy + t * WIDTH, x + (ptrdiff_t)t * *stride, left * sizeof(real));
    *stride = WIDTH;
    return copy;
}

#endif
