/* mm.c: products of matrices, batched and broadcast.
 *
 * The output is cut into pieces of ROWS by COLUMNS, always the same ones, and each
 * piece is one item of the parallel loop. Operands are read in place under any
 * strides. */
#include "core/kernels.h"
#include "core/parallel.h"

enum { ROWS = TARN_TILE_ROWS, COLUMNS = 512 };

/* A batch of matrices [batch.., rows, columns]; a vector has become one of them. */
struct operand {
    const tarn_tensor *t;
    size_t rows, columns;
    ptrdiff_t row, column; /* strides */
    int batch;             /* leading dimensions */
};

struct product {
    tarn_context *ctx;
    struct operand a, b;
    tarn_tensor *out;
    int rank; /* of the batch */
    size_t shape[TARN_MAX_RANK];
    ptrdiff_t a_stride[TARN_MAX_RANK], b_stride[TARN_MAX_RANK];
    size_t row_pieces, column_pieces;
};

static struct operand as_matrices(const tarn_tensor *t, bool is_left)
{
    struct operand o = {.t = t, .rows = 1, .columns = 1};
    int last = t->rank - 1;
    if (t->rank == 1 && is_left) {
        o.columns = t->shape[0];
        o.column = t->stride[0];
    } else if (t->rank == 1) {
        o.rows = t->shape[0];
        o.row = t->stride[0];
    } else {
        o.batch = t->rank - 2;
        o.rows = t->shape[last - 1];
        o.columns = t->shape[last];
        o.row = t->stride[last - 1];
        o.column = t->stride[last];
    }
    return o;
}

/* ---- One piece ------------------------------------------------------------------- */

static size_t pieces(size_t extent, size_t piece)
{
    return extent / piece + (extent % piece != 0);
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Where the matrices of a batch entry begin, in elements. */
static void locate(const struct product *p, size_t entry, ptrdiff_t *a, ptrdiff_t *b)
{
    *a = *b = 0;
    for (int d = p->rank - 1; d >= 0; d--) {
        ptrdiff_t i = (ptrdiff_t)(entry % p->shape[d]);
        *a += i * p->a_stride[d];
        *b += i * p->b_stride[d];
        entry /= p->shape[d];
    }
}

static tarn_status multiply_piece(void *data, size_t item)
{
    const struct product *p = data;
    size_t j = item % p->column_pieces * COLUMNS;
    size_t i = item / p->column_pieces % p->row_pieces * ROWS;
    size_t entry = item / p->column_pieces / p->row_pieces;
    size_t n = p->a.rows, m = p->b.columns;
    ptrdiff_t a = 0, b = 0;
    locate(p, entry, &a, &b);
    a += (ptrdiff_t)i * p->a.row;
    b += (ptrdiff_t)j * p->b.column;
    struct tarn_product_of piece = {
        .n = smaller(n - i, ROWS),
        .k = p->a.columns,
        .m = smaller(m - j, COLUMNS),
        .a = tarn_at(p->a.t, a),
        .b = tarn_at(p->b.t, b),
        .out = tarn_at(p->out, (ptrdiff_t)((entry * n + i) * m + j)),
        .a_row = p->a.row,
        .a_column = p->a.column,
        .b_row = p->b.row,
        .b_column = p->b.column,
        .out_row = (ptrdiff_t)m};
    return tarn_tiles_of(p->out->dtype)->multiply(p->ctx, &piece);
}

/* ---- The whole product ----------------------------------------------------------- */

/* Fills in the batch that both operands broadcast to. */
static tarn_status broadcast_batch(tarn_context *ctx, struct product *p)
{
    tarn_status status = tarn_broadcast(ctx, "mm", p->a.batch, p->a.t->shape,
                                        p->b.batch, p->b.t->shape, &p->rank, p->shape);
    if (status != TARN_OK) return status;
    tarn_tensor a = *p->a.t, b = *p->b.t;
    a.rank = p->a.batch;
    b.rank = p->b.batch;
    tarn_broadcast_strides(&a, p->rank, p->shape, p->a_stride);
    tarn_broadcast_strides(&b, p->rank, p->shape, p->b_stride);
    return TARN_OK;
}

/* Checks the shapes and gives that of the output: the batch, then rows and columns as
 * far as they are not the extra dimension of a vector. */
static tarn_status plan(tarn_context *ctx, const tarn_tensor *a, const tarn_tensor *b,
                        struct product *p, int *rank, size_t *shape)
{
    tarn_status status = tarn_on_host(ctx, "mm", a);
    if (status == TARN_OK) status = tarn_on_host(ctx, "mm", b);
    if (status != TARN_OK) return status;
    bool fits = a->rank > 0 && b->rank > 0;
    if (fits) {
        p->a = as_matrices(a, true);
        p->b = as_matrices(b, false);
        fits = p->a.columns == p->b.rows;
    }
    if (!fits)
        return tarn_fail(
            ctx, TARN_ESHAPE,
            "mm: operands are %s and %s, expected [.., n, k] and [.., k, m], "
            "or a vector [k]",
            tarn_shape_text(a).text, tarn_shape_text(b).text);
    status = broadcast_batch(ctx, p);
    if (status != TARN_OK) return status;
    *rank = p->rank;
    for (int d = 0; d < p->rank; d++) shape[d] = p->shape[d];
    if (a->rank > 1) shape[(*rank)++] = p->a.rows;
    if (b->rank > 1) shape[(*rank)++] = p->b.columns;
    return TARN_OK;
}

static tarn_status run(tarn_context *ctx, struct product *p)
{
    p->ctx = ctx;
    p->row_pieces = pieces(p->a.rows, ROWS);
    p->column_pieces = pieces(p->b.columns, COLUMNS);
    size_t entries = 1;
    for (int d = 0; d < p->rank; d++) entries *= p->shape[d];
    const double n = (double)p->a.rows, k = (double)p->a.columns;
    const double m = (double)p->b.columns, batch = (double)entries;
    tarn_count(ctx, 2 * batch * n * k * m,
               batch * (n * k + k * m + n * m) *
                   (double)tarn_dtype_size(p->out->dtype));
    return tarn_parallel(ctx, "mm", entries * p->row_pieces * p->column_pieces,
                         multiply_piece, p);
}

/* The product of two tensors of one type. */
static tarn_status multiply(tarn_context *ctx, const tarn_tensor *a,
                            const tarn_tensor *b, tarn_tensor **out)
{
    struct product p = {0};
    int rank = 0;
    size_t shape[TARN_MAX_RANK];
    tarn_status status = plan(ctx, a, b, &p, &rank, shape);
    if (status == TARN_OK) status = tarn_tensor_new(ctx, a->dtype, rank, shape, &p.out);
    if (status != TARN_OK) return status;
    return tarn_deliver(run(ctx, &p), p.out, out);
}

tarn_status tarn_mm(tarn_context *ctx, const tarn_tensor *a, const tarn_tensor *b,
                    tarn_tensor **out)
{
    if (a->dtype == b->dtype) return multiply(ctx, a, b, out);

    /* The one that is float32 is converted. */
    bool left = a->dtype == TARN_FLOAT32;
    tarn_tensor *wide = NULL;
    tarn_status status = tarn_clone(ctx, left ? a : b, TARN_FLOAT64, &wide);
    if (status != TARN_OK) return status;
    status = left ? multiply(ctx, wide, b, out) : multiply(ctx, a, wide, out);
    tarn_tensor_free(wide);
    return status;
}
