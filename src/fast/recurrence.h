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

/* Tokens and vectors of a tile: as many as the registers hold, values and outputs of each, a
 * row of S (and of its partial sums), and two factors. */
enum { TOKENS = MANY ? 4 : 2, VECTORS = 2 };

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

/* Columns of the group that begins where so many are left: the last may be one vector. */
INLINE size_t group_width(size_t left)
{
    return (left > LANES ? VECTORS : 1) * LANES;
}

/* Elements that S takes, both levels. */
static inline size_t packed_size(size_t R, size_t columns, bool levels)
{
    return (levels ? 2 : 1) * R * whole_vectors(columns);
}

/* ---- One tile --------------------------------------------------------------------------- */

/* T tokens against V vectors of columns, all rows of S; out_t is multiplied by scale[t]. What
 * the next block will need is asked for: the hint is as good as any beyond the end. */
INLINE void tile(const int T, const int V, const bool levels, size_t R, struct rows q,
                 struct rows k, struct rows v, real *out, ptrdiff_t out_stride, real *S,
                 real *part, const real *scale)
{
    vec values[TOKENS][VECTORS], sums[TOKENS][VECTORS];
    UNROLL
    for (int t = 0; t < T; t++) {
        UNROLL
        for (int c = 0; c < V; c++) {
            const real *v_tc = v.at + t * v.stride + c * LANES;
            real *out_tc = out + t * out_stride + c * LANES;
            values[t][c] = load(v_tc);
            sums[t][c] = splat(0);
            __builtin_prefetch(v_tc + BLOCK * v.stride, 0, 3);
            __builtin_prefetch(out_tc + BLOCK * out_stride, 1, 3);
        }
    }
    for (size_t r = 0; r < R; r++) {
        vec s[VECTORS] = {load(S), V > 1 ? load(S + LANES) : splat(0)};
        vec d[VECTORS] = {levels ? load(part) : splat(0),
                          levels && V > 1 ? load(part + LANES) : splat(0)};
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
    for (int t = 0; t < T; t++) {
        UNROLL
        for (int c = 0; c < V; c++)
            store(out + t * out_stride + c * LANES, sums[t][c] * splat(scale[t]));
    }
}

/* n tokens against one group of columns. */
INLINE void tiles(const int V, const bool levels, size_t n, size_t R, struct rows q,
                  struct rows k, struct rows v, real *out, ptrdiff_t out_stride,
                  real *S, real *part, const real *scale)
{
    enum { T = TOKENS };
    for (size_t t = 0; t < n; t += t + T <= n ? T : 1) {
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

/* The four kernels there are: one or two vectors, plain sums or two levels. */
static __attribute__((noinline)) void group(const struct packed *p, size_t width,
                                            size_t j, size_t n, struct rows q,
                                            struct rows k, struct rows v, real *out,
                                            ptrdiff_t out_stride, const real *scale)
{
    const size_t R = p->R;
    real *S = p->S + R * j, *part = p->part ? p->part + R * j : NULL;
    if (part && width > LANES)
        tiles(VECTORS, true, n, R, q, k, v, out, out_stride, S, part, scale);
    else if (part)
        tiles(1, true, n, R, q, k, v, out, out_stride, S, part, scale);
    else if (width > LANES)
        tiles(VECTORS, false, n, R, q, k, v, out, out_stride, S, NULL, scale);
    else
        tiles(1, false, n, R, q, k, v, out, out_stride, S, NULL, scale);
}

/* ---- A block of tokens ------------------------------------------------------------------ */

/* Some columns of n rows, into rows of their own or back. */
static void copy_columns(size_t n, size_t columns, const real *from,
                         ptrdiff_t from_stride, real *to, ptrdiff_t to_stride)
{
    for (size_t t = 0; t < n; t++, from += from_stride, to += to_stride) {
        size_t c = 0;
        for (; c + LANES <= columns; c += LANES) store(to + c, load(from + c));
        copy_few(to + c, from + c, columns - c);
    }
}

/* The last columns do not fill their group: it works on copies, padded with zeros. */
static void partial_group(const struct packed *p, size_t width, size_t j, size_t n,
                          struct rows q, struct rows k, struct rows v, real *out,
                          ptrdiff_t out_stride, const real *scale)
{
    real v_copy[BLOCK * VECTORS * LANES] = {0}, out_copy[BLOCK * VECTORS * LANES];
    const ptrdiff_t stride = (ptrdiff_t)width;
    copy_columns(n, p->columns - j, v.at, v.stride, v_copy, stride);
    group(p, width, j, n, q, k, (struct rows){v_copy, stride}, out_copy, stride, scale);
    copy_columns(n, p->columns - j, out_copy, stride, out, out_stride);
}

/* n tokens, at most BLOCK, against all columns. */
static void recur(const struct packed *p, size_t n, struct rows q, struct rows k,
                  struct rows v, real *out, ptrdiff_t out_stride, const real *scale)
{
    for (size_t j = 0, width; j < p->columns; j += width) {
        const struct rows v_j = {v.at + j, v.stride};
        width = group_width(p->columns - j);
        if (p->columns - j >= width)
            group(p, width, j, n, q, k, v_j, out + j, out_stride, scale);
        else
            partial_group(p, width, j, n, q, k, v_j, out + j, out_stride, scale);
    }
}

/* ---- Levels ----------------------------------------------------------------------------- */

static void carry_packed(const struct packed *p)
{
    carry(p->R * whole_vectors(p->columns), p->part, p->S);
}

/* ---- In and out of the layout ------------------------------------------------------------ */

/* Copies S [R, columns], whose rows are `stride` apart, into groups, or back out of them. */
static void pack(const struct packed *p, const real *from, size_t stride, real *to)
{
    memset(to, 0, p->R * whole_vectors(p->columns) * sizeof(real));
    for (size_t j = 0, width; j < p->columns; j += width) {
        width = group_width(p->columns - j);
        const size_t left = p->columns - j < width ? p->columns - j : width;
        copy_columns(p->R, left, from + j, (ptrdiff_t)stride, to + p->R * j,
                     (ptrdiff_t)width);
    }
}

static void unpack(const struct packed *p, const real *from, real *to, size_t stride)
{
    for (size_t j = 0, width; j < p->columns; j += width) {
        width = group_width(p->columns - j);
        const size_t left = p->columns - j < width ? p->columns - j : width;
        copy_columns(p->R, left, from + p->R * j, (ptrdiff_t)width, to + j,
                     (ptrdiff_t)stride);
    }
}

#endif
