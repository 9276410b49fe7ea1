/* repl.c: the prompt: read, run, show, again.
 *
 * - An input is complete unless its syntax error is at the end of the text. It is tried
 *   as an expression first (with `return` before it), so that its values can be shown.
 * - It is compiled once and run once. A `;` at its end means: do not show the values.
 * - ?name is help("name").
 * The state machine is that of Lua's own lua.c, by Ierusalimschy et al., written anew. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "core/context.h"
#include "repl/edit.h"
#include "repl/repl.h"
#include "repl/report.h"
#include "repl/run.h"
#include <ctype.h>
#include <lauxlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROMPT      "> "
#define CONTINUE    ">> "
#define LOCAL_PROBE "\n;(...)()"

/* What compiling an input came to; its chunk or message is then on the stack. */
enum outcome { READY_TO_SHOW, READY_TO_RUN, INCOMPLETE, WRONG };

/* ---- Compiling ---- */

/* Compiles prefix + text + suffix as the input of the prompt. */
static int compile(lua_State *L, const char *prefix, const char *text,
                   const char *suffix)
{
    const char *chunk = lua_pushfstring(L, "%s%s%s\n", prefix, text, suffix);
    int status = luaL_loadbufferx(L, chunk, strlen(chunk), TARN_PROMPT_CHUNK, "t");
    lua_remove(L, -2);
    return status;
}

/* A syntax error at the very end means that the input goes on. */
static bool wants_more(lua_State *L, int status)
{
    static const char mark[] = "<eof>";
    size_t length;
    const char *message = lua_tolstring(L, -1, &length);
    return status == LUA_ERRSYNTAX && length >= strlen(mark) &&
           strcmp(message + length - strlen(mark), mark) == 0;
}

/* True if Lua did not get past the first sign of the text when it read a statement: then
 * what it said about the text as an expression tells more. */
static bool stuck_at_once(const char *message, const char *text)
{
    static const char mark[] = "unexpected symbol near '";
    const char *sign = strstr(message, mark);
    if (!sign) return false;
    sign += strlen(mark);
    return strncmp(text + strspn(text, " \t"), sign, strcspn(sign, "'")) == 0;
}

/* Compiles an input: as an expression, else as statements. */
static enum outcome understand(lua_State *L, const char *text)
{
    int status = compile(L, "return ", text, "");
    if (status == LUA_OK) return READY_TO_SHOW;
    if (wants_more(L, status)) return INCOMPLETE;
    status = compile(L, "", text, "");
    if (status != LUA_OK && stuck_at_once(lua_tostring(L, -1), text))
        lua_pop(L, 1); /* the chunk or message that stays is the first one */
    else
        lua_remove(L, -2);
    if (status == LUA_OK) return READY_TO_RUN;
    return wants_more(L, status) ? INCOMPLETE : WRONG;
}

/* A `;` at the end that is part of the code: with another sign there, which Lua does not
 * know, the text is wrong. In a comment it would not be. */
static bool is_silenced(lua_State *L, const char *text)
{
    size_t length = strlen(text);
    while (length > 0 && isspace((unsigned char)text[length - 1])) length--;
    if (length == 0 || text[length - 1] != ';') return false;
    lua_pushlstring(L, text, length - 1);
    int status = compile(L, "return ", lua_tostring(L, -1), "?");
    lua_pop(L, 2);
    return status != LUA_OK;
}

/* ---- Running ---- */

/* Lets statements that have a `local` in them say at their end which ones are lost now:
 * a probe, handed over as the chunk's `...`, looks at its caller's variables and speaks
 * once a session. Replaces the chunk and pushes the probe: the number of arguments. */
static int probe_locals(lua_State *L, const char *text)
{
    if (!strstr(text, "local")) return 0;
    if (compile(L, "", text, LOCAL_PROBE) != LUA_OK) {
        lua_pop(L, 1);
        return 0;
    }
    lua_remove(L, -2);
    tarn_session_adopt(L);
    tarn_session_push(L, "note_locals");
    return 1;
}

/* Shows the values on the stack above `base` through tarn's own Lua, which sets `_`. */
static int show_results(lua_State *L, int base, const char *text)
{
    int count = lua_gettop(L) - base;
    luaL_checkstack(L, 4, "too many results");
    bool silenced = is_silenced(L, text);
    tarn_session_push(L, "show_results");
    lua_insert(L, base + 1);
    lua_pushboolean(L, silenced);
    lua_insert(L, base + 2);
    return tarn_protected_call(L, count + 1, 0);
}

/* Leaves the line on which the terminal has written ^C. */
static void leave_echo(void)
{
    fflush(stdout);
    if (isatty(STDIN_FILENO)) fputc('\n', stderr);
}

/* Shows the error on top of the stack; who pipes input in learns of it from the status. */
static void complain(struct tarn_session *session)
{
    session->failed = true;
    tarn_show_error(session->L, session->color_errors);
}

/* Runs the compiled chunk on top of the stack and shows what it gives. */
static void run(struct tarn_session *session, enum outcome outcome, const char *text)
{
    lua_State *L = session->L;
    int base = lua_gettop(L) - 1;
    tarn_session_adopt(L);
    int arguments = outcome == READY_TO_RUN ? probe_locals(L, text) : 0;
    int status = tarn_protected_call(L, arguments, LUA_MULTRET);
    if (status == LUA_OK && lua_gettop(L) > base) status = show_results(L, base, text);
    if (status != LUA_OK && tarn_interrupted(session->ctx)) leave_echo();
    if (status != LUA_OK) complain(session);
    lua_settop(L, base);
}

/* ?name */
static void run_help(struct tarn_session *session, const char *topic)
{
    lua_State *L = session->L;
    tarn_session_push(L, "help");
    lua_pushstring(L, topic);
    if (tarn_protected_call(L, 1, 0) != LUA_OK) complain(session);
}

/* ---- Reading ---- */

/* Takes the request to stop back and tells whether there was one. */
static bool was_interrupted(struct tarn_session *session)
{
    bool interrupted = tarn_interrupted(session->ctx);
    tarn_clear_interrupt(session->ctx);
    return interrupted;
}

/* Reads the rest of an input whose beginning is the string on top of the stack, until it
 * is complete or wrong; that string is then the whole input, the chunk or the message
 * above it. False if ^C dropped it. */
static bool read_rest(struct tarn_session *session, enum outcome *outcome)
{
    lua_State *L = session->L;
    int text = lua_gettop(L);
    for (;;) {
        *outcome = understand(L, lua_tostring(L, text));
        if (*outcome != INCOMPLETE) return true;
        const char *line = tarn_edit_line(session, CONTINUE);
        if (was_interrupted(session)) return false;
        if (!line) {
            *outcome = WRONG; /* ended too early, as the message says */
            return true;
        }
        lua_pushfstring(L, "%s\n%s", lua_tostring(L, text), line);
        lua_replace(L, text);
        lua_settop(L, text);
    }
}

static bool is_blank(const char *text)
{
    return text[strspn(text, " \t\r\n")] == '\0';
}

/* Deals with one input that begins with `line`. */
static void handle(struct tarn_session *session, const char *line)
{
    lua_State *L = session->L;
    const char *first = line + strspn(line, " \t");
    enum outcome outcome;
    if (*first == '?') {
        tarn_edit_remember(session, line);
        run_help(session, first + 1);
        return;
    }
    lua_pushstring(L, line);
    if (!read_rest(session, &outcome)) return;
    const char *text = lua_tostring(L, 1);
    tarn_edit_remember(session, text);
    if (outcome == WRONG)
        complain(session);
    else
        run(session, outcome, text);
}

static void greet(const struct tarn_session *session)
{
    int threads = tarn_threads(session->ctx);
    printf(
        "tarn %s, seed %llu, %d thread%s\n"
        "tour() walks through the derivation, help() lists what there is, ^D leaves.\n",
        tarn_version(), (unsigned long long)session->ctx->seed, threads,
        threads == 1 ? "" : "s");
}

bool tarn_repl(struct tarn_session *session)
{
    tarn_session_catch_interrupts(session, true);
    if (session->invocation->init) tarn_run_startup(session);
    was_interrupted(session);
    greet(session);
    tarn_edit_open(session);
    for (;;) {
        lua_settop(session->L, 0);
        tarn_session_watch(session);
        const char *line = tarn_edit_line(session, PROMPT);
        if (was_interrupted(session)) continue;
        if (!line) break;
        if (!is_blank(line)) handle(session, line);
        was_interrupted(session);
    }
    putchar('\n');
    return isatty(STDIN_FILENO) || !session->failed;
}
