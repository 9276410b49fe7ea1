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
 * total and a partial sum of the same layout, and the output reads the sum of both. A tile of
 * 4 tokens and 2 vectors does 16 multiply-adds a row, with 10 loads and 2 stores, or 12 loads,
 * 2 stores and 8 additions in two levels.
 *
 * The last vector of a row ends where the row ends and may overlap the one before, whatever
 * the number of columns: nothing is padded but rows shorter than a vector.
 *
 * The same kernel with other operands, and backwards in time, is the whole gradient. What it
 * computes for a token does not depend on how many tokens a tile has: a sequence cut
 * anywhere gives the same bits. */
#ifndef TARN_RECURRENCE_H
#define TARN_RECURRENCE_H

#include "fast/blocks.h"

/* Tokens and vectors of a tile: as many as the registers hold, values and outputs of each, a
 * row of S (and of its partial sums), and two factors. With two levels a row costs more to
 * load, and 4 tokens pay even where some of their values have to stay in memory. ABREAST rows
 * are gone through side by side: in a row each token waits for the one before. */
enum { TOKENS = 4, VECTORS = 2, ABREAST = MANY ? 2 : 1 };

INLINE int tile_tokens(bool levels)
{
    return levels || MANY ? TOKENS : TOKENS / 2;
}

/* Rows of a matrix, `stride` elements apart, which may be backwards. */
struct rows {
    const real *at;
    ptrdiff_t stride;
};

/* Tokens before a group of columns: their factors for each row of S, what they bring, and
 * where their outputs go. The second vector begins `second` columns after the first; out_t
 * is multiplied by scale[t]. `streams` are rows far away in memory that go with the tokens,
 * in whatever role: a tile asks for those of the same tokens in the next block. */
struct tokens {
    struct rows q, k, v;
    real *out;
    ptrdiff_t out_stride;
    const real *scale;
    struct rows streams[2];
    size_t second;
};

INLINE struct rows rows_from(struct rows x, ptrdiff_t t)
{
    return (struct rows){x.at + t * x.stride, x.stride};
}

INLINE struct tokens tokens_from(const struct tokens *x, ptrdiff_t t)
{
    return (struct tokens){
        .q = rows_from(x->q, t),
        .k = rows_from(x->k, t),
        .v = rows_from(x->v, t),
        .out = x->out + t * x->out_stride,
        .out_stride = x->out_stride,
        .scale = x->scale + t,
        .streams = {rows_from(x->streams[0], t), rows_from(x->streams[1], t)},
        .second = x->second};
}

/* S, R rows of `columns`, padded to whole vectors; `part` is NULL for plain sums. */
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

//> region fast_tile
/* U rows of S from row r on: each of T tokens adds to them, then reads them. */
INLINE void tile_rows(const int U, const int T, const int V, const bool levels,
                      const struct tokens *x, size_t r, vec values[][VECTORS],
                      vec sums[][VECTORS], real *S, real *part)
{
    vec s[ABREAST][VECTORS], d[ABREAST][VECTORS];
    real *const to = levels ? part : S;
    UNROLL
    for (int u = 0; u < ABREAST; u++) UNROLL
    for (int c = 0; c < VECTORS; c++) { /* set whole, they stay in registers */
        const bool is = u < U && c < V;
        s[u][c] = is ? load(S + (u * V + c) * LANES) : splat(0);
        d[u][c] = is && levels ? load(part + (u * V + c) * LANES) : splat(0);
    }
    UNROLL
    for (int t = 0; t < T; t++) UNROLL
    for (int u = 0; u < U; u++) {
        const vec k = splat(x->k.at[t * x->k.stride + (ptrdiff_t)r + u]);
        const vec q = splat(x->q.at[t * x->q.stride + (ptrdiff_t)r + u]);
        UNROLL
        for (int c = 0; c < V; c++) {
            if (levels) {
                d[u][c] += k * values[t][c];
                sums[t][c] += q * (s[u][c] + d[u][c]);
            } else {
                s[u][c] += k * values[t][c];
                sums[t][c] += q * s[u][c];
            }
        }
    }
    UNROLL
    for (int u = 0; u < U; u++) UNROLL
    for (int c = 0; c < V; c++)
        store(to + (u * V + c) * LANES, levels ? d[u][c] : s[u][c]);
}
//< region fast_tile

/* T tokens against V vectors of columns, all rows of S. What the next block will touch is
 * asked for: the hint is as good as any beyond the end. It comes a few lines at a time, among
 * much arithmetic; a whole block of them at once would have to wait for the memory. */
INLINE void tile(const int T, const int V, const bool levels, size_t R,
                 const struct tokens *x, real *S, real *part)
{
    vec values[TOKENS][VECTORS], sums[TOKENS][VECTORS];
    UNROLL
    for (int t = 0; t < T; t++) UNROLL
    for (int c = 0; c < V; c++) {
        values[t][c] = load(x->v.at + t * x->v.stride + (size_t)c * x->second);
        sums[t][c] = splat(0);
        UNROLL
        for (int s = 0; s < 2; s++)
            __builtin_prefetch(x->streams[s].at + t * x->streams[s].stride + c * LANES,
                               0, 3);
    }
    size_t r = 0;
    for (; r + ABREAST <= R; r += ABREAST) {
        tile_rows(ABREAST, T, V, levels, x, r, values, sums, S, part);
        S += ABREAST * V * LANES;
        if (levels) part += ABREAST * V * LANES;
    }
    if (r < R) tile_rows(1, T, V, levels, x, r, values, sums, S, part);
    UNROLL
    for (int t = 0; t < T; t++) UNROLL
    for (int c = 0; c < V; c++)
        store(x->out + t * x->out_stride + (size_t)c * x->second,
              sums[t][c] * splat(x->scale[t]));
}

/* n tokens against one group of columns. */
INLINE void tiles(const int V, const bool levels, size_t n, size_t R,
                  const struct tokens *x, real *S, real *part)
{
    const size_t T = (size_t)tile_tokens(levels);
    size_t t = 0;
    for (; t + T <= n; t += T) {
        const struct tokens some = tokens_from(x, (ptrdiff_t)t);
        tile(tile_tokens(levels), V, levels, R, &some, S, part);
    }
    for (; t < n; t++) {
        const struct tokens one = tokens_from(x, (ptrdiff_t)t);
        tile(1, V, levels, R, &one, S, part);
    }
}

/* The four kernels there are: one or two vectors, plain sums or two levels. */
static __attribute__((noinline)) void group(const struct packed *p, size_t width,
                                            size_t j, size_t n, const struct tokens *x)
{
    const size_t R = p->R;
    real *S = p->S + R * j, *part = p->part ? p->part + R * j : NULL;
    if (part && width > LANES)
        tiles(VECTORS, true, n, R, x, S, part);
    else if (part)
        tiles(1, true, n, R, x, S, part);
    else if (width > LANES)
        tiles(VECTORS, false, n, R, x, S, NULL);
    else
        tiles(1, false, n, R, x, S, NULL);
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

/* Fewer columns than a vector has: it works on copies, padded with zeros. */
static void narrow_group(const struct packed *p, size_t n, struct tokens x)
{
    real v_copy[BLOCK * LANES] = {0}, out_copy[BLOCK * LANES];
    const ptrdiff_t out_stride = x.out_stride;
    real *out = x.out;
    copy_columns(n, p->columns, x.v.at, x.v.stride, v_copy, LANES);
    x.v = (struct rows){v_copy, LANES};
    x.out = out_copy;
    x.out_stride = LANES;
    group(p, LANES, 0, n, &x);
    copy_columns(n, p->columns, out_copy, LANES, out, out_stride);
}

/* The column at which vector j of S begins, j counted in columns. The last one ends where the
 * row ends: what it shares with the one before, both compute, and alike. */
INLINE size_t column_of(const struct packed *p, size_t j)
{
    return j + LANES <= p->columns ? j : p->columns - LANES;
}

/* n tokens, at most BLOCK, against all columns: x is moved from group to group. (A copy
 * of it would be read, as a whole, before its parts have been written.) */
static void recur(const struct packed *p, size_t n, struct tokens *x)
{
    const struct tokens next = tokens_from(x, BLOCK);
    const real *v = x->v.at;
    real *out = x->out;
    if (p->columns > 0 && p->columns < LANES) narrow_group(p, n, *x);
    if (p->columns < LANES) return;
    for (size_t j = 0, width; j < p->columns; j += width) {
        width = group_width(p->columns - j);
        const size_t first = column_of(p, j);
        x->v.at = v + first;
        x->out = out + first;
        for (int s = 0; s < 2; s++) x->streams[s].at = next.streams[s].at + first;
        x->second = width > LANES ? column_of(p, j + LANES) - first : 0;
        group(p, width, j, n, x);
    }
}

/* ---- Levels ----------------------------------------------------------------------------- */

static void carry_packed(const struct packed *p)
{
    carry(p->R * whole_vectors(p->columns), p->part, p->S);
}

/* ---- In and out of the layout ------------------------------------------------------------ */

/* The columns of vector j of S, all rows, where they lie in groups. */
INLINE real *packed_vector(const struct packed *p, real *S, size_t j, ptrdiff_t *stride)
{
    const size_t first = j / (VECTORS * LANES) * (VECTORS * LANES);
    *stride = (ptrdiff_t)group_width(p->columns - first);
    return S + p->R * first + (j - first);
}

/* Copies S [R, columns], whose rows are `stride` apart, into groups, or back out of them. */
static void pack(const struct packed *p, const real *from, size_t stride, real *to)
{
    const size_t width = p->columns < LANES ? p->columns : LANES;
    memset(to, 0, p->R * whole_vectors(p->columns) * sizeof(real));
    for (size_t j = 0; j < p->columns; j += LANES) {
        ptrdiff_t to_stride;
        real *to_j = packed_vector(p, to, j, &to_stride);
        const size_t first = width < LANES ? 0 : column_of(p, j);
        copy_columns(p->R, width, from + first, (ptrdiff_t)stride, to_j, to_stride);
    }
}

static void unpack(const struct packed *p, real *from, real *to, size_t stride)
{
    const size_t width = p->columns < LANES ? p->columns : LANES;
    for (size_t j = 0; j < p->columns; j += LANES) {
        ptrdiff_t from_stride;
        const real *from_j = packed_vector(p, from, j, &from_stride);
        const size_t first = width < LANES ? 0 : column_of(p, j);
        copy_columns(p->R, width, from_j, from_stride, to + first, (ptrdiff_t)stride);
    }
}

#endif
