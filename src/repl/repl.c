/* repl.c: the prompt: read, run, show, again. What one input is, input.h says.
 *
 * - What is pasted (a bracketed paste of any number of lines) is one input, compiled, run
 *   and remembered as a whole.
 * - A text that begins with "> " is a transcript: it loses prompts and outputs, and its
 *   inputs run one by one, each with its echo. See lua/transcript.lua. A terminal that
 *   sends a paste line by line, as if typed, gets the prompts taken away, not the outputs:
 *   those it sends like inputs. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "repl/repl.h"
#include "core/context.h"
#include "repl/edit.h"
#include "repl/input.h"
#include "repl/interrupt.h"
#include "repl/report.h"
#include "repl/run.h"
#include "repl/terminal.h"
#include <lauxlib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PROMPT   "> "
#define CONTINUE ">> "
#define BLANKS   " \t\r\n"

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

/* Keeps an input for :save; what it came to is noted when its values are shown, or here. */
static void note_input(lua_State *L, const char *text, bool is_expression)
{
    tarn_session_push(L, "note_input");
    lua_pushstring(L, text);
    lua_pushboolean(L, is_expression);
    if (tarn_protected_call(L, 2, 0) != LUA_OK) lua_pop(L, 1);
}

static void note_no_error(lua_State *L)
{
    tarn_session_push(L, "note_no_error");
    if (tarn_protected_call(L, 0, 0) != LUA_OK) lua_pop(L, 1);
}

/* Runs what is on top of the stack and shows what it gives. */
static void run(struct tarn_session *session, enum tarn_input input, const char *text)
{
    lua_State *L = session->L;
    const bool is_lua =
        input == TARN_INPUT_EXPRESSION || input == TARN_INPUT_STATEMENTS;
    if (is_lua) note_input(L, text, input == TARN_INPUT_EXPRESSION);
    int status = tarn_input_run(L, input, text);
    if (status == LUA_OK && is_lua) note_no_error(L);
    if (status == LUA_OK) return;
    if (tarn_interrupted(session->ctx)) leave_echo();
    complain(session);
}

/* ---- Reading ---- */

/* Takes the request to stop back and tells whether there was one. */
static bool was_interrupted(struct tarn_session *session)
{
    bool interrupted = tarn_interrupted(session->ctx);
    if (!session->out_of_time) tarn_clear_interrupt(session->ctx);
    return interrupted;
}

/* The next line of an input. In a transcript that is typed or pasted line by line it loses
 * its prompt, as the first one did. */
static const char *next_line(struct tarn_session *session, bool in_transcript)
{
    static const char prompt[] = CONTINUE;
    const char *line = tarn_edit_line(session, prompt);
    bool prompted = line && strncmp(line, prompt, strlen(prompt)) == 0;
    return in_transcript && prompted ? line + strlen(prompt) : line;
}

/* Reads the rest of an input whose beginning is the string on top of the stack, until it
 * is complete or wrong; that string is then the whole input, the chunk or the message
 * above it. False if ^C dropped it. */
static bool read_rest(struct tarn_session *session, bool in_transcript,
                      enum tarn_input *input)
{
    lua_State *L = session->L;
    int text = lua_gettop(L);
    for (;;) {
        *input = tarn_input_understand(L, lua_tostring(L, text));
        if (*input != TARN_INPUT_INCOMPLETE) return true;
        session->unfinished = lua_tostring(L, text);
        const char *line = next_line(session, in_transcript);
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
    return text[strspn(text, BLANKS)] == '\0';
}

/* Deals with one input whose beginning is the string on top of the stack, and pops it.
 * False if ^C dropped or stopped it. */
static bool handle(struct tarn_session *session, bool in_transcript)
{
    lua_State *L = session->L;
    enum tarn_input input;
    int index = lua_gettop(L);
    bool whole = read_rest(session, in_transcript, &input);
    if (whole) {
        const char *text = lua_tostring(L, index);
        tarn_edit_remember(session, text);
        if (input == TARN_INPUT_WRONG)
            complain(session);
        else
            run(session, input, text);
    }
    lua_settop(L, index - 1);
    return whole && !was_interrupted(session);
}

/* Shows an input as if it had been typed. */
static void echo(const char *text)
{
    fputs(PROMPT, stdout);
    for (; *text; text++) {
        putchar(*text);
        if (*text == '\n') fputs(CONTINUE, stdout);
    }
    putchar('\n');
}

/* Deals with the inputs of a transcript one after the other, as they were once typed. */
static void handle_transcript(struct tarn_session *session, const char *text)
{
    lua_State *L = session->L;
    tarn_session_push(L, "typed_inputs");
    lua_pushstring(L, text);
    lua_call(L, 1, 1);
    if (!lua_istable(L, -1)) { /* merely something that begins like one */
        lua_pushstring(L, text);
        handle(session, false);
        return;
    }
    int inputs = lua_gettop(L);
    lua_Integer count = luaL_len(L, inputs);
    for (lua_Integer i = 1; i <= count; i++) {
        lua_rawgeti(L, inputs, i);
        if (count > 1) echo(lua_tostring(L, -1));
        tarn_interrupts_watch(session);
        if (!handle(session, true)) return;
    }
}

/* Deals with what was typed or pasted at the prompt. */
static void handle_text(struct tarn_session *session, const char *text)
{
    if (text[strspn(text, BLANKS)] == '>') {
        handle_transcript(session, text);
    } else if (!is_blank(text)) {
        lua_pushstring(session->L, text);
        handle(session, false);
    }
}

static void greet(const struct tarn_session *session)
{
    int threads = tarn_threads(session->ctx);
    const char *between = tarn_terminal_columns() < 76 ? "\n" : " ";
    printf("tarn %s, seed %llu, %d thread%s\n", tarn_version(),
           (unsigned long long)session->ctx->seed, threads, threads == 1 ? "" : "s");
    printf("tour() walks through the derivation,%shelp() lists what there is,%s^D "
           "leaves.\n",
           between, between);
}

bool tarn_repl(struct tarn_session *session)
{
    tarn_interrupts_catch(session, true);
    if (session->invocation->init) tarn_run_startup(session);
    was_interrupted(session);
    greet(session);
    tarn_edit_open(session);
    for (;;) {
        lua_settop(session->L, 0);
        tarn_interrupts_watch(session);
        const char *line = tarn_edit_line(session, PROMPT);
        if (session->out_of_time) break;
        if (was_interrupted(session)) continue;
        if (!line) break;
        handle_text(session, line);
        was_interrupted(session);
    }
    putchar('\n');
    return isatty(STDIN_FILENO) || !session->failed;
}
