/* bind.c: the ground that every binding stands on: the context of a Lua state, errors,
 * places for results, and values described in messages.
 *
 * - Lua sees of a tensor a pointer only, so its collector would let gigabytes of garbage
 *   lie. tarn_lua_slot therefore collects when tensors have grown enough, and the context
 *   asks for a collection before it gives an allocation up.
 * - A slot is a userdata with the metatable of tensors and no tensor yet: whatever
 *   happens after it was pushed, its __gc finds what the C call has put there. */
#include "repl/bind.h"
#include "core/tensor.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { GROWTH_MIN = 64 << 20 }; /* bytes of tensors between two collections, at least */

/* What tarn keeps for one Lua state: a userdata in the registry under this key. */
struct session {
    tarn_context *ctx;
    size_t collect_at;  /* collect when tensors hold more bytes than that */
    const char *device; /* where tensors are made */
};
static const char session_key = 's';

static struct session *session_of(lua_State *L)
{
    lua_rawgetp(L, LUA_REGISTRYINDEX, &session_key);
    struct session *session = lua_touserdata(L, -1);
    lua_pop(L, 1);
    return session;
}

tarn_context *tarn_lua_context(lua_State *L)
{
    return session_of(L)->ctx;
}

const char *tarn_lua_default_device(lua_State *L)
{
    return session_of(L)->device;
}

void tarn_lua_set_default_device(lua_State *L, const char *device)
{
    session_of(L)->device = device;
}

static void collect(lua_State *L, struct session *session)
{
    lua_gc(L, LUA_GCCOLLECT);
    size_t live = tarn_bytes(session->ctx);
    session->collect_at = live + (live / 2 > GROWTH_MIN ? live / 2 : GROWTH_MIN);
}

/* The context's last resort when memory is short. A collection raises no error: those
 * of finalisers become warnings. */
static void collect_under_pressure(void *data)
{
    lua_State *L = data;
    collect(L, session_of(L));
}

static int end_session(lua_State *L)
{
    struct session *session = lua_touserdata(L, 1);
    tarn_on_pressure(session->ctx, NULL, NULL);
    return 0;
}

void tarn_lua_attach(lua_State *L, tarn_context *ctx)
{
    struct session *session = lua_newuserdatauv(L, sizeof *session, 0);
    *session = (struct session){.ctx = ctx, .collect_at = GROWTH_MIN, .device = "cpu"};
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, end_session);
    lua_setfield(L, -2, "__gc");
    lua_setmetatable(L, -2);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &session_key);

    /* Collect on the main thread: it lives as long as the state. */
    lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
    tarn_on_pressure(ctx, collect_under_pressure, lua_tothread(L, -1));
    lua_pop(L, 1);
}

/* The name by which the C function that runs was called, or NULL. */
static const char *running_function(lua_State *L)
{
    lua_Debug frame;
    if (!lua_getstack(L, 0, &frame) || !lua_getinfo(L, "n", &frame)) return NULL;
    return frame.name;
}

void tarn_lua_check(lua_State *L, tarn_status status)
{
    if (status == TARN_OK) return;
    /* A pcall may swallow this error: let the prompt's hook speak at the next instruction,
     * in whichever coroutine this is. */
    if (status == TARN_EINTR && lua_gethook(L))
        lua_sethook(L, lua_gethook(L), lua_gethookmask(L), 1);
    /* Who asked for memory, the context does not know. */
    const char *message = tarn_error(tarn_lua_context(L));
    const char *function =
        strncmp(message, "out of memory", 13) == 0 ? running_function(L) : NULL;
    if (function)
        lua_pushfstring(L, "%s: %s", function, message);
    else
        lua_pushstring(L, message);
    lua_error(L);
}

int tarn_lua_fail(lua_State *L, const char *format, ...)
{
    char message[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    lua_pushstring(L, message);
    return lua_error(L);
}

tarn_tensor **tarn_lua_slot(lua_State *L)
{
    struct session *session = session_of(L);
    if (tarn_bytes(session->ctx) > session->collect_at) collect(L, session);
    tarn_tensor **slot = lua_newuserdatauv(L, sizeof *slot, 0);
    *slot = NULL;
    luaL_setmetatable(L, TARN_LUA_TENSOR);
    return slot;
}

tarn_tensor *tarn_lua_on_host(lua_State *L, tarn_tensor *t)
{
    if (strcmp(tarn_tensor_device(t), "cpu") == 0) return t;
    tarn_tensor **out = tarn_lua_slot(L);
    tarn_lua_check(L, tarn_to(tarn_lua_context(L), t, "cpu", out));
    return *out;
}

tarn_tensor *tarn_lua_to_tensor(lua_State *L, int index)
{
    tarn_tensor **slot = luaL_testudata(L, index, TARN_LUA_TENSOR);
    return slot ? *slot : NULL;
}

tarn_tensor *tarn_lua_tensor(lua_State *L, int index, const char *function,
                             const char *argument)
{
    tarn_tensor *t = tarn_lua_to_tensor(L, index);
    if (!t) {
        char found[80];
        tarn_lua_fail(L, "%s: %s is %s, expected a tensor", function, argument,
                      tarn_lua_describe(L, index, found, sizeof found));
    }
    return t;
}

double tarn_lua_real(lua_State *L, int index)
{
    double value = lua_tonumber(L, index);
    return isnan(value) ? (double)NAN : value;
}

bool tarn_lua_integer(lua_State *L, int index, lua_Integer *value)
{
    if (lua_type(L, index) != LUA_TNUMBER) return false; /* a string is not a number */
    int exact;
    *value = lua_tointegerx(L, index, &exact);
    return exact;
}

/* A userdata in words: a tensor by shape and type, others by the name of their type. */
static void describe_userdata(lua_State *L, int index, char *buffer, size_t limit)
{
    tarn_tensor **slot = luaL_testudata(L, index, TARN_LUA_TENSOR);
    if (slot && *slot) {
        const tarn_tensor *t = *slot;
        struct tarn_text shape =
            tarn_extents_text(tarn_tensor_rank(t), tarn_tensor_shape(t));
        snprintf(buffer, limit, "tensor %s %s", shape.text,
                 tarn_dtype_name(tarn_tensor_dtype(t)));
    } else if (slot) {
        snprintf(buffer, limit, "a closed tensor");
    } else if (luaL_getmetafield(L, index, "__name") == LUA_TSTRING) {
        snprintf(buffer, limit, "a value of type %s", lua_tostring(L, -1));
        lua_pop(L, 1);
    } else {
        snprintf(buffer, limit, "a userdata");
    }
}

const char *tarn_lua_describe(lua_State *L, int index, char *buffer, size_t limit)
{
    switch (lua_type(L, index)) {
    case LUA_TNONE: snprintf(buffer, limit, "missing"); break;
    case LUA_TNIL: snprintf(buffer, limit, "nil"); break;
    case LUA_TBOOLEAN:
        snprintf(buffer, limit, "%s", lua_toboolean(L, index) ? "true" : "false");
        break;
    case LUA_TNUMBER:
        if (lua_isinteger(L, index))
            snprintf(buffer, limit, "the number %lld", lua_tointeger(L, index));
        else
            snprintf(buffer, limit, "the number %.14g", tarn_lua_real(L, index));
        break;
    case LUA_TUSERDATA: describe_userdata(L, index, buffer, limit); break;
    default: snprintf(buffer, limit, "a %s", luaL_typename(L, index)); break;
    }
    return buffer;
}

void tarn_lua_method(lua_State *L, const char *name)
{
    luaL_getmetatable(L, TARN_LUA_TENSOR);
    lua_getfield(L, -1, "__methods");
    lua_pushvalue(L, -3);
    lua_setfield(L, -2, name);
    lua_pop(L, 2);
    lua_setfield(L, -2, name);
}

void tarn_lua_type(lua_State *L, const char *type, const char *name,
                   const luaL_Reg *metamethods, lua_CFunction get,
                   const char *const *fields)
{
    luaL_newmetatable(L, type);
    luaL_setfuncs(L, metamethods, 0);
    lua_pushstring(L, name);
    lua_setfield(L, -2, "__name"); /* what Lua's own messages call it */

    /* The methods, an upvalue of __index. */
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, "__methods");
    lua_pushcclosure(L, get, 1);
    lua_setfield(L, -2, "__index");

    lua_newtable(L);
    for (int i = 0; fields[i]; i++) {
        lua_pushstring(L, fields[i]);
        lua_rawseti(L, -2, i + 1);
    }
    lua_setfield(L, -2, "__fields");
}

void tarn_lua_methods(lua_State *L, const luaL_Reg *functions)
{
    for (; functions->name; functions++) {
        lua_pushcfunction(L, functions->func);
        tarn_lua_method(L, functions->name);
    }
}
