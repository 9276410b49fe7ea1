/* lua_math.c: operators, element-wise functions, reductions, products, comparison.
 *
 * Families of functions that differ in one operation share one C function, whose
 * upvalue points at its row in a table below. Where one operand may be a number it
 * takes the type of the tensor beside it.
 *
 * A reduction over everything gives a Lua number (with keepdim a tensor of extents 1),
 * one over a dimension a tensor; max and min of a dimension also give 1-based
 * positions. */
#include "repl/arguments.h"

/* ---- One operand ----------------------------------------------------------------- */

struct unary {
    const char *name;
    tarn_unary_op op;
};

static const struct unary unaries[] = {
    {"exp", TARN_EXP},   {"log", TARN_LOG},   {"sqrt", TARN_SQRT},
    {"abs", TARN_ABS},   {"tanh", TARN_TANH}, {"sigmoid", TARN_SIGMOID},
    {"relu", TARN_RELU}, {"elu", TARN_ELU},   {NULL, TARN_NEG},
};

static int unary(lua_State *L)
{
    const struct unary *row = lua_touserdata(L, lua_upvalueindex(1));
    const tarn_tensor *t = tarn_lua_self(L, row->name);
    tarn_tensor **out = tarn_lua_slot(L);
    tarn_lua_check(L, tarn_unary(tarn_lua_context(L), row->op, t, out));
    return 1;
}

static int negative(lua_State *L)
{
    const tarn_tensor *t = tarn_lua_tensor(L, 1, "-", "the operand");
    tarn_tensor **out = tarn_lua_slot(L);
    tarn_lua_check(L, tarn_unary(tarn_lua_context(L), TARN_NEG, t, out));
    return 1;
}

/* ---- Two operands ---------------------------------------------------------------- */

struct binary {
    const char *name; /* in messages */
    const char *key;  /* of the metamethod, or NULL for a method */
    tarn_binary_op op;
};

static const struct binary binaries[] = {
    {"+", "__add", TARN_ADD},        {"-", "__sub", TARN_SUB},
    {"*", "__mul", TARN_MUL},        {"/", "__div", TARN_DIV},
    {"^", "__pow", TARN_POW},        {"minimum", NULL, TARN_MINIMUM},
    {"maximum", NULL, TARN_MAXIMUM}, {"eq", NULL, TARN_EQ},
    {"lt", NULL, TARN_LT},           {"le", NULL, TARN_LE},
    {"gt", NULL, TARN_GT},           {"ge", NULL, TARN_GE},
    {NULL, NULL, TARN_ADD},
};

/* The tensor at a stack index, or NULL for a number there. */
static tarn_tensor *tensor_or_number(lua_State *L, int index, const char *function)
{
    char found[80];
    tarn_tensor *t = tarn_lua_to_tensor(L, index);
    if (!t && lua_type(L, index) != LUA_TNUMBER)
        tarn_lua_fail(L, "%s: the %s operand is %s, expected a tensor or a number",
                      function, index == 1 ? "first" : "second",
                      tarn_lua_describe(L, index, found, sizeof found));
    return t;
}

static int binary(lua_State *L)
{
    const struct binary *row = lua_touserdata(L, lua_upvalueindex(1));
    tarn_context *ctx = tarn_lua_context(L);
    const tarn_tensor *a = tensor_or_number(L, 1, row->name);
    const tarn_tensor *b = tensor_or_number(L, 2, row->name);
    if (!a && !b)
        tarn_lua_fail(L, "%s: both operands are numbers, expected a tensor", row->name);
    tarn_tensor **out = tarn_lua_slot(L);
    tarn_status status;
    if (a && b)
        status = tarn_binary(ctx, row->op, a, b, out);
    else if (a)
        status = tarn_binary_number(ctx, row->op, a, lua_tonumber(L, 2), false, out);
    else
        status = tarn_binary_number(ctx, row->op, b, lua_tonumber(L, 1), true, out);
    tarn_lua_check(L, status);
    return 1;
}

/* The bound at a stack index, if it is given. */
static bool clamp_bound(lua_State *L, int index, const char *name, double *value)
{
    char found[80];
    if (lua_isnoneornil(L, index)) return false;
    if (lua_type(L, index) != LUA_TNUMBER)
        tarn_lua_fail(L, "clamp: %s is %s, expected a number or nil", name,
                      tarn_lua_describe(L, index, found, sizeof found));
    *value = lua_tonumber(L, index);
    return true;
}

/* clamp(t, lo, hi): nil leaves a side open; NaN stays NaN. */
static int clamp(lua_State *L)
{
    double lo = 0, hi = 0;
    tarn_context *ctx = tarn_lua_context(L);
    const tarn_tensor *t = tarn_lua_self(L, "clamp");
    bool has_lo = clamp_bound(L, 2, "lo", &lo), has_hi = clamp_bound(L, 3, "hi", &hi);
    if (!has_lo && !has_hi) tarn_lua_fail(L, "clamp: lo and hi are both missing");
    if (has_lo && has_hi && lo > hi)
        tarn_lua_fail(L, "clamp: lo is %g, more than hi, which is %g", lo, hi);
    if (has_lo) {
        tarn_tensor **raised = tarn_lua_slot(L);
        tarn_lua_check(L, tarn_binary_number(ctx, TARN_MAXIMUM, t, lo, false, raised));
        t = *raised;
    }
    if (has_hi) {
        tarn_tensor **lowered = tarn_lua_slot(L);
        tarn_lua_check(L, tarn_binary_number(ctx, TARN_MINIMUM, t, hi, false, lowered));
    }
    return 1;
}

static int mm(lua_State *L)
{
    const tarn_tensor *a = tarn_lua_self(L, "mm");
    const tarn_tensor *b = tarn_lua_tensor(L, 2, "mm", "the second matrix");
    tarn_tensor **out = tarn_lua_slot(L);
    tarn_lua_check(L, tarn_mm(tarn_lua_context(L), a, b, out));
    return 1;
}

/* ---- Reductions ------------------------------------------------------------------ */

struct reduction {
    const char *name;
    tarn_reduce_op op;
    tarn_reduce_op position_op; /* if positions: gives where the value is */
    bool positions;             /* of a dimension also give the positions */
};

static const struct reduction reductions[] = {
    {"sum", TARN_SUM, TARN_SUM, false},    {"mean", TARN_MEAN, TARN_MEAN, false},
    {"norm", TARN_NORM, TARN_NORM, false}, {"max", TARN_MAX, TARN_ARGMAX, true},
    {"min", TARN_MIN, TARN_ARGMIN, true},  {NULL, TARN_SUM, TARN_SUM, false},
};

/* Reads (dim, {keepdim=}), both of which may be missing. */
static int read_dim_and_keep(lua_State *L, const char *name, int rank, bool *keep)
{
    static const char *const options[] = {"keepdim", NULL};
    int dim = TARN_ALL, index = 2;
    if (!lua_istable(L, 2)) {
        if (!lua_isnoneornil(L, 2)) dim = tarn_lua_dim(L, 2, name, rank);
        index = 3;
    }
    *keep = false;
    if (tarn_lua_options(L, index, name, options))
        tarn_lua_opt_boolean(L, index, name, "keepdim", keep);
    return dim;
}

/* Pushes 1-based positions of the largest or smallest elements of a dimension. */
static void push_positions(lua_State *L, tarn_reduce_op op, const tarn_tensor *t,
                           int dim, bool keep)
{
    tarn_context *ctx = tarn_lua_context(L);
    tarn_tensor **from_0 = tarn_lua_slot(L), **from_1 = tarn_lua_slot(L);
    tarn_lua_check(L, tarn_reduce(ctx, op, t, dim, keep, from_0));
    tarn_lua_check(L, tarn_binary_number(ctx, TARN_ADD, *from_0, 1, false, from_1));
    lua_remove(L, -2);
}

static int reduce(lua_State *L)
{
    const struct reduction *row = lua_touserdata(L, lua_upvalueindex(1));
    const tarn_tensor *t = tarn_lua_self(L, row->name);
    bool keep;
    int dim = read_dim_and_keep(L, row->name, tarn_tensor_rank(t), &keep);
    tarn_tensor **out = tarn_lua_slot(L);
    tarn_lua_check(L, tarn_reduce(tarn_lua_context(L), row->op, t, dim, keep, out));
    if (dim == TARN_ALL) return keep ? 1 : tarn_lua_push_item(L, *out);
    if (!row->positions) return 1;
    push_positions(L, row->position_op, t, dim, keep);
    return 2;
}

/* argmax(t): the row-major position of the largest element, an integer; argmax(t, dim):
 * a tensor of positions. */
static int argmax(lua_State *L)
{
    const tarn_tensor *t = tarn_lua_self(L, "argmax");
    bool keep;
    int dim = read_dim_and_keep(L, "argmax", tarn_tensor_rank(t), &keep);
    push_positions(L, TARN_ARGMAX, t, dim, keep);
    if (dim != TARN_ALL || keep) return 1;
    tarn_lua_push_item(L, tarn_lua_to_tensor(L, -1));
    lua_pushinteger(L, (lua_Integer)lua_tonumber(L, -1));
    return 1;
}

static int softmax(lua_State *L)
{
    const tarn_tensor *t = tarn_lua_self(L, "softmax");
    int dim = tarn_lua_dim(L, 2, "softmax", tarn_tensor_rank(t));
    tarn_tensor **out = tarn_lua_slot(L);
    tarn_lua_check(L, tarn_softmax(tarn_lua_context(L), t, dim, out));
    return 1;
}

static int cumsum(lua_State *L)
{
    const tarn_tensor *t = tarn_lua_self(L, "cumsum");
    int dim = tarn_lua_dim(L, 2, "cumsum", tarn_tensor_rank(t));
    tarn_tensor **out = tarn_lua_slot(L);
    tarn_lua_check(L, tarn_cumsum(tarn_lua_context(L), t, dim, out));
    return 1;
}

/* ---- Comparison of two tensors --------------------------------------------------- */

/* Reads the operands a and b; a number takes the type of the tensor beside it. */
static void read_pair(lua_State *L, const char *function, tarn_tensor **a,
                      tarn_tensor **b)
{
    *a = tarn_lua_operand(L, 1, function, "a", tarn_lua_to_tensor(L, 2));
    *b = tarn_lua_operand(L, 2, function, "b", *a);
}

static int allclose(lua_State *L)
{
    static const char *const options[] = {"rtol", "atol", NULL};
    double rtol = 1e-5, atol = 1e-8;
    bool close = false;
    tarn_tensor *a, *b;
    lua_settop(L, 3);
    read_pair(L, "allclose", &a, &b);
    if (tarn_lua_options(L, 3, "allclose", options)) {
        tarn_lua_opt_number(L, 3, "allclose", "rtol", &rtol);
        tarn_lua_opt_number(L, 3, "allclose", "atol", &atol);
    }
    tarn_lua_check(L, tarn_allclose(tarn_lua_context(L), a, b, rtol, atol, &close));
    lua_pushboolean(L, close);
    return 1;
}

static int maxdiff(lua_State *L)
{
    double diff = 0;
    tarn_tensor *a, *b;
    lua_settop(L, 2);
    read_pair(L, "maxdiff", &a, &b);
    tarn_lua_check(L, tarn_maxdiff(tarn_lua_context(L), a, b, &diff, NULL));
    lua_pushnumber(L, diff);
    return 1;
}

/* ---- Registration ---------------------------------------------------------------- */

static const luaL_Reg methods[] = {
    {"clamp", clamp},     {"mm", mm},         {"argmax", argmax},
    {"softmax", softmax}, {"cumsum", cumsum}, {"allclose", allclose},
    {"maxdiff", maxdiff}, {NULL, NULL},
};

/* Pushes a function of a family, with its row as upvalue. */
static void push_member(lua_State *L, lua_CFunction function, const void *row)
{
    lua_pushlightuserdata(L, (void *)row);
    lua_pushcclosure(L, function, 1);
}

static void open_operators(lua_State *L)
{
    luaL_getmetatable(L, TARN_LUA_TENSOR);
    for (const struct binary *row = binaries; row->name; row++) {
        if (!row->key) continue;
        push_member(L, binary, row);
        lua_setfield(L, -2, row->key);
    }
    lua_pushcfunction(L, negative);
    lua_setfield(L, -2, "__unm");
    lua_pop(L, 1);
}

void tarn_open_math(lua_State *L)
{
    tarn_lua_methods(L, methods);
    for (const struct unary *row = unaries; row->name; row++) {
        push_member(L, unary, row);
        tarn_lua_method(L, row->name);
    }
    for (const struct binary *row = binaries; row->name; row++) {
        if (row->key) continue;
        push_member(L, binary, row);
        tarn_lua_method(L, row->name);
    }
    for (const struct reduction *row = reductions; row->name; row++) {
        push_member(L, reduce, row);
        tarn_lua_method(L, row->name);
    }
    open_operators(L);
    tarn_open_arrange(L);
}
