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

/* cat({a, b, ..}, dim): the first dimension unless told otherwise. */
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

static int flip(lua_State *L)
{
    tarn_context *ctx = tarn_lua_context(L);
    const tarn_tensor *t = tarn_lua_self(L, "flip");
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

/* index(t, dim, list): the positions in the order listed, as often as listed. */
static int index_dim(lua_State *L)
{
    char what[80];
    const tarn_tensor *t = tarn_lua_self(L, "index");
    int dim = tarn_lua_dim(L, 2, "index", tarn_tensor_rank(t));
    size_t extent = tarn_tensor_shape(t)[dim];
    lua_settop(L, 3);
    positions_to_list(L);
    if (!lua_istable(L, 3))
        tarn_lua_fail(L,
                      "index: argument 3 is %s, expected a list or tensor of positions",
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

/* where(mask, a, b): a and b may be numbers, of the type of the other. */
static int where(lua_State *L)
{
    lua_settop(L, 3);
    const tarn_tensor *mask = tarn_lua_tensor(L, 1, "where", "the mask");
    const tarn_tensor *a =
        tarn_lua_operand(L, 2, "where", "a", tarn_lua_to_tensor(L, 3));
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
