/* lua_emu.c: the emulated device in Lua: emu{..}, its settings, and for lua/profile.lua the
 * module tarn.profiler. Chapter 11.
 *
 * The settings are the device's own, one set a process (emu/emu.h). In a build without the
 * device the functions are there and say why they can't do anything. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "devices.h"
#include "emu/emu.h"
#include "repl/bind.h"
#include <limits.h>
#include <stdlib.h>

#ifdef HAVE_EMU

/* ---- settings -------------------------------------------------------------------- */

enum { GPUS_MAX = 16 };

static const char *const orders[] = {"forward", "reversed", "random", NULL};

/* The names of the GPUs whose limits are known, NULL-terminated. */
static void list_gpus(const char *gpus[GPUS_MAX + 1])
{
    size_t count = 0;
    while (count < GPUS_MAX && (gpus[count] = tarn_emu_gpu(count))) count++;
    gpus[count] = NULL;
}

/* Reads all options before any is set: a wrong one changes nothing. */
static void read_settings(lua_State *L, struct tarn_emu_settings *settings)
{
    const char *gpus[GPUS_MAX + 1];
    lua_Integer seed;
    int word;
    list_gpus(gpus);
    if (tarn_lua_opt_word(L, 1, "emu", "gpu", gpus, &word)) settings->gpu = gpus[word];
    if (tarn_lua_opt_word(L, 1, "emu", "order", orders, &word))
        settings->order = (enum tarn_emu_order)word;
    tarn_lua_opt_boolean(L, 1, "emu", "check", &settings->check);
    if (!tarn_lua_opt_integer(L, 1, "emu", "seed", &seed)) return;
    if (seed < 0 || seed > UINT_MAX)
        tarn_lua_fail(L, "emu: seed is %lld, expected 0 to %u", (long long)seed,
                      UINT_MAX);
    settings->seed = (unsigned)seed;
}

static void push_settings(lua_State *L, const struct tarn_emu_settings *settings)
{
    lua_createtable(L, 0, 4);
    lua_pushstring(L, settings->gpu);
    lua_setfield(L, -2, "gpu");
    lua_pushboolean(L, settings->check);
    lua_setfield(L, -2, "check");
    lua_pushstring(L, orders[settings->order]);
    lua_setfield(L, -2, "order");
    lua_pushinteger(L, settings->seed);
    lua_setfield(L, -2, "seed");
}

/* emu([options]) -> settings; lua/profile.lua gives them their looks. */
static int emu(lua_State *L)
{
    static const char *const names[] = {"gpu", "check", "order", "seed", NULL};
    struct tarn_emu_settings settings = tarn_emu_settings;
    lua_settop(L, 1);
    if (tarn_lua_options(L, 1, "emu", names)) read_settings(L, &settings);
    tarn_emu_settings = settings;
    push_settings(L, &settings);
    return 1;
}

/* gpus() -> the words that gpu may be. */
static int gpus(lua_State *L)
{
    lua_newtable(L);
    for (size_t i = 0; tarn_emu_gpu(i); i++) {
        lua_pushstring(L, tarn_emu_gpu(i));
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

/* ---- the profiler ---------------------------------------------------------------- */

#define ROWS "tarn.profile rows"

static int free_rows(lua_State *L)
{
    struct tarn_emu_row **rows = luaL_checkudata(L, 1, ROWS);
    free(*rows);
    *rows = NULL;
    return 0;
}

static void set_integer(lua_State *L, const char *name, uint64_t value)
{
    lua_pushinteger(L, (lua_Integer)value);
    lua_setfield(L, -2, name);
}

static void push_row(lua_State *L, const struct tarn_emu_row *row)
{
    lua_createtable(L, 0, 11);
    lua_pushstring(L, row->kernel);
    lua_setfield(L, -2, "kernel");
    lua_pushstring(L, row->file);
    lua_setfield(L, -2, "file");
    lua_pushstring(L, row->shared ? "shared" : "global");
    lua_setfield(L, -2, "space");
    lua_pushstring(L, row->writes ? "store" : "load");
    lua_setfield(L, -2, "op");
    set_integer(L, "line", (uint64_t)row->line);
    set_integer(L, "width", row->bytes);
    set_integer(L, "requests", row->requests);
    set_integer(L, "bytes", row->moved);
    set_integer(L, "actual", row->actual);
    set_integer(L, "least", row->least);
    set_integer(L, "shifted", row->shifted);
}

/* start(every): from now on each `every`-th block is watched. */
static int start(lua_State *L)
{
    tarn_emu_profile_start((size_t)luaL_checkinteger(L, 1));
    return 0;
}

/* running() -> whether it is. */
static int running(lua_State *L)
{
    lua_pushboolean(L, tarn_emu_profiling());
    return 1;
}

/* stop() -> a list of rows; nothing is watched any more. */
static int stop(lua_State *L)
{
    size_t count;
    struct tarn_emu_row **rows = lua_newuserdatauv(L, sizeof *rows, 0);
    *rows = NULL;
    if (luaL_newmetatable(L, ROWS)) {
        lua_pushcfunction(L, free_rows);
        lua_setfield(L, -2, "__gc");
    }
    lua_setmetatable(L, -2);
    *rows = tarn_emu_profile_stop(&count);
    if (!*rows) tarn_lua_fail(L, "profile: out of memory");
    lua_createtable(L, count < INT_MAX ? (int)count : 0, 0);
    for (size_t i = 0; i < count; i++) {
        push_row(L, &(*rows)[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

#else

/* ---- without the device ---------------------------------------------------------- */

static int emu(lua_State *L)
{
    return tarn_lua_fail(L, "emu: not available: %s", tarn_device_why_not("emu"));
}

static int start(lua_State *L)
{
    return tarn_lua_fail(L, "profile: not available: %s", tarn_device_why_not("emu"));
}

static int stop(lua_State *L)
{
    lua_newtable(L);
    return 1;
}

static int running(lua_State *L)
{
    lua_pushboolean(L, false);
    return 1;
}

static int gpus(lua_State *L)
{
    lua_newtable(L);
    return 1;
}

#endif

void tarn_open_emu(lua_State *L)
{
    static const luaL_Reg profiler[] = {{"start", start},
                                        {"stop", stop},
                                        {"running", running},
                                        {"gpus", gpus},
                                        {NULL, NULL}};
    lua_pushcfunction(L, emu);
    lua_setfield(L, -2, "emu");
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    luaL_newlib(L, profiler);
    lua_setfield(L, -2, "tarn.profiler");
    lua_pop(L, 1);
}
