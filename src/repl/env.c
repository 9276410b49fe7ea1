/* env.c: the module "tarn.host", for tarn's own Lua alone. See env.h and lua/env.lua.
 *
 * The user's chunks have a proxy as their environment, with nothing in it: what they
 * define lies in Lua's real table of globals, where modules expect it. The functions
 * here make Lua's own ones take the proxy for that table. */
#include "repl/env.h"
#include "core/file.h"
#include "repl/bind.h"
#include "repl/report.h"
#include "repl/terminal.h"
#include <stdio.h>

/* ---- Functions for the user's environment ---- */
/* Upvalues: Lua's own function, the proxy, whether the session is restricted. */

static int call_original(lua_State *L)
{
    return lua_tocfunction(L, lua_upvalueindex(1))(L);
}

/* rawget, rawset, next, getmetatable: the proxy stands for the globals. */
static int with_globals(lua_State *L)
{
    if (lua_rawequal(L, 1, lua_upvalueindex(2))) {
        lua_pushglobaltable(L);
        lua_replace(L, 1);
    }
    return call_original(L);
}

/* setmetatable, which gives its first argument back. */
static int setmetatable_with_globals(lua_State *L)
{
    bool proxy = lua_rawequal(L, 1, lua_upvalueindex(2));
    int results = with_globals(L);
    if (proxy) lua_pushvalue(L, lua_upvalueindex(2));
    return results;
}

/* Under --restricted a chunk is text: bytecode could do anything. */
static void insist_on_text(lua_State *L, int mode)
{
    if (!lua_toboolean(L, lua_upvalueindex(3))) return;
    lua_pushliteral(L, "t");
    lua_replace(L, mode);
}

/* load: chunks see the proxy unless another environment is given. */
static int load_with_proxy(lua_State *L)
{
    if (lua_gettop(L) < 4) {
        lua_settop(L, 3);
        lua_pushvalue(L, lua_upvalueindex(2));
    }
    insist_on_text(L, 3);
    return call_original(L);
}

static int loadfile_with_proxy(lua_State *L)
{
    if (lua_gettop(L) < 3) {
        lua_settop(L, 2);
        lua_pushvalue(L, lua_upvalueindex(2));
    }
    insist_on_text(L, 2);
    return call_original(L);
}

static int dofile_with_proxy(lua_State *L)
{
    const char *name = luaL_optstring(L, 1, NULL);
    lua_settop(L, 1);
    const char *mode = lua_toboolean(L, lua_upvalueindex(3)) ? "t" : NULL;
    if (luaL_loadfilex(L, name, mode) != LUA_OK) return lua_error(L);
    tarn_session_adopt(L);
    lua_call(L, 0, LUA_MULTRET);
    return lua_gettop(L) - 1;
}

/* functions_for(proxy, restricted) gives a table of these functions. */
static int functions_for(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"rawget", with_globals},      {"rawset", with_globals},
        {"next", with_globals},        {"getmetatable", with_globals},
        {"load", load_with_proxy},     {"setmetatable", setmetatable_with_globals},
        {"dofile", dofile_with_proxy}, {"loadfile", loadfile_with_proxy},
    };
    lua_newtable(L);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        lua_getglobal(L, functions[i].name);
        lua_pushvalue(L, 1);
        lua_pushvalue(L, 2);
        lua_pushcclosure(L, functions[i].func, 3);
        lua_setfield(L, -2, functions[i].name);
    }
    return 1;
}

/* get(t, key) and set(t, key, value): t[key] in C. A metatable on _G that looks who called
 * it, to allow what C does or to say where, finds no line of tarn's own. */
static int get(lua_State *L)
{
    lua_settop(L, 2);
    lua_gettable(L, 1);
    return 1;
}

static int set(lua_State *L)
{
    lua_settop(L, 3);
    lua_settable(L, 1);
    return 0;
}

/* ---- Facts and services ---- */

static int columns(lua_State *L)
{
    lua_pushinteger(L, tarn_terminal_columns());
    return 1;
}

static int lines(lua_State *L)
{
    lua_pushinteger(L, tarn_terminal_lines());
    return 1;
}

static int note(lua_State *L)
{
    tarn_note("%s", luaL_checkstring(L, 1));
    return 0;
}

/* write(function, path, text): a whole file, or the old one stays. */
static int write_file(lua_State *L)
{
    size_t size;
    const char *function = luaL_checkstring(L, 1), *path = luaL_checkstring(L, 2);
    const char *text = luaL_checklstring(L, 3, &size);
    tarn_context *ctx = tarn_lua_context(L);
    struct tarn_writer writer;
    tarn_lua_check(L, tarn_writer_open(ctx, function, path, &writer));
    tarn_status status = tarn_writer_put(ctx, function, &writer, text, size);
    tarn_status closed = tarn_writer_close(ctx, function, &writer, status == TARN_OK);
    tarn_lua_check(L, status != TARN_OK ? status : closed);
    return 0;
}

/* What finally has given: a function of C's as user value 1, then its arguments. */
#define FINALLY "tarn.finally"

static int call_finally(lua_State *L)
{
    const lua_Integer *count = luaL_checkudata(L, 1, FINALLY);
    for (int i = 2; i <= *count; i++) {
        lua_getiuservalue(L, 1, 1);
        lua_getiuservalue(L, 1, i);
        lua_call(L, 1, 0);
    }
    return 0;
}

/* finally(f, x, ..) -> a value for a variable that is <close>: f(x) is called for each x when
 * the variable goes. f is C's, for after ^C each instruction of Lua's is an error, until the
 * prompt is back; a function of Lua's would not be run. */
static int finally(lua_State *L)
{
    const int count = lua_gettop(L);
    luaL_argcheck(L, lua_iscfunction(L, 1), 1, "a function of C's");
    lua_Integer *values = lua_newuserdatauv(L, sizeof *values, count);
    *values = count;
    for (int i = 1; i <= count; i++) {
        lua_pushvalue(L, i);
        lua_setiuservalue(L, -2, i);
    }
    if (luaL_newmetatable(L, FINALLY)) {
        lua_pushcfunction(L, call_finally);
        lua_setfield(L, -2, "__close");
    }
    lua_setmetatable(L, -2);
    return 1;
}

/* traceback(): all frames of the last error, or nil. */
static int traceback(lua_State *L)
{
    lua_getfield(L, LUA_REGISTRYINDEX, TARN_LAST_TRACEBACK);
    return 1;
}

/* nearest(word, table): the key that may have been meant, or nil. */
static int nearest(lua_State *L)
{
    const char *word = luaL_checkstring(L, 1);
    luaL_checktype(L, 2, LUA_TTABLE);
    lua_pushstring(L, tarn_lua_nearest_key(L, 2, word));
    return 1;
}

void tarn_env_open(struct tarn_session *session)
{
    static const luaL_Reg host[] = {{"functions_for", functions_for},
                                    {"get", get},
                                    {"set", set},
                                    {"columns", columns},
                                    {"lines", lines},
                                    {"note", note},
                                    {"finally", finally},
                                    {"nearest", nearest},
                                    {"traceback", traceback},
                                    {"write", write_file},
                                    {NULL, NULL}};
    lua_State *L = session->L;
    enum tarn_color color = session->invocation->color;

    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    luaL_newlib(L, host);
    lua_pushboolean(L, tarn_terminal_utf8() || session->invocation->doctest);
    lua_setfield(L, -2, "utf8");
    lua_pushboolean(L, tarn_terminal_color(stdout, color));
    lua_setfield(L, -2, "color");
    lua_pushboolean(L, session->invocation->restricted);
    lua_setfield(L, -2, "restricted");
    lua_pushinteger(L, (lua_Integer)session->ctx->seed);
    lua_setfield(L, -2, "seed");
    luaL_getmetatable(L, TARN_LUA_TENSOR);
    lua_setfield(L, -2, "tensor_metatable");
    lua_setfield(L, -2, "tarn.host");
    lua_pop(L, 1);
}
