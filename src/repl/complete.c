/* complete.c: what a word at the prompt may go on as. See complete.h.
 *
 *   1. "a.b:c" is a path of names, a and b, and a beginning, c. The path is walked.
 *   2. The names that a value has are collected from up to a few tables, raw.
 *   3. What Readline wants is made of those that go on from the beginning. */
#include "repl/complete.h"
#include "repl/session.h"
#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Inheritance through `__index` is followed so deep. */
enum { MAX_DEPTH = 8 };

/* The names found so far. */
struct candidates {
    char **names; /* names[0] is left free for the common prefix */
    size_t count, capacity;
    const char *path; /* what stands before the name: "a.b:" */
    size_t path_length;
    const char *beginning;
    char last; /* what to append if this is the only one */
};

static bool is_name_start(int c)
{
    return isalpha(c) || c == '_';
}

static bool is_name(const char *text)
{
    if (!is_name_start((unsigned char)*text)) return false;
    while (isalnum((unsigned char)*text) || *text == '_') text++;
    return *text == '\0';
}

/* ---- Collecting ---- */

static bool is_known(const struct candidates *found, const char *name)
{
    for (size_t i = 1; i <= found->count; i++)
        if (strcmp(found->names[i] + found->path_length, name) == 0) return true;
    return false;
}

/* Makes room for one more name, the prefix and the NULL at the end. */
static bool reserve(struct candidates *found)
{
    if (found->count + 3 <= found->capacity) return true;
    size_t capacity = 2 * found->capacity + 16;
    char **names = realloc(found->names, capacity * sizeof *names);
    if (!names) return false;
    found->names = names;
    found->capacity = capacity;
    return true;
}

/* Adds a name that goes on from the beginning; without memory it is left out. */
static void add(struct candidates *found, const char *name, char last)
{
    if (strncmp(name, found->beginning, strlen(found->beginning)) != 0) return;
    if (!is_name(name) || is_known(found, name) || !reserve(found)) return;
    size_t length = strlen(name);
    char *full = malloc(found->path_length + length + 1);
    if (!full) return;
    memcpy(full, found->path, found->path_length);
    memcpy(full + found->path_length, name, length + 1);
    found->names[++found->count] = full;
    found->last = last;
}

/* What follows a value of this type in code, if anything is sure to. */
static char follower(lua_State *L, int index)
{
    return lua_type(L, index) == LUA_TFUNCTION ? '(' : '\0';
}

/* Adds the keys of the table on top of the stack, with `:` only those of functions. */
static void add_keys(lua_State *L, struct candidates *found, bool methods)
{
    lua_pushnil(L);
    while (lua_next(L, -2)) {
        char last = follower(L, -1);
        if (lua_type(L, -2) == LUA_TSTRING && (!methods || last == '('))
            add(found, lua_tostring(L, -2), last);
        lua_pop(L, 1);
    }
}

/* Pushes the raw field of the metatable of the value on top if that is a table. */
static bool push_meta_table(lua_State *L, const char *field)
{
    if (!lua_getmetatable(L, -1)) return false;
    lua_pushstring(L, field);
    lua_rawget(L, -2);
    lua_remove(L, -2);
    if (lua_istable(L, -1)) return true;
    lua_pop(L, 1);
    return false;
}

/* Adds the strings that the list on top of the stack holds. */
static void add_list(lua_State *L, struct candidates *found)
{
    for (lua_Integer i = 1; lua_rawgeti(L, -1, i) == LUA_TSTRING; i++) {
        add(found, lua_tostring(L, -1), '\0');
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

/* Adds the names that the value on top of the stack has, its own and inherited. */
static void add_members(lua_State *L, struct candidates *found, bool methods)
{
    int top = lua_gettop(L);
    if (!methods && push_meta_table(L, "__fields")) add_list(L, found);
    lua_settop(L, top);
    if (push_meta_table(L, "__methods")) add_keys(L, found, methods);
    lua_settop(L, top);

    /* Follow the tables that lookups go on to. */
    lua_pushvalue(L, -1);
    for (int depth = 0; depth < MAX_DEPTH; depth++) {
        if (lua_istable(L, -1)) add_keys(L, found, methods);
        if (!push_meta_table(L, "__index")) break;
    }
    lua_settop(L, top);
}

/* Adds the globals of the user: his own and Lua's, tarn's, and the words of Lua. */
static void add_globals(lua_State *L, struct candidates *found)
{
    static const char *const words[] = {
        "and",      "break",  "do",   "else", "elseif", "end",  "false", "for",
        "function", "goto",   "if",   "in",   "local",  "nil",  "not",   "or",
        "repeat",   "return", "then", "true", "until",  "while"};

    lua_pushglobaltable(L);
    add_keys(L, found, false);
    tarn_session_push(L, "public");
    add_keys(L, found, false);
    lua_pop(L, 2);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) add(found, words[i], ' ');
}

/* ---- Walking the path ---- */

/* Replaces the value on top by its raw member `name`; false if there is none. */
static bool step(lua_State *L, const char *name, size_t length)
{
    int top = lua_gettop(L);
    for (int depth = 0; depth < MAX_DEPTH; depth++) {
        if (lua_istable(L, -1)) {
            lua_pushlstring(L, name, length);
            lua_rawget(L, -2);
            if (!lua_isnil(L, -1)) {
                lua_replace(L, top);
                lua_settop(L, top);
                return true;
            }
            lua_pop(L, 1);
        }
        if (!push_meta_table(L, "__index") && !push_meta_table(L, "__methods")) break;
    }
    lua_settop(L, top);
    return false;
}

/* Pushes the value of a path such as "a.b." (the last sign is not looked at). */
static bool push_path(lua_State *L, const char *path, const char *end)
{
    lua_pushglobaltable(L);
    for (bool first = true; path < end; first = false) {
        size_t length = strcspn(path, ".:");
        bool found = step(L, path, length);
        if (!found && first) {
            lua_pop(L, 1);
            tarn_session_push(L, "public");
            found = step(L, path, length);
        }
        if (!found) {
            lua_pop(L, 1);
            return false;
        }
        path += length + 1;
    }
    return true;
}

/* ---- What Readline wants ---- */

/* Fills names[0] with the longest common prefix of the others, and ends the array. */
static char **finish(struct candidates *found)
{
    if (found->count == 0) {
        free(found->names);
        return NULL;
    }
    size_t common = strlen(found->names[1]);
    for (size_t i = 2; i <= found->count; i++) {
        size_t same = 0;
        while (same < common && found->names[i][same] == found->names[1][same]) same++;
        common = same;
    }
    char *prefix = malloc(common + 1);
    if (prefix) {
        memcpy(prefix, found->names[1], common);
        prefix[common] = '\0';
    }
    found->names[0] = prefix;
    found->names[found->count + 1] = NULL;
    if (found->count == 1) {
        free(found->names[1]);
        found->names[1] = NULL;
    }
    return found->names;
}

/* Collects; runs protected, for Lua may be out of memory. */
static int collect(lua_State *L)
{
    struct candidates *found = lua_touserdata(L, 1);
    if (found->path_length == 0)
        add_globals(L, found);
    else if (push_path(L, found->path, found->path + found->path_length))
        add_members(L, found, found->path[found->path_length - 1] == ':');
    return 0;
}

char **tarn_complete(lua_State *L, const char *word, char *last)
{
    struct candidates found = {.path = word, .beginning = word};
    for (const char *sign = word; *sign; sign++)
        if (*sign == '.' || *sign == ':') found.beginning = sign + 1;
    found.path_length = (size_t)(found.beginning - word);

    lua_pushcfunction(L, collect);
    lua_pushlightuserdata(L, &found);
    if (lua_pcall(L, 1, 0, 0) != LUA_OK) lua_pop(L, 1);
    if (found.count == 1) *last = found.last;
    return finish(&found);
}
