/* recurrence.h: the kernel of all causal forms. Internal; chapter 10.
 *
 *     for each token t:  S += k_t v_t^T,  out_t = q_t^T S
 *
 * On a CPU the recurrence is itself a matrix product with little to load: a row of S that
 * has been loaded meets TOKENS tokens, whose values and outputs stay in registers, before it
 * is stored again. Chunks, the GPU's answer, would only add arithmetic.
 *
 * S is laid out in groups of columns as wide as a tile, group after group, [group][R][width]:
 * the kernel walks through memory in order. In two levels (src/stages/sums.h) there are a
 * total and a partial sum of the same layout, and the output reads the sum of both.
 *
 * The same kernel with other operands, and backwards in time, is the whole gradient. What it
 * computes for a token does not depend on how many tokens a tile has: a sequence cut
 * anywhere gives the same bits. */
#ifndef TARN_RECURRENCE_H
#define TARN_RECURRENCE_H

#include "fast/blocks.h"

/* Tokens and vectors of a tile, for plain sums and for two levels: as many as the registers
 * hold, values and outputs of each, a row of S and two factors. */
enum {
    PLAIN_TOKENS = MANY ? 4 : 2,
    PLAIN_VECTORS = 2,
    LEVEL_TOKENS = MANY ? 4 : 2,
    LEVEL_VECTORS = MANY ? 1 : 2
};

/* Rows of a matrix, `stride` elements apart, which may be backwards. */
struct rows {
    const real *at;
    ptrdiff_t stride;
};

/* S, R rows of `columns`, padded to whole groups; `part` is NULL for plain sums. */
struct packed {
    size_t R, columns;
    real *S, *part;
};

INLINE size_t group_width(bool levels)
{
    return (size_t)(levels ? LEVEL_VECTORS : PLAIN_VECTORS) * LANES;
}

static inline size_t padded_columns(size_t columns, bool levels)
{
    const size_t width = group_width(levels);
    return (columns + width - 1) / width * width;
}

/* Elements that S takes, both levels. */
static inline size_t packed_size(size_t R, size_t columns, bool levels)
{
    return (levels ? 2 : 1) * R * padded_columns(columns, levels);
}

/* ---- One tile --------------------------------------------------------------------------- */

/* T tokens against V vectors of columns, all rows of S; out_t is multiplied by scale[t]. */
INLINE void tile(const int T, const int V, const bool levels, size_t R, struct rows q,
                 struct rows k, struct rows v, real *out, ptrdiff_t out_stride, real *S,
                 real *part, const real *scale)
{
    vec values[PLAIN_TOKENS][PLAIN_VECTORS], sums[PLAIN_TOKENS][PLAIN_VECTORS];
    UNROLL
    for (int t = 0; t < T; t++) UNROLL
    for (int c = 0; c < V; c++) {
        values[t][c] = load(v.at + t * v.stride + c * LANES);
        sums[t][c] = splat(0);
    }
    for (size_t r = 0; r < R; r++) {
        vec s[PLAIN_VECTORS], d[PLAIN_VECTORS];
        UNROLL
        for (int c = 0; c < V; c++) {
            s[c] = load(S + c * LANES);
            if (levels) d[c] = load(part + c * LANES);
        }
        UNROLL
        for (int t = 0; t < T; t++) {
            const vec k_tr = splat(k.at[t * k.stride + (ptrdiff_t)r]);
            const vec q_tr = splat(q.at[t * q.stride + (ptrdiff_t)r]);
            UNROLL
            for (int c = 0; c < V; c++) {
                if (levels) {
                    d[c] += k_tr * values[t][c];
                    sums[t][c] += q_tr * (s[c] + d[c]);
                } else {
                    s[c] += k_tr * values[t][c];
                    sums[t][c] += q_tr * s[c];
                }
            }
        }
        UNROLL
        for (int c = 0; c < V; c++)
            store((levels ? part : S) + c * LANES, levels ? d[c] : s[c]);
        S += V * LANES;
        if (levels) part += V * LANES;
    }
    UNROLL
    for (int t = 0; t < T; t++) UNROLL
    for (int c = 0; c < V; c++)
        store(out + t * out_stride + c * LANES, sums[t][c] * splat(scale[t]));
}

/* n tokens against one group of columns. */
INLINE void tiles(const bool levels, size_t n, size_t R, struct rows q, struct rows k,
                  struct rows v, real *out, ptrdiff_t out_stride, real *S, real *part,
                  const real *scale)
{
    enum { T = PLAIN_TOKENS };
    const int V = levels ? LEVEL_VECTORS : PLAIN_VECTORS;
    size_t t = 0;
    for (; t < n; t += t + T <= n ? T : 1) {
        const ptrdiff_t i = (ptrdiff_t)t;
        const struct rows q_t = {q.at + i * q.stride, q.stride};
        const struct rows k_t = {k.at + i * k.stride, k.stride};
        const struct rows v_t = {v.at + i * v.stride, v.stride};
        real *out_t = out + i * out_stride;
        if (t + T <= n)
            tile(T, V, levels, R, q_t, k_t, v_t, out_t, out_stride, S, part, scale + t);
        else
            tile(1, V, levels, R, q_t, k_t, v_t, out_t, out_stride, S, part, scale + t);
    }
}

static __attribute__((noinline)) void plain_tiles(size_t n, size_t R, struct rows q,
                                                  struct rows k, struct rows v,
                                                  real *out, ptrdiff_t out_stride,
                                                  real *S, const real *scale)
{
    tiles(false, n, R, q, k, v, out, out_stride, S, NULL, scale);
}

static __attribute__((noinline)) void
level_tiles(size_t n, size_t R, struct rows q, struct rows k, struct rows v, real *out,
            ptrdiff_t out_stride, real *S, real *part, const real *scale)
{
    tiles(true, n, R, q, k, v, out, out_stride, S, part, scale);
}

/* ---- A block of tokens ------------------------------------------------------------------ */

/* n tokens, at most BLOCK, against all columns. The last group may be wider than what is left
 * of the values: it works on copies. */
static void recur(const struct packed *p, size_t n, struct rows q, struct rows k,
                  struct rows v, real *out, ptrdiff_t out_stride, const real *scale)
{
    const bool levels = p->part != NULL;
    const size_t width = group_width(levels), R = p->R;
    real v_copy[BLOCK * PLAIN_VECTORS * LANES], out_copy[BLOCK * PLAIN_VECTORS * LANES];
    for (size_t j = 0; j < p->columns; j += width) {
        const size_t left = p->columns - j < width ? p->columns - j : width;
        struct rows v_j = {v.at + j, v.stride};
        real *out_j = out + j, *S = p->S + R * j;
        ptrdiff_t stride = out_stride;
        if (left < width) {
            memset(v_copy, 0, sizeof v_copy);
            for (size_t t = 0; t < n; t++)
                memcpy(v_copy + t * width, v_j.at + (ptrdiff_t)t * v.stride,
                       left * sizeof(real));
            v_j = (struct rows){v_copy, (ptrdiff_t)width};
            out_j = out_copy;
            stride = (ptrdiff_t)width;
        }
        if (levels)
            level_tiles(n, R, q, k, v_j, out_j, stride, S, p->part + R * j, scale);
        else
            plain_tiles(n, R, q, k, v_j, out_j, stride, S, scale);
        if (left < width)
            for (size_t t = 0; t < n; t++)
                memcpy(out + (ptrdiff_t)t * out_stride + j, out_copy + t * width,
                       left * sizeof(real));
    }
}

/* ---- Levels ----------------------------------------------------------------------------- */

static void carry_packed(const struct packed *p)
{
    carry(p->R * padded_columns(p->columns, true), p->part, p->S);
}

/* ---- In and out of the layout ------------------------------------------------------------ */

/* Copies S [R, columns], whose rows are `stride` apart, into groups, or back out of them. */
static void pack(const struct packed *p, const real *from, size_t stride, real *to,
                 bool levels)
{
    const size_t width = group_width(levels);
    memset(to, 0, p->R * padded_columns(p->columns, levels) * sizeof(real));
    for (size_t j = 0; j < p->columns; j += width) {
        const size_t left = p->columns - j < width ? p->columns - j : width;
        for (size_t r = 0; r < p->R; r++)
            memcpy(to + p->R * j + r * width, from + r * stride + j,
                   left * sizeof(real));
    }
}

static void unpack(const struct packed *p, const real *from, real *to, size_t stride,
                   bool levels)
{
    const size_t width = group_width(levels);
    for (size_t j = 0; j < p->columns; j += width) {
        const size_t left = p->columns - j < width ? p->columns - j : width;
        for (size_t r = 0; r < p->R; r++)
            memcpy(to + r * stride + j, from + p->R * j + r * width,
                   left * sizeof(real));
    }
}

#endif
