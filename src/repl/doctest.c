/* doctest.c: what lua/doctest.lua needs of the world: sessions, files, stdout and stderr.
 *
 * A file's inputs run in a session of their own, that is, in another Lua state than
 * lua/doctest.lua: whatever they do to Lua's functions, the comparison does not know. */
#include "repl/doctest.h"
#include "core/file.h"
#include "repl/bind.h"
#include "repl/capture.h"
#include "repl/input.h"
#include "repl/interrupt.h"
#include "repl/report.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SANDBOX "tarn.doctest.session"

/* The session of a file. */
struct sandbox {
    struct tarn_session session;
    struct tarn_session *outside; /* the one in which lua/doctest.lua runs */
    struct tarn_capture capture;
    const char *input; /* the one that is running */
    bool open, exited;
};

/* ---- Inside: functions that run in the sandbox's own Lua state ---- */

static struct sandbox *upvalue(lua_State *L)
{
    return lua_touserdata(L, lua_upvalueindex(1));
}

/* os.exit would end the whole run. */
static int refuse_exit(lua_State *L)
{
    upvalue(L)->exited = true;
    lua_pushliteral(L, "os.exit: a transcript runs to its end");
    return lua_error(L);
}

/* Fills the session; times show as "-". */
static int load(lua_State *L)
{
    struct sandbox *box = lua_touserdata(L, 1);
    tarn_session_load(&box->session);
    lua_getglobal(L, "tarn");
    lua_pushboolean(L, true);
    lua_setfield(L, -2, "quiet_times");
    lua_getglobal(L, "os");
    lua_pushlightuserdata(L, box);
    lua_pushcclosure(L, refuse_exit, 1);
    lua_setfield(L, -2, "exit");
    return 0;
}

/* Runs the input as the prompt would; gives its error's message, if any. */
static int run_input(lua_State *L)
{
    const struct sandbox *box = lua_touserdata(L, 1);
    lua_settop(L, 0);
    enum tarn_input input = tarn_input_understand(L, box->input);
    if (input == TARN_INPUT_INCOMPLETE || input == TARN_INPUT_WRONG) return 1;
    return tarn_input_run(L, input, box->input) == LUA_OK ? 0 : 1;
}

/* Calls one of these functions with what is written captured; what it gives is then on the
 * sandbox's stack. False if there is nothing to capture with. */
static bool call_inside(struct sandbox *box, lua_CFunction function)
{
    lua_State *inside = box->session.L;
    if (!tarn_capture_begin(&box->capture, box->session.ctx)) return false;
    lua_settop(inside, 0);
    lua_pushcfunction(inside, function);
    lua_pushlightuserdata(inside, box);
    if (lua_pcall(inside, 1, 1, 0) == LUA_OK && lua_isnil(inside, -1))
        lua_settop(inside, 0);
    tarn_capture_end(&box->capture);
    return true;
}

/* ---- Outside: the session as an object of lua/doctest.lua's ---- */

/* Closes the session; a ^C that it has not dealt with stops the run. */
static void close_box(struct sandbox *box)
{
    if (!box->open) return;
    box->open = false;
    if (tarn_interrupted(box->session.ctx)) tarn_interrupt(box->outside->ctx);
    tarn_session_close(&box->session);
    tarn_capture_free(&box->capture);
    tarn_interrupts_catch(box->outside, false);
}

static int sandbox_close(lua_State *L)
{
    close_box(luaL_checkudata(L, 1, SANDBOX));
    return 0;
}

/* Opens and loads the session: NULL, or why it can't be. */
static const char *open_box(struct sandbox *box)
{
    if (!tarn_session_open(&box->session, box->outside->invocation))
        return "no session for a file";
    tarn_interrupts_catch(&box->session, false);
    if (!call_inside(box, load)) return strerror(errno);
    if (lua_gettop(box->session.L) > 0) return lua_tostring(box->session.L, -1);
    tarn_interrupts_watch(&box->session);
    return NULL;
}

/* open() -> a session. */
static int sandbox_open(lua_State *L)
{
    struct tarn_session *outside = lua_touserdata(L, lua_upvalueindex(1));
    struct sandbox *box = lua_newuserdatauv(L, sizeof *box, 0);
    *box = (struct sandbox){.outside = outside, .open = true};
    luaL_setmetatable(L, SANDBOX);
    const char *problem = open_box(box);
    if (!problem) return 1;
    lua_pushfstring(L, "doctest: %s", problem);
    close_box(box);
    return lua_error(L);
}

/* Pushes the first line of the error that the input ended in, or nil. */
static void push_message(lua_State *L, lua_State *inside)
{
    if (lua_gettop(inside) == 0) {
        lua_pushnil(L);
        return;
    }
    const char *message =
        lua_type(inside, -1) == LUA_TSTRING ? lua_tostring(inside, -1) : NULL;
    if (!message) message = "(error value is not a string)";
    lua_pushlstring(L, message, strcspn(message, "\n"));
}

/* Pushes what is wrong with the input beside its error, or nil. */
static void push_problem(lua_State *L, const struct sandbox *box)
{
    if (box->exited)
        lua_pushliteral(L, "os.exit is called here, but a transcript runs to its end");
    else if (box->capture.overflowed)
        lua_pushfstring(L, "this writes more than %d bytes", TARN_CAPTURE_LIMIT);
    else
        lua_pushnil(L);
}

/* session:run(input) -> output, error or nil, problem or nil. Raises after ^C. */
static int sandbox_run(lua_State *L)
{
    struct sandbox *box = luaL_checkudata(L, 1, SANDBOX);
    box->input = luaL_checkstring(L, 2);
    box->exited = false;
    if (!call_inside(box, run_input))
        return luaL_error(L, "doctest: nothing to capture with: %s", strerror(errno));
    if (box->capture.overflowed) {
        tarn_clear_interrupt(box->session.ctx);
        tarn_interrupts_watch(&box->session);
    }
    if (tarn_interrupted(box->session.ctx)) {
        lua_pushliteral(L, "interrupted");
        return lua_error(L);
    }
    lua_pushlstring(L, box->capture.text, box->capture.length);
    push_message(L, box->session.L);
    push_problem(L, box);
    return 3;
}

/* ---- Outside: files, the machine ---- */

/* write(path, text) -> true, or nil and why not. */
static int write_file(lua_State *L)
{
    static const char function[] = "doctest";
    tarn_context *ctx = tarn_lua_context(L);
    const char *path = luaL_checkstring(L, 1);
    size_t size;
    const char *text = luaL_checklstring(L, 2, &size);
    struct tarn_writer writer;
    tarn_status status = tarn_writer_open(ctx, function, path, &writer);
    if (status == TARN_OK) {
        status = tarn_writer_put(ctx, function, &writer, text, size);
        tarn_status closed =
            tarn_writer_close(ctx, function, &writer, status == TARN_OK);
        if (status == TARN_OK) status = closed;
    }
    lua_pushboolean(L, status == TARN_OK);
    lua_pushstring(L, tarn_error(ctx));
    return 2;
}

static bool has_device(const char *device)
{
    tarn_backend_info info;
    for (size_t i = 0; tarn_backend_at(i, &info); i++)
        if (strcmp(info.device, device) == 0 && info.usable) return true;
    return false;
}

/* Pushes the table that lua/doctest.lua calls its tools. */
static void push_tools(struct tarn_session *session)
{
    static const luaL_Reg methods[] = {{"run", sandbox_run}, {NULL, NULL}};
    static const luaL_Reg meta[] = {
        {"__close", sandbox_close}, {"__gc", sandbox_close}, {NULL, NULL}};
    lua_State *L = session->L;
    luaL_newmetatable(L, SANDBOX);
    luaL_setfuncs(L, meta, 0);
    luaL_newlib(L, methods);
    lua_setfield(L, -2, "__index");
    lua_pop(L, 1);

    lua_newtable(L);
    lua_pushlightuserdata(L, session);
    lua_pushcclosure(L, sandbox_open, 1);
    lua_setfield(L, -2, "open");
    lua_pushcfunction(L, write_file);
    lua_setfield(L, -2, "write");
    lua_pushboolean(L, has_device("cuda"));
    lua_setfield(L, -2, "gpu");
    lua_pushboolean(L, has_device("emu"));
    lua_setfield(L, -2, "emu");
}

/* ---- The run ---- */

void tarn_doctest_prepare(struct tarn_invocation *inv)
{
    inv->init = inv->history = false;
    inv->color = TARN_COLOR_NEVER;
    setvbuf(stdout, NULL, _IONBF,
            0); /* what child processes write stays in its place */
    setenv("COLUMNS", "80", 1);
    unsetenv("LINES");
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing >= 0) dup2(nothing, STDIN_FILENO);
}

/* Pushes the files, the tools and the options. */
static void push_arguments(struct tarn_session *session)
{
    const struct tarn_invocation *inv = session->invocation;
    const char *slow = getenv("TARN_SLOW");
    lua_State *L = session->L;
    lua_newtable(L);
    for (int i = inv->script; i < inv->argc; i++) {
        lua_pushstring(L, inv->argv[i]);
        lua_rawseti(L, -2, i - inv->script + 1);
    }
    push_tools(session);
    lua_createtable(L, 0, 2);
    lua_pushboolean(L, inv->doctest == TARN_DOCTEST_FIX);
    lua_setfield(L, -2, "fix");
    lua_pushboolean(L, inv->slow || (slow && strcmp(slow, "1") == 0));
    lua_setfield(L, -2, "slow");
}

bool tarn_doctest(struct tarn_session *session)
{
    lua_State *L = session->L;
    tarn_session_push(L, "doctest");
    push_arguments(session);
    if (tarn_protected_call(L, 3, 1) != LUA_OK) {
        tarn_show_error(L, session->color_errors);
        return false;
    }
    return lua_toboolean(L, -1);
}
