/* elementwise.c: functions of each element, arithmetic with broadcasting, where.
 *
 * The operands are brought to one type, a fresh output gets the shape that they
 * broadcast to, and a walk hands stretches of all of them to the kernel of the
 * operation. */
#include "core/kernels.h"

static const char *const unary_names[] = {
    [TARN_NEG] = "neg",         [TARN_EXP] = "exp",   [TARN_LOG] = "log",
    [TARN_SQRT] = "sqrt",       [TARN_ABS] = "abs",   [TARN_TANH] = "tanh",
    [TARN_SIGMOID] = "sigmoid", [TARN_RELU] = "relu", [TARN_ELU] = "elu"};

static const char *const binary_names[] = {
    [TARN_ADD] = "add",         [TARN_SUB] = "sub", [TARN_MUL] = "mul",
    [TARN_DIV] = "div",         [TARN_POW] = "pow", [TARN_MINIMUM] = "minimum",
    [TARN_MAXIMUM] = "maximum", [TARN_EQ] = "eq",   [TARN_LT] = "lt",
    [TARN_LE] = "le",           [TARN_GT] = "gt",   [TARN_GE] = "ge"};

tarn_status tarn_unary(tarn_context *ctx, tarn_unary_op op, const tarn_tensor *t,
                       tarn_tensor **out)
{
    if ((int)op < 0 || op > TARN_ELU)
        return tarn_fail(ctx, TARN_EINVAL, "unary: operation is %d, expected 0 to %d",
                         (int)op, TARN_ELU);
    tarn_tensor *fresh = NULL;
    tarn_status status =
        tarn_tensor_new_on(ctx, tarn_device_of(t), t->dtype, t->rank, t->shape, &fresh);
    if (status != TARN_OK) return status;
    struct tarn_walk walk = tarn_walk_over(t->rank, t->shape);
    tarn_walk_add(&walk, fresh);
    tarn_walk_add(&walk, t);
    status = tarn_walk_run(ctx, unary_names[op], &walk,
                           tarn_kernels_of(t->dtype)->unary[op]);
    return tarn_deliver(status, fresh, out);
}

static tarn_status check_binary(tarn_context *ctx, tarn_binary_op op)
{
    if ((int)op >= 0 && op <= TARN_GE) return TARN_OK;
    return tarn_fail(ctx, TARN_EINVAL, "binary: operation is %d, expected 0 to %d",
                     (int)op, TARN_GE);
}

/* Runs a kernel over a fresh output and up to three operands that have its type already
 * and broadcast to its shape. */
static tarn_status run_over(tarn_context *ctx, const char *function,
                            tarn_kernel *kernel, tarn_dtype dtype, int rank,
                            const size_t *shape, int count,
                            tarn_tensor *const *operands, tarn_tensor **out)
{
    tarn_tensor *fresh = NULL;
    tarn_status status = tarn_tensor_new_on(ctx, tarn_device_of(operands[0]), dtype,
                                            rank, shape, &fresh);
    if (status != TARN_OK) return status;
    struct tarn_walk walk = tarn_walk_over(rank, shape);
    tarn_walk_add(&walk, fresh);
    for (int i = 0; i < count; i++) tarn_walk_add(&walk, operands[i]);
    tarn_count(ctx, (double)walk.count, 0);
    return tarn_deliver(tarn_walk_run(ctx, function, &walk, kernel), fresh, out);
}

/* Another handle on t, of the wanted type: the strides stay unless it is converted. */
static tarn_status in_type(tarn_context *ctx, const tarn_tensor *t, tarn_dtype dtype,
                           tarn_tensor **out)
{
    return t->dtype == dtype ? tarn_view_new(ctx, t, out)
                             : tarn_clone(ctx, t, dtype, out);
}

tarn_status tarn_binary(tarn_context *ctx, tarn_binary_op op, const tarn_tensor *a,
                        const tarn_tensor *b, tarn_tensor **out)
{
    tarn_status status = check_binary(ctx, op);
    if (status != TARN_OK) return status;
    const char *name = binary_names[op];
    int rank = 0;
    size_t shape[TARN_MAX_RANK];
    status =
        tarn_broadcast(ctx, name, a->rank, a->shape, b->rank, b->shape, &rank, shape);
    if (status != TARN_OK) return status;

    tarn_dtype dtype = tarn_promote(a->dtype, b->dtype);
    tarn_tensor *operands[2] = {NULL, NULL};
    status = in_type(ctx, a, dtype, &operands[0]);
    if (status == TARN_OK) status = in_type(ctx, b, dtype, &operands[1]);
    if (status == TARN_OK)
        status = run_over(ctx, name, tarn_kernels_of(dtype)->binary[op], dtype, rank,
                          shape, 2, operands, out);
    tarn_tensor_free(operands[0]);
    tarn_tensor_free(operands[1]);
    return status;
}

tarn_status tarn_binary_number(tarn_context *ctx, tarn_binary_op op,
                               const tarn_tensor *t, double number, bool number_first,
                               tarn_tensor **out)
{
    tarn_status status = check_binary(ctx, op);
    if (status != TARN_OK) return status;
    tarn_tensor *fresh = NULL;
    status =
        tarn_tensor_new_on(ctx, tarn_device_of(t), t->dtype, t->rank, t->shape, &fresh);
    if (status != TARN_OK) return status;

    float as_float = (float)number;
    void *operand = t->dtype == TARN_FLOAT32 ? (void *)&as_float : (void *)&number;
    struct tarn_walk walk = tarn_walk_over(t->rank, t->shape);
    tarn_walk_add(&walk, fresh);
    if (number_first) tarn_walk_add_number(&walk, t->dtype, operand);
    tarn_walk_add(&walk, t);
    if (!number_first) tarn_walk_add_number(&walk, t->dtype, operand);
    tarn_count(ctx, (double)walk.count, 0);
    status = tarn_walk_run(ctx, binary_names[op], &walk,
                           tarn_kernels_of(t->dtype)->binary[op]);
    return tarn_deliver(status, fresh, out);
}

/* ---- where ----------------------------------------------------------------------- */

static tarn_status where_shape(tarn_context *ctx, const tarn_tensor *mask,
                               const tarn_tensor *a, const tarn_tensor *b, int *rank,
                               size_t *shape)
{
    int rank_ab = 0;
    size_t shape_ab[TARN_MAX_RANK];
    tarn_status status = tarn_broadcast(ctx, "where", a->rank, a->shape, b->rank,
                                        b->shape, &rank_ab, shape_ab);
    if (status != TARN_OK) return status;
    return tarn_broadcast(ctx, "where", mask->rank, mask->shape, rank_ab, shape_ab,
                          rank, shape);
}

/* The mask as 0 and 1 of a type. It is compared with 0 in its own type: a conversion
 * could round a small number to 0. `mask = 0` is 1 where the mask says no. */
static tarn_status mask_in_type(tarn_context *ctx, const tarn_tensor *mask,
                                tarn_dtype dtype, tarn_tensor **out)
{
    if (mask->dtype == dtype) return tarn_view_new(ctx, mask, out);
    tarn_tensor *no = NULL, *yes = NULL;
    tarn_status status = tarn_binary_number(ctx, TARN_EQ, mask, 0, false, &no);
    if (status == TARN_OK)
        status = tarn_binary_number(ctx, TARN_SUB, no, 1, true, &yes);
    if (status == TARN_OK) status = tarn_clone(ctx, yes, dtype, out);
    tarn_tensor_free(no);
    tarn_tensor_free(yes);
    return status;
}

tarn_status tarn_where(tarn_context *ctx, const tarn_tensor *mask, const tarn_tensor *a,
                       const tarn_tensor *b, tarn_tensor **out)
{
    int rank = 0;
    size_t shape[TARN_MAX_RANK];
    tarn_status status = where_shape(ctx, mask, a, b, &rank, shape);
    if (status != TARN_OK) return status;

    tarn_dtype dtype = tarn_promote(a->dtype, b->dtype);
    tarn_tensor *operands[3] = {NULL, NULL, NULL};
    status = mask_in_type(ctx, mask, dtype, &operands[0]);
    if (status == TARN_OK) status = in_type(ctx, a, dtype, &operands[1]);
    if (status == TARN_OK) status = in_type(ctx, b, dtype, &operands[2]);
    if (status == TARN_OK)
        status = run_over(ctx, "where", tarn_kernels_of(dtype)->where, dtype, rank,
                          shape, 3, operands, out);
    for (int i = 0; i < 3; i++) tarn_tensor_free(operands[i]);
    return status;
}
