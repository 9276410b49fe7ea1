/* main.c: the program tarn-lab: a session as the prompt has it, in which lua/lab/main.lua
 * reads the command line and does what it asks for.
 *
 * It is its own child too: `tarn-lab --child=lua` runs a learner's Lua, restricted as by `tarn
 * --restricted`, and --child=cuda kernels, as order.lua in its folder says (lua/lab/child.lua).
 *
 * Exit status: 0 success, 1 an error (also of writing to stdout), 2 a wrong command line,
 * 130 after ^C: what it keeps is written whole or not at all, what it runs is ended. */
#include "repl/interrupt.h"
#include "repl/options.h"
#include "repl/report.h"
#include "repl/session.h"
#include <lauxlib.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

/* main(list of arguments) -> exit status. */
static int run_lab(lua_State *L)
{
    struct tarn_session *session = lua_touserdata(L, 1);
    const struct tarn_invocation *inv = session->invocation;
    lua_settop(L, 0);
    tarn_session_load(session);
    tarn_interrupts_watch(session);
    tarn_interrupts_catch(session, false);
    lua_getfield(L, LUA_REGISTRYINDEX, session->first);
    lua_getfield(L, -1, "main");
    lua_createtable(L, inv->argc, 0);
    for (int i = 1; i < inv->argc; i++) {
        lua_pushstring(L, inv->argv[i]);
        lua_rawseti(L, -2, i);
    }
    lua_call(L, 1, 1);
    return 1;
}

int main(int argc, char **argv)
{
    /* Take the locale's characters, but C's numbers and order. */
    setlocale(LC_CTYPE, "");
    atexit(tarn_close_stdout);

    const char *word = argc > 1 ? argv[1] : "";
    const bool lua = strcmp(word, "--child=lua") == 0;
    const bool child = lua || strcmp(word, "--child=cuda") == 0;
    const struct tarn_invocation inv = {.argc = argc,
                                        .argv = argv,
                                        .device = "cpu",
                                        .restricted = lua,
                                        .threads = child ? 1 : 0};
    struct tarn_session session;
    int status = EXIT_FAILURE;
    prctl(PR_SET_DUMPABLE, 0); /* children of the same user can't look into it */
    if (tarn_session_open(&session, &inv)) {
        session.first = child ? "tarn.lab.child" : "tarn.lab.main";
        lua_pushcfunction(session.L, run_lab);
        lua_pushlightuserdata(session.L, &session);
        if (lua_pcall(session.L, 1, 1, 0) == LUA_OK)
            status = (int)lua_tointeger(session.L, -1);
        else if (tarn_interrupted(session.ctx))
            status = 128 + SIGINT;
        else
            tarn_show_error(session.L, false);
    }
    tarn_session_close(&session);
    return status;
}
