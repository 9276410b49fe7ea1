/* run.c: code that comes from files and from the command line. See run.h. */
#include "repl/run.h"
#include "repl/report.h"
#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Under --restricted a script is text: bytecode could do anything. */
static const char *mode_of(const struct tarn_session *session)
{
    return session->invocation->restricted ? "t" : NULL;
}

/* Reports the error on top of the stack unless `status` is none. A script that came to its
 * end before it noticed ^C was stopped nevertheless. */
static bool finish(struct tarn_session *session, int status)
{
    bool stopped = !session->prompting && tarn_interrupted(session->ctx);
    if (status == LUA_OK && stopped) lua_pushliteral(session->L, "interrupted");
    if (status == LUA_OK && !stopped) return true;
    tarn_show_error(session->L, session->color_errors);
    return false;
}

/* Runs the chunk on top of the stack, or reports why it was not understood. */
static bool run_chunk(struct tarn_session *session, int load_status, int arguments)
{
    lua_State *L = session->L;
    if (load_status == LUA_ERRSYNTAX) tarn_explain_syntax(L, NULL);
    if (load_status != LUA_OK) return finish(session, load_status);
    tarn_session_adopt(L);
    if (arguments > 0) lua_insert(L, -arguments - 1);
    return finish(session, tarn_protected_call(L, arguments, 0));
}

/* -l: the module's value becomes a global of its name. */
static bool run_library(struct tarn_session *session, const char *name)
{
    lua_State *L = session->L;
    lua_getglobal(L, "require");
    lua_pushstring(L, name);
    int status = tarn_protected_call(L, 1, 1);
    if (status == LUA_OK) lua_setglobal(L, name);
    return finish(session, status);
}

bool tarn_run_actions(struct tarn_session *session)
{
    const struct tarn_invocation *inv = session->invocation;
    for (int i = 0; i < inv->action_count; i++) {
        const char *text = inv->actions[i].text;
        bool ok = inv->actions[i].option == 'l'
                      ? run_library(session, text)
                      : run_chunk(session,
                                  luaL_loadbufferx(session->L, text, strlen(text),
                                                   "=(command line)", "t"),
                                  0);
        if (!ok) return false;
    }
    return true;
}

bool tarn_run_script(struct tarn_session *session)
{
    const struct tarn_invocation *inv = session->invocation;
    const char *name = inv->argv[inv->script];
    int status = luaL_loadfilex(session->L, strcmp(name, "-") == 0 ? NULL : name,
                                mode_of(session));
    if (status != LUA_OK) return run_chunk(session, status, 0);

    /* Hand the script its arguments as `...` too. */
    int count = inv->argc - inv->script - 1;
    luaL_checkstack(session->L, count + 3, "too many arguments to script");
    for (int i = 1; i <= count; i++)
        lua_pushstring(session->L, inv->argv[inv->script + i]);
    lua_pushvalue(session->L, -count - 1);
    lua_remove(session->L, -count - 2);
    return run_chunk(session, LUA_OK, count);
}

bool tarn_run_stdin(struct tarn_session *session)
{
    return run_chunk(session, luaL_loadfilex(session->L, NULL, mode_of(session)), 0);
}

bool tarn_run_startup(struct tarn_session *session)
{
    lua_State *L = session->L;
    const char *config = getenv("XDG_CONFIG_HOME");
    const char *home = getenv("HOME");
    if (config && *config == '/')
        lua_pushfstring(L, "%s/tarn/init.lua", config);
    else if (home)
        lua_pushfstring(L, "%s/.config/tarn/init.lua", home);
    else
        return true;

    const char *path = lua_tostring(L, -1);
    bool ok = access(path, F_OK) != 0 ||
              run_chunk(session, luaL_loadfilex(L, path, mode_of(session)), 0);
    lua_pop(L, 1);
    return ok;
}

void tarn_run_set_arguments(struct tarn_session *session)
{
    const struct tarn_invocation *inv = session->invocation;
    int origin = inv->script < inv->argc ? inv->script : 0;
    lua_createtable(session->L, inv->argc - origin, origin + 1);
    for (int i = 0; i < inv->argc; i++) {
        lua_pushstring(session->L, inv->argv[i]);
        lua_rawseti(session->L, -2, i - origin);
    }
    lua_setglobal(session->L, "arg");
}
