/* tile.c: products of pieces that fit in the cache. Compiled for float and double.
 *
 *     out [n, m] = a [n, k] b [k, m],  n <= TARN_TILE_ROWS
 *
 * k is cut into stretches of DEPTH, n into tiles of HEIGHT rows, m into panels of WIDTH
 * columns. Tiles of a and panels of b are packed in the order in which they are read,
 * and HEIGHT x WIDTH sums stay in registers while l runs over the stretch:
 *
 *                         panel of b
 *                        +--WIDTH--+
 *     tile of a          |         | DEPTH      sum_ij += a_il b_lj
 *            +--DEPTH--+ +---------+
 *     HEIGHT |         | |  sums   |
 *            +---------+ +---------+
 *
 * Every sum runs over l in order, a stretch at a time, whatever tile it is in: an
 * element of the product depends on its row and its column alone. Zeros are multiplied
 * like other numbers, so that NaN and Inf get through. */
#include "core/kernels.h"
#include "core/real.h"

/* A panel is a cache line wide. Its sums fill 8 registers of 16 bytes, half of those
 * that any x86-64 or ARM64 has; WIDTH is also the number of lanes of an inner
 * product. */
enum { HEIGHT = 2, WIDTH = 64 / sizeof(real), DEPTH = 256 };
_Static_assert(TARN_TILE_ROWS % HEIGHT == 0, "a piece is made of whole tiles");

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Packs `lines` lines of `depth` numbers side by side: packed[d * width + i] is number
 * d of line i, or 0 past the last line. A tile's lines are rows of a, a panel's
 * columns of b. */
static void pack(const real *from, ptrdiff_t line, ptrdiff_t step, size_t lines,
                 size_t width, size_t depth, real *packed)
{
    for (size_t d = 0; d < depth; d++, from += step, packed += width) {
        if (line == 1 && lines == width)
            for (size_t i = 0; i < width; i++) packed[i] = from[i];
        else
            for (size_t i = 0; i < width; i++)
                packed[i] = i < lines ? from[(ptrdiff_t)i * line] : 0;
    }
}

/* Adds the product of a packed tile and a packed panel to rows x columns of the
 * output. */
static void add_tile(const real *restrict tile, const real *restrict panel,
                     size_t depth, real *restrict out, ptrdiff_t out_row, size_t rows,
                     size_t columns)
{
    real sum[HEIGHT][WIDTH] = {{0}};
    for (size_t d = 0; d < depth; d++, tile += HEIGHT, panel += WIDTH)
        for (size_t i = 0; i < HEIGHT; i++)
            for (size_t c = 0; c < WIDTH; c++) sum[i][c] += tile[i] * panel[c];
    for (size_t i = 0; i < rows; i++)
        for (size_t c = 0; c < columns; c++)
            out[(ptrdiff_t)i * out_row + (ptrdiff_t)c] += sum[i][c];
}

/* Adds what `depth` numbers of every sum contribute, from number l on. */
static void add_stretch(const struct tarn_product_of *p, size_t l, size_t depth)
{
    real tiles[TARN_TILE_ROWS * DEPTH], panel[DEPTH * WIDTH];
    const real *a = (const real *)p->a + (ptrdiff_t)l * p->a_column;
    for (size_t i = 0; i < p->n; i += HEIGHT)
        pack(a + (ptrdiff_t)i * p->a_row, p->a_row, p->a_column,
             smaller(p->n - i, HEIGHT), HEIGHT, depth, tiles + i * depth);

    const real *b = (const real *)p->b + (ptrdiff_t)l * p->b_row;
    for (size_t j = 0; j < p->m; j += WIDTH) {
        size_t columns = smaller(p->m - j, WIDTH);
        pack(b + (ptrdiff_t)j * p->b_column, p->b_column, p->b_row, columns, WIDTH,
             depth, panel);
        for (size_t i = 0; i < p->n; i += HEIGHT)
            add_tile(tiles + i * depth, panel, depth,
                     (real *)p->out + (ptrdiff_t)i * p->out_row + (ptrdiff_t)j,
                     p->out_row, smaller(p->n - i, HEIGHT), columns);
    }
}

/* The inner product of two stretches; number l goes to lane l mod WIDTH. */
static real dot(const real *a, ptrdiff_t a_step, const real *b, ptrdiff_t b_step,
                size_t n)
{
    real lane[WIDTH] = {0};
    size_t l = 0;
    if (a_step == 1 && b_step == 1)
        for (; l + WIDTH <= n; l += WIDTH)
            for (size_t i = 0; i < WIDTH; i++) lane[i] += a[l + i] * b[l + i];
    for (; l < n; l++)
        lane[l % WIDTH] += a[(ptrdiff_t)l * a_step] * b[(ptrdiff_t)l * b_step];
    real sum = 0;
    for (size_t i = 0; i < WIDTH; i++) sum += lane[i];
    return sum;
}

/* The same as add_stretch for a single column, which would leave most of a panel
 * empty. */
static void add_to_column(const struct tarn_product_of *p, size_t l, size_t depth)
{
    const real *a = (const real *)p->a + (ptrdiff_t)l * p->a_column;
    const real *b = (const real *)p->b + (ptrdiff_t)l * p->b_row;
    real *out = p->out;
    for (size_t i = 0; i < p->n; i++)
        out[(ptrdiff_t)i * p->out_row] +=
            dot(a + (ptrdiff_t)i * p->a_row, p->a_column, b, p->b_row, depth);
}

static tarn_status multiply(const tarn_context *ctx, const struct tarn_product_of *p)
{
    real *out = p->out;
    for (size_t i = 0; i < p->n; i++)
        for (size_t j = 0; j < p->m; j++)
            out[(ptrdiff_t)i * p->out_row + (ptrdiff_t)j] = 0;
    for (size_t l = 0; l < p->k; l += DEPTH) {
        if (tarn_interrupted(ctx)) return TARN_EINTR;
        if (p->m == 1)
            add_to_column(p, l, smaller(p->k - l, DEPTH));
        else
            add_stretch(p, l, smaller(p->k - l, DEPTH));
    }
    return TARN_OK;
}

const struct tarn_tiles TYPED(tarn_tiles) = {.multiply = multiply};
