/* report.c: calls that may fail, and how their errors are shown. See report.h. */
#include "repl/report.h"
#include "repl/session.h"
#include <errno.h>
#include <lauxlib.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of a deep stack only so many frames are shown at either end. */
enum { FRAMES_AT_END = 8 };

/* A frame of the user's: Lua code that is not ours. A one-line input at the prompt has
 * nothing to add to its message. */
static bool is_users(const lua_Debug *frame)
{
    if (*frame->what == 'C') return false;
    if (strncmp(frame->source, TARN_CHUNK_PREFIX, strlen(TARN_CHUNK_PREFIX)) == 0)
        return false;
    bool one_line = strcmp(frame->what, "main") == 0 && frame->currentline <= 1;
    return !(one_line && strcmp(frame->source, TARN_PROMPT_CHUNK) == 0);
}

/* The number of levels on the stack. Each look at a level costs its depth, so that a
 * stack that overflowed must not be walked level by level. */
static int count_levels(lua_State *L)
{
    lua_Debug frame;
    int inside = 1, outside = 1;
    while (lua_getstack(L, outside, &frame)) {
        inside = outside;
        outside *= 2;
    }
    while (inside + 1 < outside) {
        int middle = inside + (outside - inside) / 2;
        if (lua_getstack(L, middle, &frame))
            inside = middle;
        else
            outside = middle;
    }
    return outside;
}

/* The global variable that holds the function on top of the stack, or NULL: who is called
 * at the end of an input, in a tail call, has no other name. Pops the function. */
static const char *global_name(lua_State *L)
{
    const char *name = NULL;
    lua_pushglobaltable(L);
    for (lua_pushnil(L); !name && lua_next(L, -2); lua_pop(L, 1))
        if (lua_type(L, -2) == LUA_TSTRING && lua_rawequal(L, -1, -4))
            name = lua_tostring(L, -2);
    lua_pop(L, name ? 3 : 2);
    return name; /* the table holds the string */
}

/* Adds "  file:line: in function 'f'" to the text if the level is a frame of the user's. */
static bool add_frame(lua_State *L, luaL_Buffer *text, int level)
{
    lua_Debug state, *frame = &state;
    lua_getstack(L, level, frame);
    lua_getinfo(L, "Slnt", frame);
    if (!is_users(frame)) return false;
    if (!frame->name && strcmp(frame->what, "main") != 0) {
        lua_getinfo(L, "f", frame);
        frame->name = frame->namewhat = global_name(L);
    }
    lua_pushfstring(L, "\n  %s:%d: in ", frame->short_src, frame->currentline);
    luaL_addvalue(text);
    if (strcmp(frame->what, "main") == 0)
        lua_pushliteral(L, "main chunk");
    else if (frame->name)
        lua_pushfstring(L, "function '%s'", frame->name);
    else
        lua_pushfstring(L, "function of line %d", frame->linedefined);
    luaL_addvalue(text);
    return true;
}

/* Adds the user's frames, innermost first, the middle of a deep stack left out. */
static void add_frames(lua_State *L, luaL_Buffer *text)
{
    int levels = count_levels(L);
    int level = 1;
    for (int shown = 0; level < levels && shown < FRAMES_AT_END; level++)
        if (add_frame(L, text, level)) shown++;
    if (level < levels - FRAMES_AT_END) {
        luaL_addstring(text, "\n  ...");
        level = levels - FRAMES_AT_END;
    }
    for (; level < levels; level++) add_frame(L, text, level);
}

/* suggest(which, message, text): what a function of lua/meant.lua says about a message. */
static int suggest(lua_State *L)
{
    tarn_session_push(L, lua_tostring(L, 1));
    lua_replace(L, 1);
    lua_call(L, lua_gettop(L) - 1, 1);
    return 1;
}

/* Adds to the message on top of the stack what may have been meant, if Lua has left that
 * open; `text` is what was typed, or NULL. */
static void add_suggestion(lua_State *L, const char *which, const char *text)
{
    int message = lua_gettop(L);
    lua_pushcfunction(L, suggest);
    lua_pushstring(L, which);
    lua_pushvalue(L, message);
    lua_pushstring(L, text);
    if (lua_pcall(L, 3, 1, 0) == LUA_OK && lua_isstring(L, -1)) lua_concat(L, 2);
    lua_settop(L, message);
}

void tarn_explain_syntax(lua_State *L, const char *text)
{
    if (lua_type(L, -1) == LUA_TSTRING) add_suggestion(L, "syntax", text);
}

/* Turns an error value into its message, with the frames of the moment after it. */
static int add_traceback(lua_State *L)
{
    /* An error value that is no string speaks for itself, or is named by its type. */
    if (lua_type(L, 1) != LUA_TSTRING) {
        if (!luaL_callmeta(L, 1, "__tostring") || !lua_isstring(L, -1))
            lua_pushfstring(L, "(error object is a %s value)", luaL_typename(L, 1));
        lua_replace(L, 1);
    }
    lua_settop(L, 1);
    add_suggestion(L, "called", NULL);
    luaL_traceback(L, L, lua_tostring(L, 1), 1);
    lua_setfield(L, LUA_REGISTRYINDEX, TARN_LAST_TRACEBACK);
    luaL_Buffer text;
    luaL_buffinit(L, &text);
    lua_pushvalue(L, 1);
    luaL_addvalue(&text);
    add_frames(L, &text);
    luaL_pushresult(&text);
    return 1;
}

int tarn_protected_call(lua_State *L, int arguments, int results)
{
    int base = lua_gettop(L) - arguments;
    lua_pushcfunction(L, add_traceback);
    lua_insert(L, base);
    int status = lua_pcall(L, arguments, results, base);
    lua_remove(L, base);
    return status;
}

void tarn_show_error(lua_State *L, bool color)
{
    const char *message = "(error value is not a string)";
    size_t length = strlen(message);
    if (lua_type(L, -1) == LUA_TSTRING)
        message = lua_tolstring(L, -1, &length); /* may hold NUL */
    const char *end = memchr(message, '\n', length);
    size_t first_line = end ? (size_t)(end - message) : length;

    fflush(stdout);
    if (color) fputs("\033[31m", stderr);
    fwrite(message, 1, first_line, stderr);
    if (color) fputs("\033[0m", stderr);
    fwrite(message + first_line, 1, length - first_line, stderr);
    fputc('\n', stderr);
    fflush(stderr);
    lua_pop(L, 1);
}

static void say(const char *prefix, const char *format, va_list arguments)
{
    fflush(stdout);
    fputs(prefix, stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
}

void tarn_complain(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say("tarn: ", format, arguments);
    va_end(arguments);
}

void tarn_note(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say("note: ", format, arguments);
    va_end(arguments);
}

void tarn_close_stdout(void)
{
    bool failed = ferror(stdout) != 0, pending = __fpending(stdout) > 0;
    errno = 0;
    bool unclosed = fclose(stdout) != 0 && (pending || errno != EBADF);
    if (failed || unclosed) {
        fprintf(stderr, "%s: write error: %s\n", program_invocation_short_name,
                unclosed ? strerror(errno) : "some of the output is lost");
        _exit(EXIT_FAILURE);
    }
}
