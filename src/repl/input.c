/* input.c: one input of the prompt. See input.h.
 *
 * The state machine is that of Lua's own lua.c, by Ierusalimschy et al., written anew. */
#include "repl/input.h"
#include "repl/report.h"
#include "repl/session.h"
#include <ctype.h>
#include <lauxlib.h>
#include <string.h>

#define LOCAL_PROBE "\n;(...)()"

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

/* Compiles several lines with a `return` before the last one: pasted statements may have
 * an expression at their end. Pushes the chunk, or nothing. */
static bool compile_last_shown(lua_State *L, const char *text)
{
    size_t length = strlen(text);
    while (length > 0 && isspace((unsigned char)text[length - 1])) length--;
    while (length > 0 && text[length - 1] != '\n') length--;
    if (length == 0) return false;
    lua_pushlstring(L, text, length);
    lua_pushfstring(L, "%sreturn %s", lua_tostring(L, -1), text + length);
    int status = compile(L, "", lua_tostring(L, -1), "");
    lua_insert(L, -3);
    lua_pop(L, status == LUA_OK ? 2 : 3);
    return status == LUA_OK;
}

/* Compiles an input: as an expression, else as statements. */
enum tarn_input tarn_input_understand(lua_State *L, const char *text)
{
    const char *first = text + strspn(text, " \t");
    if (*first == '?') {
        tarn_session_push(L, "help");
        return TARN_INPUT_HELP;
    }
    if (*first == '!' || (*first == ':' && first[1] != ':')) { /* ::name:: is Lua */
        tarn_session_push(L, "command");
        return TARN_INPUT_COMMAND;
    }
    int status = compile(L, "return ", text, "");
    if (status == LUA_OK) return TARN_INPUT_EXPRESSION;
    if (wants_more(L, status)) return TARN_INPUT_INCOMPLETE;
    status = compile(L, "", text, "");
    if (status != LUA_OK && compile_last_shown(L, text)) return TARN_INPUT_EXPRESSION;
    if (status != LUA_OK && stuck_at_once(lua_tostring(L, -1), text))
        lua_pop(L, 1); /* the chunk or message that stays is the first one */
    else
        lua_remove(L, -2);
    if (status == LUA_OK) return TARN_INPUT_STATEMENTS;
    if (wants_more(L, status)) return TARN_INPUT_INCOMPLETE;
    tarn_explain_syntax(L, text);
    return TARN_INPUT_WRONG;
}

/* A `;` at the end that is part of the code: with another sign there, which Lua does not
 * know, the text is wrong. In a comment it would not be. */
static bool is_silenced(lua_State *L, const char *text)
{
    size_t length = strlen(text);
    int top = lua_gettop(L);
    while (length > 0 && isspace((unsigned char)text[length - 1])) length--;
    if (length == 0 || text[length - 1] != ';') return false;
    lua_pushlstring(L, text, length - 1);
    const char *changed = lua_pushfstring(L, "%s?", lua_tostring(L, -1));
    bool comment =
        compile(L, "return ", changed, "") == LUA_OK || compile_last_shown(L, changed);
    lua_settop(L, top);
    return !comment;
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

static bool is_lua(enum tarn_input input)
{
    return input == TARN_INPUT_EXPRESSION || input == TARN_INPUT_STATEMENTS;
}

/* What the function is called with: statements with the probe, help with its topic, a
 * command with its line. */
static int push_arguments(lua_State *L, enum tarn_input input, const char *text)
{
    if (input == TARN_INPUT_STATEMENTS) return probe_locals(L, text);
    if (input == TARN_INPUT_EXPRESSION) return 0;
    lua_pushstring(L, input == TARN_INPUT_HELP ? strchr(text, '?') + 1 : text);
    return 1;
}

int tarn_input_run(lua_State *L, enum tarn_input input, const char *text)
{
    int base = lua_gettop(L) - 1;
    if (is_lua(input)) tarn_session_adopt(L);
    int arguments = push_arguments(L, input, text);
    int status = tarn_protected_call(L, arguments, LUA_MULTRET);
    if (status == LUA_OK && lua_gettop(L) > base) status = show_results(L, base, text);
    return status;
}
