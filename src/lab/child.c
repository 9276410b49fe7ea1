/* child.c: what the child process that runs a learner's Lua does in C: it counts and limits
 * what that costs, and speaks with the program that started it. In "tarn.lab.system". */
#include "lab/lab.h"
#include "core/context.h"
#include "repl/bind.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Instructions between two steps of the counter. */
enum { STEP = 100 };

static lua_Integer steps;

static void count_step(lua_State *L, lua_Debug *ar)
{
    (void)L;
    (void)ar;
    steps++;
}

/* count(): from now on instructions are counted, here and in coroutines made later.
 * count(true) -> how many there were, to the next hundred. */
static int count(lua_State *L)
{
    if (lua_toboolean(L, 1)) {
        lua_pushinteger(L, steps * STEP);
        return 1;
    }
    steps = 0;
    lua_sethook(L, count_step, LUA_MASKCOUNT, STEP);
    return 0;
}

/* limit(bytes): what Lua and tensors hold together stays below so many more than now; none:
 * without limit. */
static int limit(lua_State *L)
{
    tarn_context *ctx = tarn_lua_context(L);
    const lua_Integer bytes = luaL_optinteger(L, 1, 0);
    ctx->limit = bytes > 0 ? ctx->outside + tarn_bytes(ctx) + (size_t)bytes : 0;
    return 0;
}

/* say(text): on descriptor 3, to the program that started this one. */
static int say(lua_State *L)
{
    enum { SAID = 3 };
    size_t size;
    const char *text = luaL_checklstring(L, 1, &size);
    for (size_t done = 0; done < size;) {
        const ssize_t n = write(SAID, text + done, size - done);
        if (n < 0 && errno != EINTR) return luaL_error(L, "say: %s", strerror(errno));
        if (n > 0) done += (size_t)n;
    }
    return 0;
}

void tarn_lab_child_open(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"count", count}, {"limit", limit}, {"say", say}, {NULL, NULL}};
    tarn_lab_push_system(L);
    luaL_setfuncs(L, functions, 0);
    lua_pop(L, 1);
}
