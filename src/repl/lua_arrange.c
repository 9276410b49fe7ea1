/* lua_arrange.c: functions that put elements together in another order: cat, flip,
 * index, where. Their results are fresh tensors, never views. */
#include "repl/arguments.h"
#include <stdio.h>

/* Gathers the tensors of the list at index 1 in an array that Lua's collector owns. */
static const tarn_tensor **push_parts(lua_State *L, size_t count)
{
    char what[48];
    const tarn_tensor **parts = lua_newuserdatauv(L, count * sizeof *parts, 0);
    for (size_t i = 0; i < count; i++) {
        snprintf(what, sizeof what, "entry %zu of the list", i + 1);
        lua_rawgeti(L, 1, (lua_Integer)i + 1);
        parts[i] = tarn_lua_tensor(L, -1, "cat", what);
        lua_pop(L, 1);
    }
    return parts;
}

/* help: cat({t1, t2, ..}, dim) -> tensor
 * Joins tensors along a dimension, the first unless told otherwise.
 * shapes: [.., n1, ..], [.., n2, ..], .. -> [.., n1 + n2 + .., ..]
 * math: none  cost: O(numel of out)
 * errors: an empty list, shapes that differ in another dimension, dim out of range
 * example:
 *   > cat({tensor{1, 2}, tensor{3}})
 *   tensor [3] float32 cpu
 *     1  2  3
 *   > cat({ones(2, 1), zeros(2, 2)}, 2)
 *   tensor [2, 3] float32 cpu
 *     1  0  0
 *     1  0  0
 * see: index, flip */
static int cat(lua_State *L)
{
    char found[80];
    lua_settop(L, 2);
    if (!lua_istable(L, 1))
        tarn_lua_fail(L, "cat: argument 1 is %s, expected a list of tensors",
                      tarn_lua_describe(L, 1, found, sizeof found));
    size_t count = lua_rawlen(L, 1);
    if (count == 0) tarn_lua_fail(L, "cat: the list of tensors is empty");
    const tarn_tensor **parts = push_parts(L, count);
    int dim = 0, rank = tarn_tensor_rank(parts[0]);
    if (!lua_isnoneornil(L, 2) || rank == 0) dim = tarn_lua_dim(L, 2, "cat", rank);
    tarn_tensor **out = tarn_lua_slot(L);
    tarn_lua_check(L, tarn_cat(tarn_lua_context(L), parts, count, dim, out));
    return 1;
}

/* help: flip(t, dim) -> tensor
 * Reverses the order of a dimension; a fresh tensor, no view.
 * shapes: out as t
 * math: out_i = t_(n + 1 - i)  cost: O(numel)
 * errors: dim missing or out of range
 * example:
 *   > flip(tensor{1, 2, 3}, 1)
 *   tensor [3] float32 cpu
 *     3  2  1
 * see: index, t[i] */
static int flip(lua_State *L)
{
    tarn_context *ctx = tarn_lua_context(L);
    const tarn_tensor *t = tarn_lua_tensor(L, 1, "flip", "t");
    int dim = tarn_lua_dim(L, 2, "flip", tarn_tensor_rank(t));
    size_t extent = tarn_tensor_shape(t)[dim], last = extent > 0 ? extent - 1 : 0;
    tarn_tensor **view = tarn_lua_slot(L), **out = tarn_lua_slot(L);
    tarn_lua_check(L, tarn_narrow(ctx, t, dim, last, extent, -1, view));
    tarn_lua_check(L, tarn_clone(ctx, *view, tarn_tensor_dtype(t), out));
    return 1;
}

/* Turns a tensor of positions at stack index 3 into the list that it stands for. */
static void positions_to_list(lua_State *L)
{
    const tarn_tensor *list = tarn_lua_to_tensor(L, 3);
    if (!list) return;
    if (tarn_tensor_rank(list) != 1)
        tarn_lua_fail(L, "index: the tensor of positions has rank %d, expected 1",
                      tarn_tensor_rank(list));
    size_t count = tarn_tensor_shape(list)[0];
    lua_createtable(L, 0, 0);
    for (size_t i = 0; i < count; i++) {
        double value = 0;
        tarn_lua_poll(L, "index", i);
        tarn_lua_check(L, tarn_tensor_get(tarn_lua_context(L), list, &i, &value));
        lua_pushnumber(L, value);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_replace(L, 3);
}

/* help: index(t, dim, list) -> tensor
 * Picks positions of a dimension, in the order and as often as listed.
 * shapes: [.., n, ..] -> [.., #list, ..]
 * math: out_i = t_(list[i])  cost: O(numel of out)
 * errors: a position or dim out of range, a list that is none
 * note: the list is a table or a tensor [count] of whole numbers; -1 is the last position.
 * example:
 *   > index(tensor{10, 20, 30}, 1, {3, 1, 1})
 *   tensor [3] float32 cpu
 *     30  10  10
 * see: t[i], flip, cat */
static int index_dim(lua_State *L)
{
    char what[80];
    const tarn_tensor *t = tarn_lua_tensor(L, 1, "index", "t");
    int dim = tarn_lua_dim(L, 2, "index", tarn_tensor_rank(t));
    size_t extent = tarn_tensor_shape(t)[dim];
    lua_settop(L, 3);
    positions_to_list(L);
    if (!lua_istable(L, 3))
        tarn_lua_fail(L, "index: list is %s, expected a table or a tensor of positions",
                      tarn_lua_describe(L, 3, what, sizeof what));
    size_t count = lua_rawlen(L, 3);
    size_t *positions = lua_newuserdatauv(L, (count + 1) * sizeof *positions, 0);
    for (size_t i = 0; i < count; i++) {
        tarn_lua_poll(L, "index", i);
        snprintf(what, sizeof what, "position %zu", i + 1);
        lua_rawgeti(L, 3, (lua_Integer)i + 1);
        positions[i] = tarn_lua_position(L, -1, "index", what, extent);
        lua_pop(L, 1);
    }
    tarn_tensor **out = tarn_lua_slot(L);
    tarn_lua_check(L, tarn_index(tarn_lua_context(L), t, dim, positions, count, out));
    return 1;
}

/* help: where(mask, a, b) -> tensor
 * Takes from a where mask is not 0, and from b where it is.
 * shapes: mask, a and b broadcast together; a and b may be numbers, both of them too:
 *         they then have the mask's type and device
 * math: out_i = a_i if mask_i != 0, b_i otherwise  cost: O(numel of out)
 * errors: shapes that do not broadcast, a mask that is no tensor
 * example:
 *   > t = tensor{-1, 2, -3}
 *   > where(t:gt(0), t, 0)
 *   tensor [3] float32 cpu
 *     0  2  0
 * see: gt, clamp, minimum */
static int where(lua_State *L)
{
    lua_settop(L, 3);
    const tarn_tensor *mask = tarn_lua_tensor(L, 1, "where", "the mask");
    const tarn_tensor *beside = tarn_lua_to_tensor(L, 3);
    const tarn_tensor *a = tarn_lua_operand(L, 2, "where", "a", beside ? beside : mask);
    const tarn_tensor *b = tarn_lua_operand(L, 3, "where", "b", a);
    tarn_tensor **out = tarn_lua_slot(L);
    tarn_lua_check(L, tarn_where(tarn_lua_context(L), mask, a, b, out));
    return 1;
}

static const luaL_Reg methods[] = {{"flip", flip}, {"index", index_dim}, {NULL, NULL}};
static const luaL_Reg functions[] = {{"cat", cat}, {"where", where}, {NULL, NULL}};

void tarn_open_arrange(lua_State *L)
{
    tarn_lua_methods(L, methods);
    luaL_setfuncs(L, functions, 0);
}
