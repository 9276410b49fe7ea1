/* lua_options.c: the options table that may end a call, and what was meant by a word
 * that nobody knows.
 *
 * A misspelt option that is silently ignored costs an afternoon; here it is an error
 * that names the nearest one. Options are read without metamethods: no code runs. */
#include "repl/bind.h"
#include <stdio.h>
#include <string.h>

const char *tarn_lua_nearest_key(lua_State *L, int index, const char *word)
{
    const char *best = NULL;
    size_t least_far = SIZE_MAX;
    index = lua_absindex(L, index);
    lua_pushnil(L);
    while (lua_next(L, index)) {
        lua_pop(L, 1);
        if (lua_type(L, -1) == LUA_TSTRING)
            tarn_nearer(word, lua_tostring(L, -1), &best, &least_far);
    }
    return best;
}

static bool listed(const char *word, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(word, *names) == 0) return true;
    return false;
}

/* Writes names as "a, b, c", cut off where the buffer ends. */
static const char *join(const char *const *names, char *buffer, size_t limit)
{
    size_t used = 0;
    buffer[0] = 0;
    for (size_t i = 0; names[i] && used < limit; i++)
        used +=
            (size_t)snprintf(buffer + used, limit - used, i ? ", %s" : "%s", names[i]);
    return buffer;
}

static void unknown_option(lua_State *L, const char *function, const char *option,
                           const char *const *names)
{
    char all[200];
    const char *near = tarn_nearest(option, names);
    if (near)
        tarn_lua_fail(L, "%s: unknown option '%s'; did you mean '%s'?", function,
                      option, near);
    if (!*names)
        tarn_lua_fail(L, "%s: unknown option '%s'; it takes none", function, option);
    tarn_lua_fail(L, "%s: unknown option '%s', expected one of %s", function, option,
                  join(names, all, sizeof all));
}

bool tarn_lua_options(lua_State *L, int index, const char *function,
                      const char *const *names)
{
    char found[80];
    if (lua_isnoneornil(L, index)) return false;
    if (!lua_istable(L, index))
        tarn_lua_fail(L, "%s: argument %d is %s, expected a table of options", function,
                      index, tarn_lua_describe(L, index, found, sizeof found));
    lua_pushnil(L);
    while (lua_next(L, index)) {
        lua_pop(L, 1);
        if (lua_type(L, -1) != LUA_TSTRING)
            tarn_lua_fail(L, "%s: the table of options has the key %s, expected names",
                          function, tarn_lua_describe(L, -1, found, sizeof found));
        if (!listed(lua_tostring(L, -1), names))
            unknown_option(L, function, lua_tostring(L, -1), names);
    }
    return true;
}

/* Pushes the option and tells whether it is there; pushes nothing if it is not. */
static bool push_option(lua_State *L, int index, const char *name)
{
    if (!lua_istable(L, index)) return false;
    index = lua_absindex(L, index);
    lua_pushstring(L, name);
    if (lua_rawget(L, index) != LUA_TNIL) return true;
    lua_pop(L, 1);
    return false;
}

/* Raises that the option on top of the stack is not what was expected. */
static void wrong_option(lua_State *L, const char *function, const char *name,
                         const char *expected)
{
    char found[80];
    tarn_lua_fail(L, "%s: %s is %s, expected %s", function, name,
                  tarn_lua_describe(L, -1, found, sizeof found), expected);
}

bool tarn_lua_opt_number(lua_State *L, int index, const char *function,
                         const char *name, double *value)
{
    if (!push_option(L, index, name)) return false;
    if (lua_type(L, -1) != LUA_TNUMBER) wrong_option(L, function, name, "a number");
    *value = tarn_lua_real(L, -1);
    lua_pop(L, 1);
    return true;
}

bool tarn_lua_opt_integer(lua_State *L, int index, const char *function,
                          const char *name, lua_Integer *value)
{
    if (!push_option(L, index, name)) return false;
    if (!tarn_lua_integer(L, -1, value)) wrong_option(L, function, name, "an integer");
    lua_pop(L, 1);
    return true;
}

bool tarn_lua_opt_boolean(lua_State *L, int index, const char *function,
                          const char *name, bool *value)
{
    if (!push_option(L, index, name)) return false;
    if (!lua_isboolean(L, -1)) wrong_option(L, function, name, "true or false");
    *value = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return true;
}

/* Raises that the string on top of the stack is none of the words. */
static void wrong_word(lua_State *L, const char *function, const char *name,
                       const char *const *words)
{
    char all[200];
    const char *word = lua_tostring(L, -1), *near = tarn_nearest(word, words);
    join(words, all, sizeof all);
    if (near)
        tarn_lua_fail(L, "%s: %s is '%s', expected one of %s; did you mean '%s'?",
                      function, name, word, all, near);
    tarn_lua_fail(L, "%s: %s is '%s', expected one of %s", function, name, word, all);
}

bool tarn_lua_opt_word(lua_State *L, int index, const char *function, const char *name,
                       const char *const *words, int *position)
{
    char expected[200];
    if (!push_option(L, index, name)) return false;
    if (lua_type(L, -1) != LUA_TSTRING) {
        snprintf(expected, sizeof expected, "one of ");
        join(words, expected + strlen(expected), sizeof expected - strlen(expected));
        wrong_option(L, function, name, expected);
    }
    for (int i = 0; words[i]; i++) {
        if (strcmp(lua_tostring(L, -1), words[i]) != 0) continue;
        *position = i;
        lua_pop(L, 1);
        return true;
    }
    wrong_word(L, function, name, words);
    return false;
}
