/* lua_tensor.c: the tensor as a Lua value: its life, its fields, its plain methods, and
 * the operators that it refuses.
 *
 * - The metatable has two tables for whoever wants to look without running code, such as
 *   completion: __methods (name -> function) and __fields (a list of names).
 * - `local t <close> = zeros(3)` ends t with its block; its memory goes at once. */
#include "repl/arguments.h"
#include <string.h>

static const char *const fields[] = {"shape", "dtype", "device", "strides", NULL};

/* ---- Fields and methods by name -------------------------------------------------- */

/* tostring of a list with one number a dimension: {3, 4}, as the prompt shows it. */
static int list_text(lua_State *L)
{
    luaL_Buffer text;
    const lua_Integer n = luaL_len(L, 1);
    luaL_buffinit(L, &text);
    for (lua_Integer i = 1; i <= n; i++) {
        luaL_addstring(&text, i == 1 ? "{" : ", ");
        lua_geti(L, 1, i);
        luaL_tolstring(L, -1, NULL);
        lua_remove(L, -2);
        luaL_addvalue(&text);
    }
    luaL_addstring(&text, n == 0 ? "{}" : "}");
    luaL_pushresult(&text);
    return 1;
}

/* What is not in such a list: nil, but for a dimension 0, which other languages have. */
static int list_missing(lua_State *L)
{
    if (lua_isinteger(L, 2) && lua_tointeger(L, 2) == 0)
        tarn_lua_fail(L, "there is no dimension 0; the first is t.shape[1]");
    return 0;
}

/* Pushes an empty list for one number a dimension. */
static void push_list(lua_State *L, int rank)
{
    lua_createtable(L, rank, 0);
    if (luaL_newmetatable(L, "tarn.dimensions")) {
        lua_pushcfunction(L, list_text);
        lua_setfield(L, -2, "__tostring");
        lua_pushcfunction(L, list_missing);
        lua_setfield(L, -2, "__index");
    }
    lua_setmetatable(L, -2);
}

/* help: t.shape -> table
 * The extents of a tensor, a table of whole numbers, fresh each time.
 * shapes: any
 * math: none  cost: O(rank)
 * errors: none; fields of a tensor can't be assigned
 * example:
 *   > zeros(2, 3).shape
 *   {2, 3}
 *   > #zeros(2, 3)
 *   2
 * see: t:rank, t:numel, t:reshape */
static int push_shape(lua_State *L, const tarn_tensor *t)
{
    int rank = tarn_tensor_rank(t);
    push_list(L, rank);
    for (int i = 0; i < rank; i++) {
        lua_pushinteger(L, (lua_Integer)tarn_tensor_shape(t)[i]);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

/* help: t.strides -> table
 * How many elements apart neighbours are, one whole number a dimension.
 * shapes: any
 * math: element [i, j] is at (i - 1) strides[1] + (j - 1) strides[2]  cost: O(rank)
 * errors: none; fields of a tensor can't be assigned
 * example:
 *   > zeros(2, 3).strides
 *   {3, 1}
 *   > zeros(2, 3):t().strides
 *   {1, 3}
 * see: t:contiguous, t:t, t:expand */
static int push_strides(lua_State *L, const tarn_tensor *t)
{
    int rank = tarn_tensor_rank(t);
    push_list(L, rank);
    for (int i = 0; i < rank; i++) {
        lua_pushinteger(L, tarn_tensor_strides(t)[i]);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

/* help: t.dtype -> string
 * The type of the elements: "float32" or "float64".
 * shapes: any
 * math: float32 with float64 gives float64  cost: O(1)
 * errors: none; fields of a tensor can't be assigned
 * example:
 *   > (zeros(2) + zeros(2, {dtype="float64"})).dtype
 *   "float64"
 * see: t:to, t.device */
static int push_dtype(lua_State *L, const tarn_tensor *t)
{
    lua_pushstring(L, tarn_tensor_dtype(t) == TARN_FLOAT32 ? "float32" : "float64");
    return 1;
}

/* What other libraries of tensors call it, and how it is written here. */
static const struct foreign {
    const char *name, *here;
} foreign[] = {
    {"view", "t:reshape(...)"},
    {"flatten", "t:reshape(-1)"},
    {"size", "t.shape"},
    {"dim", "t:rank()"},
    {"ndim", "t:rank()"},
    {"len", "#t"},
    {"add", "t + u"},
    {"sub", "t - u"},
    {"mul", "t * u"},
    {"div", "t / u"},
    {"pow", "t ^ x"},
    {"dot", "t:mm(u)"},
    {"matmul", "t:mm(u)"},
    {"T", "t:t()"},
    {"tolist", "t:totable()"},
    {"numpy", "t:totable()"},
    {"zero", "t:fill(0)"},
    {"zero_", "t:fill(0)"},
    {"float", "t:to(\"float32\")"},
    {"cuda", "t:to(\"cuda\")"},
    {"cpu", "t:to(\"cpu\")"},
    {"double", "t:to(\"float64\")"},
    {"astype", "t:to(\"float64\")"},
    {"type", "t:to(\"float64\")"},
    {"repeat", "t:expand(...)"},
    {"backward", "a function: prefix_grad(q, k, v, dout) and its like"},
};

/* Raises that a tensor has nothing of this name; the methods are at index `methods`. */
static int no_member(lua_State *L, const char *name, int methods)
{
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (strcmp(name, foreign[i].name) == 0)
            tarn_lua_fail(L, "tensor has no method '%s'; here it is %s", name,
                          foreign[i].here);
    const char *near = tarn_nearest(name, fields);
    if (!near) near = tarn_lua_nearest_key(L, methods, name);
    if (near)
        tarn_lua_fail(L, "tensor has no method '%s'; did you mean '%s'?", name, near);
    return tarn_lua_fail(L, "tensor has no method '%s'", name);
}

/* help: t.device -> string
 * Where the elements lie: "cpu", "emu" or "cuda:0".
 * shapes: any
 * math: none  cost: O(1)
 * errors: none; fields of a tensor can't be assigned
 * example:
 *   > zeros(2).device
 *   "cpu"
 * see: t:to, backends */
int tarn_lua_member(lua_State *L)
{
    int methods = lua_upvalueindex(1);
    lua_pushvalue(L, 2);
    if (lua_rawget(L, methods) != LUA_TNIL) return 1;
    const char *name = lua_tostring(L, 2);
    const tarn_tensor *t = tarn_lua_tensor(L, 1, "t.name", "t");
    if (strcmp(name, "shape") == 0) return push_shape(L, t);
    if (strcmp(name, "dtype") == 0) return push_dtype(L, t);
    if (strcmp(name, "strides") == 0) return push_strides(L, t);
    if (strcmp(name, "device") == 0) {
        lua_pushstring(L, tarn_tensor_device(t));
        return 1;
    }
    return no_member(L, name, methods);
}

/* ---- Plain methods --------------------------------------------------------------- */

/* help: t:rank() -> integer
 * Gives the number of dimensions.
 * shapes: any
 * math: none  cost: O(1)
 * errors: none
 * example:
 *   > zeros(2, 3):rank()
 *   2
 * see: t.shape, t:numel */
static int rank(lua_State *L)
{
    lua_pushinteger(L, tarn_tensor_rank(tarn_lua_self(L, "rank")));
    return 1;
}

/* help: t:numel() -> integer
 * Gives the number of elements.
 * shapes: any
 * math: product of the extents  cost: O(1)
 * errors: none
 * example:
 *   > zeros(2, 3):numel()
 *   6
 * see: t.shape, t:rank */
static int numel(lua_State *L)
{
    lua_pushinteger(L, (lua_Integer)tarn_tensor_numel(tarn_lua_self(L, "numel")));
    return 1;
}

/* help: t:item() -> number
 * Gives the one element of a tensor that has only one, as a number.
 * shapes: [], [1], [1, 1], ..
 * math: none  cost: O(1)
 * errors: a tensor of more elements, or of none
 * example:
 *   > tensor{{42}}:item()
 *   42.0
 * see: t[i], t:totable */
static int item(lua_State *L)
{
    char found[80];
    const tarn_tensor *t = tarn_lua_self(L, "item");
    if (tarn_tensor_numel(t) != 1)
        tarn_lua_fail(L, "item: %s has %zu elements, expected exactly 1",
                      tarn_lua_describe(L, 1, found, sizeof found),
                      tarn_tensor_numel(t));
    return tarn_lua_push_item(L, t);
}

/* Pushes the part of t at the first `dim` entries of `index`: a number or a table. */
static void push_nested(lua_State *L, const tarn_tensor *t, int dim, size_t *index)
{
    if (dim == tarn_tensor_rank(t)) {
        double value = 0;
        tarn_lua_check(L, tarn_tensor_get(tarn_lua_context(L), t, index, &value));
        lua_pushnumber(L, value);
        return;
    }
    size_t extent = tarn_tensor_shape(t)[dim];
    lua_createtable(L, extent < INT32_MAX ? (int)extent : 0, 0);
    for (index[dim] = 0; index[dim] < extent; index[dim]++) {
        tarn_lua_poll(L, "totable", index[dim]);
        push_nested(L, t, dim + 1, index);
        lua_rawseti(L, -2, (lua_Integer)index[dim] + 1);
    }
}

/* help: t:totable() -> table | number
 * Gives the elements as nested tables; those of rank 0 as a number.
 * shapes: [n, m] -> n tables of m numbers
 * math: none  cost: O(numel)
 * errors: none
 * example:
 *   > tensor{{1, 2}, {3, 4}}:totable()
 *   {{1.0, 2.0}, {3.0, 4.0}}
 * see: tensor, t:item, t[i] */
static int totable(lua_State *L)
{
    size_t index[TARN_MAX_RANK] = {0};
    tarn_lua_self(L, "totable");
    lua_settop(L, 1);
    tarn_lua_place(L, "totable", "cpu"); /* once, not each element by itself */
    push_nested(L, tarn_lua_to_tensor(L, 1), 0, index);
    return 1;
}

/* ---- Metamethods ----------------------------------------------------------------- */

static int free_tensor(lua_State *L)
{
    tarn_tensor **slot = luaL_checkudata(L, 1, TARN_LUA_TENSOR);
    tarn_tensor_free(*slot);
    *slot = NULL;
    return 0;
}

static int to_string(lua_State *L)
{
    char text[240];
    luaL_checkudata(L, 1, TARN_LUA_TENSOR);
    lua_pushstring(L, tarn_lua_describe(L, 1, text, sizeof text));
    return 1;
}

static int length(lua_State *L)
{
    const tarn_tensor *t = tarn_lua_tensor(L, 1, "#", "the operand");
    if (tarn_tensor_rank(t) == 0)
        tarn_lua_fail(L, "#: a tensor of rank 0 has no first extent; use t:item()");
    lua_pushinteger(L, (lua_Integer)tarn_tensor_shape(t)[0]);
    return 1;
}

/* Lua turns whatever these operators return into one boolean, so that an element-wise
 * answer would silently be `true`: they are refused instead. */
static int refuse_eq(lua_State *L)
{
    if (tarn_lua_to_tensor(L, 1) && tarn_lua_to_tensor(L, 2))
        tarn_lua_fail(L, "==: two tensors have no single answer; use allclose or eq");
    lua_pushboolean(L, false);
    return 1;
}

static int refuse_lt(lua_State *L)
{
    return tarn_lua_fail(L, "<: a tensor has no single answer; use t:lt(u) or t:gt(u)");
}

static int refuse_le(lua_State *L)
{
    return tarn_lua_fail(L,
                         "<=: a tensor has no single answer; use t:le(u) or t:ge(u)");
}

static int refuse_concat(lua_State *L)
{
    return tarn_lua_fail(L,
                         "..: a tensor is not a string; use tostring(t) to join it to "
                         "text, cat({a, b}, dim) to join tensors");
}

static const luaL_Reg metamethods[] = {
    {"__gc", free_tensor}, {"__close", free_tensor},    {"__tostring", to_string},
    {"__len", length},     {"__eq", refuse_eq},         {"__lt", refuse_lt},
    {"__le", refuse_le},   {"__concat", refuse_concat}, {"__newindex", tarn_lua_set},
    {NULL, NULL},
};

static const luaL_Reg methods[] = {
    {"rank", rank},       {"numel", numel}, {"item", item},
    {"totable", totable}, {NULL, NULL},
};

void tarn_open_tensor(lua_State *L)
{
    tarn_lua_type(L, TARN_LUA_TENSOR, "tensor", metamethods, tarn_lua_get, fields);
    lua_pop(L, 1);
    tarn_lua_methods(L, methods);
    tarn_open_shape(L);
}
