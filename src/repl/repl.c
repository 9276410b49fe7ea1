/* repl.c: the prompt: read, run, show, again. What one input is, input.h says. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "repl/repl.h"
#include "core/context.h"
#include "repl/edit.h"
#include "repl/input.h"
#include "repl/report.h"
#include "repl/run.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PROMPT   "> "
#define CONTINUE ">> "

/* ---- Running ---- */

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

/* Runs what is on top of the stack and shows what it gives. */
static void run(struct tarn_session *session, enum tarn_input input, const char *text)
{
    if (tarn_input_run(session->L, input, text) == LUA_OK) return;
    if (tarn_interrupted(session->ctx)) leave_echo();
    complain(session);
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
static bool read_rest(struct tarn_session *session, enum tarn_input *input)
{
    lua_State *L = session->L;
    int text = lua_gettop(L);
    for (;;) {
        *input = tarn_input_understand(L, lua_tostring(L, text));
        if (*input != TARN_INPUT_INCOMPLETE) return true;
        session->unfinished = lua_tostring(L, text);
        const char *line = tarn_edit_line(session, CONTINUE);
        session->unfinished = NULL;
        if (was_interrupted(session)) return false;
        if (!line) {
            *input = TARN_INPUT_WRONG; /* ended too early, as the message says */
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
    enum tarn_input input;
    lua_pushstring(L, line);
    if (!read_rest(session, &input)) return;
    const char *text = lua_tostring(L, 1);
    tarn_edit_remember(session, text);
    if (input == TARN_INPUT_WRONG)
        complain(session);
    else
        run(session, input, text);
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
