/* arguments.c: the arguments that functions of tensors share; see arguments.h. */
#include "repl/arguments.h"
#include "core/tensor.h"
#include "devices.h"
#include <string.h>

tarn_tensor *tarn_lua_self(lua_State *L, const char *function)
{
    char found[80];
    tarn_tensor *t = tarn_lua_to_tensor(L, 1);
    if (t) return t;
    if (lua_isnoneornil(L, 1))
        tarn_lua_fail(L,
                      "%s: expected a tensor as argument 1 (use t:%s() with a colon)",
                      function, function);
    tarn_lua_fail(
        L, "%s: expected a tensor as argument 1, not %s (use t:%s() with a colon)",
        function, tarn_lua_describe(L, 1, found, sizeof found), function);
    return NULL;
}

/* Counts from 1, or from -1 at the end, to 0-based; false if it is outside. */
static bool from_one(lua_Integer i, size_t extent, size_t *position)
{
    lua_Integer n = (lua_Integer)extent;
    if (i < -n || i > n || i == 0) return false;
    *position = (size_t)(i > 0 ? i - 1 : n + i);
    return true;
}

int tarn_lua_dim(lua_State *L, int index, const char *function, int rank)
{
    char found[80];
    lua_Integer dim;
    size_t position = 0;
    if (!tarn_lua_integer(L, index, &dim))
        tarn_lua_fail(L, "%s: dim is %s, expected an integer", function,
                      tarn_lua_describe(L, index, found, sizeof found));
    if (rank == 0)
        tarn_lua_fail(L, "%s: dim is %lld, but a tensor of rank 0 has no dimensions",
                      function, dim);
    if (!from_one(dim, (size_t)rank, &position))
        tarn_lua_fail(L, "%s: dim is %lld, expected 1 to %d, or -1 to -%d from the end",
                      function, dim, rank, rank);
    return (int)position;
}

size_t tarn_lua_position(lua_State *L, int index, const char *function,
                         const char *what, size_t extent)
{
    char found[80];
    lua_Integer i;
    size_t position = 0;
    if (!tarn_lua_integer(L, index, &i))
        tarn_lua_fail(L, "%s: %s is %s, expected an integer", function, what,
                      tarn_lua_describe(L, index, found, sizeof found));
    if (i == 0)
        tarn_lua_fail(L, "%s: %s is 0: indices start at 1 (or at -1 from the end)",
                      function, what);
    if (!from_one(i, extent, &position))
        tarn_lua_fail(L, "%s: %s is %lld, out of range for an extent of %zu", function,
                      what, i, extent);
    return position;
}

/* Tells whether the argument is a list; a table that has only names holds options. */
static bool is_list(lua_State *L, int index)
{
    if (!lua_istable(L, index)) return false;
    if (lua_rawlen(L, index) > 0) return true;
    lua_pushnil(L);
    if (!lua_next(L, index)) return true; /* {} is the empty list */
    lua_pop(L, 2);
    return false;
}

/* Reads the number on top of the stack as entry `i` of the list, and pops it. */
static void read_entry(lua_State *L, const char *function, const char *what,
                       lua_Integer *list, int i)
{
    char found[80];
    if (i >= TARN_MAX_RANK)
        tarn_lua_fail(L, "%s: more than %d %ss, the highest rank of a tensor", function,
                      (int)TARN_MAX_RANK, what);
    if (!tarn_lua_integer(L, -1, &list[i]))
        tarn_lua_fail(L, "%s: %s %d is %s, expected an integer", function, what, i + 1,
                      tarn_lua_describe(L, -1, found, sizeof found));
    lua_pop(L, 1);
}

int tarn_lua_integers(lua_State *L, int first, const char *function, const char *what,
                      lua_Integer *list, int *next)
{
    int count = 0, top = lua_gettop(L);
    if (is_list(L, first)) {
        lua_Unsigned length = lua_rawlen(L, first);
        for (; (lua_Unsigned)count < length; count++) {
            lua_rawgeti(L, first, count + 1);
            read_entry(L, function, what, list, count);
        }
        *next = first + 1;
        return count;
    }
    while (top >= first && lua_isnil(L, top)) top--; /* options that are nil */
    if (top >= first && lua_istable(L, top)) top--;
    for (; first + count <= top; count++) {
        lua_pushvalue(L, first + count);
        read_entry(L, function, what, list, count);
    }
    *next = first + count;
    return count;
}

int tarn_lua_shape(lua_State *L, int first, const char *function, size_t *shape,
                   int *next)
{
    lua_Integer list[TARN_MAX_RANK];
    int rank = tarn_lua_integers(L, first, function, "size", list, next);
    for (int i = 0; i < rank; i++) {
        if (list[i] < 0)
            tarn_lua_fail(L, "%s: size %d is %lld, expected 0 or more", function, i + 1,
                          list[i]);
        shape[i] = (size_t)list[i];
    }
    return rank;
}

const char *tarn_lua_device(lua_State *L, int index, const char *function)
{
    static const char *const devices[] = {"cpu", "emu", "cuda", "cuda:0", NULL};
    const char *device = lua_tostring(L, index);
    for (int i = 0; devices[i]; i++)
        if (strcmp(device, devices[i]) == 0) return devices[i];
    const char *near = tarn_nearest(device, devices);
    tarn_lua_fail(L,
                  near ? "%s: there is no device '%s'; did you mean '%s'?"
                       : "%s: there is no device '%s', expected 'cpu', 'emu' or 'cuda'",
                  function, device, near);
    return NULL;
}

const char *tarn_lua_opt_device(lua_State *L, int index, const char *function)
{
    char found[80];
    const char *device = tarn_lua_default_device(L);
    if (!lua_istable(L, index)) return device;
    index = lua_absindex(L, index);
    lua_pushliteral(L, "device");
    if (lua_rawget(L, index) == LUA_TSTRING)
        device = tarn_lua_device(L, -1, function);
    else if (!lua_isnil(L, -1))
        tarn_lua_fail(L, "%s: device is %s, expected a name such as 'cpu'", function,
                      tarn_lua_describe(L, -1, found, sizeof found));
    lua_pop(L, 1);
    return device;
}

void tarn_lua_place(lua_State *L, const char *function, const char *device)
{
    tarn_context *ctx = tarn_lua_context(L);
    const struct tarn_device *target;
    const tarn_tensor *t = tarn_lua_tensor(L, -1, function, "the result");
    tarn_lua_check(L, tarn_find_device(ctx, function, device, &target));
    if (target == tarn_device_of(t)) return;
    tarn_lua_check(L, tarn_move(ctx, t, target, tarn_lua_slot(L)));
    lua_remove(L, -2);
}

const char *tarn_lua_path(lua_State *L, int index, const char *function)
{
    char found[80];
    if (lua_type(L, index) != LUA_TSTRING)
        tarn_lua_fail(L, "%s: the path is %s, expected a string", function,
                      tarn_lua_describe(L, index, found, sizeof found));
    size_t length;
    const char *path = lua_tolstring(L, index, &length);
    if (length == 0) tarn_lua_fail(L, "%s: the path is an empty string", function);
    if (strlen(path) != length)
        tarn_lua_fail(L, "%s: the path '%s..' has a zero byte in it", function, path);
    return path;
}

tarn_tensor *tarn_lua_operand(lua_State *L, int index, const char *function,
                              const char *argument, const tarn_tensor *beside)
{
    char found[80];
    tarn_tensor *t = tarn_lua_to_tensor(L, index);
    if (t) return t;
    if (lua_type(L, index) != LUA_TNUMBER)
        tarn_lua_fail(L, "%s: %s is %s, expected a tensor or a number", function,
                      argument, tarn_lua_describe(L, index, found, sizeof found));
    tarn_context *ctx = tarn_lua_context(L);
    tarn_dtype dtype = beside ? tarn_tensor_dtype(beside) : TARN_FLOAT32;
    tarn_tensor **slot = tarn_lua_slot(L);
    const struct tarn_device *device = beside ? tarn_device_of(beside) : NULL;
    tarn_lua_check(L, tarn_tensor_new_on(ctx, device, dtype, 0, NULL, slot));
    tarn_lua_check(L, tarn_fill(ctx, *slot, lua_tonumber(L, index)));
    lua_replace(L, index);
    return *slot;
}

void tarn_lua_poll(lua_State *L, const char *function, size_t i)
{
    if (i % 4096 == 0) tarn_lua_check(L, tarn_poll(tarn_lua_context(L), function));
}

int tarn_lua_push_item(lua_State *L, const tarn_tensor *t)
{
    static const size_t first[TARN_MAX_RANK] = {0};
    double value = 0;
    tarn_lua_check(L, tarn_tensor_get(tarn_lua_context(L), t, first, &value));
    lua_pushnumber(L, value);
    return 1;
}
