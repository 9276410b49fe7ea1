/* lua_reduce.c: reductions, and what goes along one dimension: sum, max, softmax, cumsum.
 *
 * A reduction over everything gives a Lua number (with keepdim a tensor of extents 1),
 * one over a dimension a tensor; max and min of a dimension also give 1-based
 * positions. */
#include "repl/arguments.h"

struct reduction {
    const char *name;
    tarn_reduce_op op;
    tarn_reduce_op position_op; /* if positions: gives where the value is */
    bool positions;             /* of a dimension also give the positions */
};

/* help: t:sum(dim, {keepdim=false}) -> number | tensor
 * Adds up one dimension, or everything.
 * shapes: [.., n, ..] -> [.., ..]; without dim a number
 * math: sum_i t_i, accumulated in double  cost: O(numel)
 * errors: dim out of range; the sum of nothing is 0
 * options: keepdim  true: the dimension stays, with extent 1
 * example:
 *   > t = tensor{{1, 2}, {3, 4}}
 *   > t:sum()
 *   10.0
 *   > t:sum(1)
 *   tensor [2] float32 cpu
 *     4  6
 * see: t:mean, t:cumsum, t:norm */

/* help: t:mean(dim, {keepdim=false}) -> number | tensor
 * Averages one dimension, or everything.
 * shapes: [.., n, ..] -> [.., ..]; without dim a number
 * math: (sum_i t_i) / n, accumulated in double  cost: O(numel)
 * errors: dim out of range; the mean of nothing is nan
 * options: keepdim  true: the dimension stays, with extent 1
 * example:
 *   > tensor{{1, 2}, {3, 6}}:mean(2)
 *   tensor [2] float32 cpu
 *     1.5  4.5
 * see: t:sum, t:norm */

/* help: t:norm(dim, {keepdim=false}) -> number | tensor
 * Gives the square root of the sum of squares, of one dimension or of everything.
 * shapes: [.., n, ..] -> [.., ..]; without dim a number
 * math: sqrt(sum_i t_i^2), in double, scaled against overflow  cost: O(numel)
 * errors: dim out of range
 * options: keepdim  true: the dimension stays, with extent 1
 * example:
 *   > tensor{3, 4}:norm()
 *   5.0
 * see: t:sum, t:abs, maxdiff */

/* help: t:max(dim, {keepdim=false}) -> number | values, positions
 * Gives the largest element; of a dimension its values and where they are, from 1 on.
 * shapes: [.., n, ..] -> [.., ..] twice; without dim a number
 * math: max_i t_i; of NaN and numbers NaN  cost: O(numel)
 * errors: dim out of range, no elements
 * options: keepdim  true: the dimension stays, with extent 1
 * example:
 *   > values, positions = tensor{{1, 5}, {7, 2}}:max(2)
 *   > positions
 *   tensor [2] float64 cpu
 *     2  1
 * see: t:argmax, t:min, t:maximum */

/* help: t:min(dim, {keepdim=false}) -> number | values, positions
 * Gives the smallest element; of a dimension its values and where they are, from 1 on.
 * shapes: [.., n, ..] -> [.., ..] twice; without dim a number
 * math: min_i t_i; of NaN and numbers NaN  cost: O(numel)
 * errors: dim out of range, no elements
 * options: keepdim  true: the dimension stays, with extent 1
 * example:
 *   > tensor{{1, 5}, {7, 2}}:min()
 *   1.0
 * see: t:max, t:argmax, t:minimum */
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

/* help: t:argmax(dim, {keepdim=false}) -> integer | tensor
 * Tells where the largest element is, counted from 1, the first of equals.
 * shapes: [.., n, ..] -> [.., ..] of positions, float64; without dim the row-major
 *         position
 * math: the smallest i with t_i = max_j t_j; a NaN counts as the largest
 * cost: O(numel)
 * errors: dim out of range, no elements
 * options: keepdim  true: the dimension stays, with extent 1
 * example:
 *   > tensor{3, 9, 9}:argmax()
 *   2
 * see: t:max, index */
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

/* help: t:softmax(dim) -> tensor
 * Turns the slices along a dimension into weights that sum to 1.
 * shapes: out as t
 * math: exp(t_i - max) / sum_j exp(t_j - max)  cost: O(numel)
 * errors: dim missing or out of range
 * example:
 *   > tensor{0, 0, 1000}:softmax(1)
 *   tensor [3] float32 cpu
 *     0  0  1
 * see: sim, t:exp, t:sigmoid */
static int softmax(lua_State *L)
{
    const tarn_tensor *t = tarn_lua_self(L, "softmax");
    int dim = tarn_lua_dim(L, 2, "softmax", tarn_tensor_rank(t));
    tarn_tensor **out = tarn_lua_slot(L);
    tarn_lua_check(L, tarn_softmax(tarn_lua_context(L), t, dim, out));
    return 1;
}

/* help: t:cumsum(dim) -> tensor
 * Sums along a dimension, keeping each partial sum.
 * shapes: out as t
 * math: out_i = sum_{j<=i} t_j, accumulated in double  cost: O(numel)
 * errors: dim missing or out of range
 * example:
 *   > tensor{1, 2, 3}:cumsum(1)
 *   tensor [3] float32 cpu
 *     1  3  6
 * see: t:sum, prefix */
static int cumsum(lua_State *L)
{
    const tarn_tensor *t = tarn_lua_self(L, "cumsum");
    int dim = tarn_lua_dim(L, 2, "cumsum", tarn_tensor_rank(t));
    tarn_tensor **out = tarn_lua_slot(L);
    tarn_lua_check(L, tarn_cumsum(tarn_lua_context(L), t, dim, out));
    return 1;
}

static const luaL_Reg methods[] = {
    {"argmax", argmax}, {"softmax", softmax}, {"cumsum", cumsum}, {NULL, NULL}};

void tarn_open_reduce(lua_State *L)
{
    tarn_lua_methods(L, methods);
    for (const struct reduction *row = reductions; row->name; row++) {
        lua_pushlightuserdata(L, (void *)row);
        lua_pushcclosure(L, reduce, 1);
        tarn_lua_method(L, row->name);
    }
}
