/* processes.c: child processes in the module "tarn.lab.system", for lua/lab/run_process.lua.
 *
 *   start{argv={..}, env={..}, folder=, written=, answer=, cpu=, wall=, memory=, space=, file=,
 *         output=, disk=, running=, alone=, threads=, bwrap=, readable={..}, writable={..}}
 *         -> process
 *   wait{process, ...}  -> the position of one that has ended, and how: {ending="exit"|"signal"|
 *         "time"|"memory"|"output"|"processes"|"stopped", code=, seconds=, out=, err=, said=}
 *   stop(process)
 *   landlock()          whether rules for files hold without bwrap
 *
 * wait looks for ^C too, and then ends all it was given. */
#include "lab/lab.h"
#include "lab/process.h"
#include "repl/bind.h"
#include <lauxlib.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define PROCESS "tarn.lab.process"

/* ---- Reading an order ---------------------------------------------------------------------- */

/* The strings of a list, NULL-terminated, in memory of Lua's that stays on the stack. */
static char *const *strings(lua_State *L, const char *name)
{
    lua_getfield(L, 1, name);
    if (lua_isnil(L, -1)) return NULL;
    luaL_checktype(L, -1, LUA_TTABLE);
    const size_t count = lua_rawlen(L, -1);
    const char **list = lua_newuserdatauv(L, (count + 1) * sizeof *list, 0);
    luaL_checkstack(L, (int)count + 8, "too many strings");
    const int table = lua_gettop(L) - 1;
    for (size_t i = 0; i < count; i++) {
        lua_rawgeti(L, table, (lua_Integer)i + 1);
        list[i] = luaL_checkstring(L, -1);
    }
    list[count] = NULL;
    return (char *const *)(uintptr_t)list;
}

static const char *string(lua_State *L, const char *name)
{
    lua_getfield(L, 1, name);
    return luaL_optstring(L, -1, NULL); /* stays on the stack, and so alive */
}

static double number(lua_State *L, const char *name)
{
    lua_getfield(L, 1, name);
    const double value = luaL_optnumber(L, -1, 0);
    lua_pop(L, 1);
    return value;
}

static bool flag(lua_State *L, const char *name)
{
    lua_getfield(L, 1, name);
    const bool value = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return value;
}

static struct tarn_order read_order(lua_State *L)
{
    struct tarn_order order = {.argv = strings(L, "argv"),
                               .environment = strings(L, "env"),
                               .folder = string(L, "folder"),
                               .written = string(L, "written"),
                               .answer = string(L, "answer"),
                               .wall_seconds = number(L, "wall"),
                               .memory = (uint64_t)number(L, "memory"),
                               .output = (uint64_t)number(L, "output"),
                               .disk = (uint64_t)number(L, "disk"),
                               .bwrap = flag(L, "bwrap")};
    order.fence = (struct tarn_fence){.cpu_seconds = (uint64_t)number(L, "cpu"),
                                      .space = (uint64_t)number(L, "space"),
                                      .file_bytes = (uint64_t)number(L, "file"),
                                      .running = flag(L, "running"),
                                      .alone = flag(L, "alone"),
                                      .threads = flag(L, "threads"),
                                      .readable = strings(L, "readable"),
                                      .writable = strings(L, "writable")};
    luaL_argcheck(L, order.argv && order.environment && order.folder && order.written,
                  1, "argv, env, folder and written are needed");
    return order;
}

/* ---- The functions -------------------------------------------------------------------------- */

static int start(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    const struct tarn_order order = read_order(L);
    struct tarn_process *p = lua_newuserdatauv(L, sizeof *p, 0);
    memset(p, 0, sizeof *p);
    luaL_setmetatable(L, PROCESS);
    const int problem = tarn_process_start(p, &order);
    if (!problem) return 1;
    lua_pushnil(L);
    lua_pushstring(L, strerror(problem));
    return 2;
}

static struct tarn_process *process_at(lua_State *L, lua_Integer i)
{
    lua_rawgeti(L, 1, i);
    struct tarn_process *p = luaL_checkudata(L, -1, PROCESS);
    lua_pop(L, 1);
    return p;
}

static void set_text(lua_State *L, const struct tarn_process *p, int stream,
                     const char *name)
{
    const char *bytes = p->text[stream].bytes;
    lua_pushlstring(L, bytes ? bytes : "", p->text[stream].size);
    lua_setfield(L, -2, name);
}

static void push_end(lua_State *L, const struct tarn_process *p)
{
    static const char *const endings[] = {"running", "exit",   "signal",    "time",
                                          "memory",  "output", "processes", "stopped"};
    lua_createtable(L, 0, 6);
    lua_pushstring(L, endings[p->ending]);
    lua_setfield(L, -2, "ending");
    lua_pushinteger(L, p->code);
    lua_setfield(L, -2, "code");
    lua_pushnumber(L, p->seconds);
    lua_setfield(L, -2, "seconds");
    set_text(L, p, TARN_STREAM_OUT, "out");
    set_text(L, p, TARN_STREAM_ERR, "err");
    set_text(L, p, TARN_STREAM_SAID, "said");
}

/* Sleeps until one of them writes or ends, or for a moment: whether one has ended is not
 * told by its descriptors, which others may hold. */
static void sleep_a_moment(lua_State *L, lua_Integer count)
{
    enum { MOST = 256, MILLISECONDS = 5 };
    struct pollfd watched[MOST];
    nfds_t n = 0;
    for (lua_Integer i = 1; i <= count; i++) {
        const struct tarn_process *p = process_at(L, i);
        for (int s = 0; s < TARN_STREAMS && n < MOST; s++)
            if (p->streams[s] >= 0)
                watched[n++] = (struct pollfd){.fd = p->streams[s], .events = POLLIN};
    }
    poll(watched, n, MILLISECONDS);
}

static int wait_for_one(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    const lua_Integer count = (lua_Integer)lua_rawlen(L, 1);
    luaL_argcheck(L, count > 0, 1, "no processes");
    for (;;) {
        for (lua_Integer i = 1; i <= count; i++) {
            struct tarn_process *p = process_at(L, i);
            tarn_process_look(p);
            if (p->ending == TARN_RUNNING) continue;
            lua_pushinteger(L, i);
            push_end(L, p);
            return 2;
        }
        if (tarn_interrupted(tarn_lua_context(L))) {
            for (lua_Integer i = 1; i <= count; i++)
                tarn_process_stop(process_at(L, i), TARN_STOPPED);
            return tarn_lua_fail(L, "interrupted");
        }
        sleep_a_moment(L, count);
    }
}

static int stop(lua_State *L)
{
    tarn_process_stop(luaL_checkudata(L, 1, PROCESS), TARN_STOPPED);
    return 0;
}

static int release(lua_State *L)
{
    tarn_process_free(luaL_checkudata(L, 1, PROCESS));
    return 0;
}

/* A function, for the question is a call of the system: valgrind does not know it, and no
 * session but the lab's wants the answer. */
static int landlock(lua_State *L)
{
    lua_pushboolean(L, tarn_fence_has_files());
    return 1;
}

void tarn_lab_processes_open(lua_State *L)
{
    static const luaL_Reg functions[] = {{"start", start},
                                         {"wait", wait_for_one},
                                         {"stop", stop},
                                         {"landlock", landlock},
                                         {NULL, NULL}};
    luaL_newmetatable(L, PROCESS);
    lua_pushcfunction(L, release);
    lua_setfield(L, -2, "__gc");
    lua_pop(L, 1);
    tarn_lab_push_system(L);
    luaL_setfuncs(L, functions, 0);
    lua_pop(L, 1);
}
