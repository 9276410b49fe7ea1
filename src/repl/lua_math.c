/* lua_math.c: operators, element-wise functions, products, comparison.
 *
 * Families of functions that differ in one operation share one C function, whose
 * upvalue points at its row in a table below. Where one operand may be a number it
 * takes the type of the tensor beside it. */
#include "repl/arguments.h"

/* ---- One operand ----------------------------------------------------------------- */

struct unary {
    const char *name;
    tarn_unary_op op;
};

/* help: t:exp() -> tensor
 * Gives e to the power of each element.
 * shapes: out as t  math: out_i = exp(t_i)  cost: O(numel)  errors: none
 * example:
 *   > tensor{0, 1}:exp()
 *   tensor [2] float32 cpu
 *     1.0000  2.7183
 * see: t:log, t:softmax, t:sigmoid */

/* help: t:log() -> tensor
 * Gives the natural logarithm of each element: -inf of 0, nan below it.
 * shapes: out as t  math: out_i = log(t_i)  cost: O(numel)  errors: none
 * example:
 *   > tensor{1, 0, -1}:log()
 *   tensor [3] float32 cpu
 *        0  -inf   nan
 * see: t:exp */

/* help: t:sqrt() -> tensor
 * Gives the square root of each element: nan below 0.
 * shapes: out as t  math: out_i = sqrt(t_i)  cost: O(numel)  errors: none
 * example:
 *   > tensor{4, 9}:sqrt()
 *   tensor [2] float32 cpu
 *     2  3
 * see: t:norm, operators */

/* help: t:abs() -> tensor
 * Gives the magnitude of each element.
 * shapes: out as t  math: out_i = |t_i|  cost: O(numel)  errors: none
 * example:
 *   > tensor{-2, 3}:abs()
 *   tensor [2] float32 cpu
 *     2  3
 * see: maxdiff, t:norm */

/* help: t:tanh() -> tensor
 * Gives the hyperbolic tangent of each element.
 * shapes: out as t  math: out_i = tanh(t_i)  cost: O(numel)  errors: none
 * example:
 *   > tensor{-1, 0, 1}:tanh()
 *   tensor [3] float32 cpu
 *     -0.7616   0.0000   0.7616
 * see: t:sigmoid */

/* help: t:sigmoid() -> tensor
 * Gives the logistic function of each element.
 * shapes: out as t  math: out_i = 1 / (1 + exp(-t_i))  cost: O(numel)  errors: none
 * example:
 *   > tensor{-1, 0, 1}:sigmoid()
 *   tensor [3] float32 cpu
 *     0.2689  0.5000  0.7311
 * see: t:tanh, t:softmax */

/* help: t:relu() -> tensor
 * Gives each element where it is above 0, and 0 elsewhere.
 * shapes: out as t  math: out_i = max(t_i, 0)  cost: O(numel)  errors: none
 * example:
 *   > tensor{-1, 0, 2}:relu()
 *   tensor [3] float32 cpu
 *     0  0  2
 * see: t:elu, t:clamp, phi */

/* help: t:elu() -> tensor
 * Gives each element where it is above 0, and exp(x) - 1 elsewhere; plus 1 it is
 * phi.elu1.
 * shapes: out as t
 * math: out_i = t_i if t_i > 0, exp(t_i) - 1 otherwise (eq 7: elu(x) + 1)
 * cost: O(numel)  errors: none
 * example:
 *   > t = tensor{-1, 0, 2}
 *   > maxdiff(t:elu() + 1, phi.elu1(t))
 *   0.0
 * see: phi, t:relu */
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

/* help: t:minimum(u) -> tensor
 * Gives the smaller of two tensors, element by element; NaN wins.
 * shapes: t and u broadcast together; u may be a number
 * math: out_i = min(t_i, u_i)
 * cost: O(numel of out)
 * errors: shapes that do not broadcast
 * example:
 *   > tensor{1, 5}:minimum(tensor{3, 4})
 *   tensor [2] float32 cpu
 *     1  4
 * see: t:maximum, t:clamp, t:min */

/* help: t:maximum(u) -> tensor
 * Gives the larger of two tensors, element by element; NaN wins.
 * shapes: t and u broadcast together; u may be a number
 * math: out_i = max(t_i, u_i)
 * cost: O(numel of out)
 * errors: shapes that do not broadcast
 * example:
 *   > tensor{-1, 5}:maximum(0)
 *   tensor [2] float32 cpu
 *     0  5
 * see: t:minimum, t:clamp, t:max */

/* help: t:eq(u) -> tensor
 * Gives 1 where t and u are equal, and 0 elsewhere; NaN equals nothing.
 * shapes: t and u broadcast together; u may be a number
 * math: out_i = 1 if t_i = u_i, 0 otherwise  cost: O(numel of out)
 * errors: shapes that do not broadcast; a == b of two tensors is refused
 * example:
 *   > tensor{1, 2}:eq(2)
 *   tensor [2] float32 cpu
 *     0  1
 * see: allclose, t:lt, where */

/* help: t:lt(u) -> tensor
 * Gives 1 where t is less than u, and 0 elsewhere.
 * shapes: t and u broadcast together; u may be a number
 * math: out_i = 1 if t_i < u_i, 0 otherwise  cost: O(numel of out)
 * errors: shapes that do not broadcast; a < b of tensors is refused
 * example:
 *   > tensor{1, 2}:lt(2)
 *   tensor [2] float32 cpu
 *     1  0
 * see: t:le, t:gt, where */

/* help: t:le(u) -> tensor
 * Gives 1 where t is at most u, and 0 elsewhere.
 * shapes: t and u broadcast together; u may be a number
 * math: out_i = 1 if t_i <= u_i, 0 otherwise  cost: O(numel of out)
 * errors: shapes that do not broadcast; a <= b of tensors is refused
 * example:
 *   > range(1, 3):le(tensor{{2}, {1}})
 *   tensor [2, 3] float32 cpu
 *     1  1  0
 *     1  0  0
 * see: t:lt, t:ge, where */

/* help: t:gt(u) -> tensor
 * Gives 1 where t is more than u, and 0 elsewhere.
 * shapes: t and u broadcast together; u may be a number
 * math: out_i = 1 if t_i > u_i, 0 otherwise  cost: O(numel of out)
 * errors: shapes that do not broadcast; a > b of tensors is refused
 * example:
 *   > tensor{-1, 2}:gt(0)
 *   tensor [2] float32 cpu
 *     0  1
 * see: t:ge, t:lt, where */

/* help: t:ge(u) -> tensor
 * Gives 1 where t is at least u, and 0 elsewhere.
 * shapes: t and u broadcast together; u may be a number
 * math: out_i = 1 if t_i >= u_i, 0 otherwise  cost: O(numel of out)
 * errors: shapes that do not broadcast; a >= b of tensors is refused
 * example:
 *   > tensor{-1, 0}:ge(0)
 *   tensor [2] float32 cpu
 *     0  1
 * see: t:gt, t:le, where */
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
    *value = tarn_lua_real(L, index);
    return true;
}

/* help: t:clamp(lo, hi) -> tensor
 * Limits each element to lo..hi; nil leaves a side open, NaN stays NaN.
 * shapes: out as t; lo and hi are numbers
 * math: out_i = min(max(t_i, lo), hi)  cost: O(numel)
 * errors: both missing, lo above hi
 * example:
 *   > tensor{-2, 0.5, 9}:clamp(0, 1)
 *   tensor [3] float32 cpu
 *     0.0  0.5  1.0
 *   > tensor{-2, 9}:clamp(nil, 1)
 *   tensor [2] float32 cpu
 *     -2   1
 * see: t:minimum, t:maximum, t:relu */
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

/* help: t:mm(u) -> tensor
 * Multiplies matrices, batched over leading dimensions, which broadcast.
 * shapes: [.., n, k] x [.., k, m] -> [.., n, m]; a vector is a row on the left, a
 *         column on the right, and its extra dimension goes away
 * math: out_ij = sum_l t_il u_lj  cost: 2 n k m flops a matrix
 * errors: inner extents that differ, leading ones that do not broadcast, numbers
 * example:
 *   > tensor{{1, 2}, {3, 4}}:mm(tensor{1, 1})
 *   tensor [2] float32 cpu
 *     3  7
 *   > ones(5, 2, 3):mm(ones(3, 4)).shape
 *   {5, 2, 4}
 * see: t:t, t:sum, operators */
static int mm(lua_State *L)
{
    const tarn_tensor *a = tarn_lua_self(L, "mm");
    const tarn_tensor *b = tarn_lua_tensor(L, 2, "mm", "the second matrix");
    tarn_tensor **out = tarn_lua_slot(L);
    tarn_lua_check(L, tarn_mm(tarn_lua_context(L), a, b, out));
    return 1;
}

/* ---- Comparison of two tensors --------------------------------------------------- */

/* Reads the operands a and b; a number takes the type of the tensor beside it. They are
 * compared on the host, wherever they lie. */
static void read_pair(lua_State *L, const char *function, tarn_tensor **a,
                      tarn_tensor **b)
{
    *a = tarn_lua_operand(L, 1, function, "a", tarn_lua_to_tensor(L, 2));
    *b = tarn_lua_on_host(L, tarn_lua_operand(L, 2, function, "b", *a));
    *a = tarn_lua_on_host(L, *a);
}

/* help: allclose(a, b, {rtol=1e-5, atol=1e-8}) -> boolean
 * Tells whether a and b agree within a tolerance everywhere; NaN never does.
 * shapes: a and b broadcast together, on any device; one of them may be a number
 * math: |a - b| <= atol + rtol |b|; infinities must be equal  cost: O(numel)
 * errors: shapes that do not broadcast, a negative tolerance
 * options: rtol    a share of |b|
 *          atol    an absolute tolerance
 * example:
 *   > allclose(tensor{1, 2}, tensor{1, 2.00001})
 *   true
 *   > allclose(tensor{1, 2}, tensor{1, 2.001})
 *   false
 *   > allclose(tensor{0/0}, tensor{0/0})
 *   false
 * see: maxdiff, equiv, t:eq */
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

/* help: maxdiff(a, b) -> number
 * Gives the largest |a - b|.
 * shapes: a and b broadcast together, on any device; one of them may be a number
 * math: max |a_i - b_i|; NaN on one side only, or infinities of other sign, count as
 *       inf; equal infinities and NaN on both sides as 0
 * cost: O(numel)
 * errors: shapes that do not broadcast
 * example:
 *   > maxdiff(tensor{1, 2}, tensor{1, 2.5})
 *   0.5
 * see: allclose, equiv */
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
    {"clamp", clamp},     {"mm", mm},   {"allclose", allclose},
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
    open_operators(L);
    tarn_open_reduce(L);
    tarn_open_arrange(L);
}
