/* fuzz_lua.h: tries a promise of promises.lua on bytes that libFuzzer makes up.
 *
 * tests/fuzz/run builds and runs the programs, with TOP the folder of the source. */
#ifndef TARN_TESTS_FUZZ_LUA_H
#define TARN_TESTS_FUZZ_LUA_H

#include <lauxlib.h>
#include <lualib.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Finds tarn's own modules in the source, as require "tarn.compare". */
static const char set_up[] =
    "package.searchers[2] = function(name)\n"
    "  return loadfile('" TOP "/lua/' .. name:gsub('^tarn%.', '') .. '.lua')\n"
    "end\n"
    "return dofile('" TOP "/tests/fuzz/promises.lua')";

/* Lets libFuzzer see which lines of Lua a text reaches. */
enum { FILES = 8, LINES = 512 };
__attribute__((
    section("__libfuzzer_extra_counters"))) static uint8_t reached[FILES * LINES];

static void on_line(lua_State *L, lua_Debug *ar)
{
    lua_getinfo(L, "S", ar);
    size_t file = (size_t)(uintptr_t)ar->source / 16 % FILES;
    reached[file * LINES + (size_t)ar->currentline % LINES]++;
}

static lua_State *promises(void)
{
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    lua_sethook(L, on_line, LUA_MASKLINE, 0);
    if (luaL_dostring(L, set_up)) {
        fprintf(stderr, "%s\n", lua_tostring(L, -1));
        abort();
    }
    return L;
}

/* Calls a promise with the bytes; an error ends the program. */
static inline void keep_promise(const char *name, const uint8_t *bytes, size_t size)
{
    static lua_State *L;
    if (!L) L = promises();
    lua_getfield(L, 1, name);
    lua_pushlstring(L, (const char *)bytes, size);
    if (lua_pcall(L, 1, 0, 0) == LUA_OK) return;
    fprintf(stderr, "broken promise: %s\n", lua_tostring(L, -1));
    abort();
}

#endif
