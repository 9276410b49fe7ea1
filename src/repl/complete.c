/* complete.c: what a word at the prompt may go on as, as Readline wants it. See
 * complete.h. */
#include "repl/complete.h"
#include "repl/session.h"
#include <stdlib.h>
#include <string.h>

/* What a call of `collect` works on. */
struct request {
    const char *before, *line;
    int point;
    struct tarn_completion *completion;
};

static void clear(struct tarn_completion *completion)
{
    for (size_t i = 0; completion->matches && completion->matches[i]; i++)
        free(completion->matches[i]);
    free(completion->matches);
    free(completion->note);
    *completion = (struct tarn_completion){0};
}

/* The length that all names of the list on top of the stack begin with. */
static size_t common_length(lua_State *L, lua_Integer count)
{
    lua_rawgeti(L, -1, 1);
    const char *first = lua_tostring(L, -1); /* the list keeps it alive */
    size_t common = strlen(first);
    lua_pop(L, 1);
    for (lua_Integer i = 2; i <= count; i++) {
        lua_rawgeti(L, -1, i);
        const char *name = lua_tostring(L, -1);
        size_t same = 0;
        while (same < common && name[same] == first[same]) same++;
        common = same;
        lua_pop(L, 1);
    }
    return common;
}

/* Copies the list of names on top of the stack; cut short where memory ends. A single
 * one is its own common prefix, and the only entry. */
static char **copy_names(lua_State *L)
{
    lua_Integer count = (lua_Integer)lua_rawlen(L, -1);
    if (count == 0) return NULL;
    char **names = calloc((size_t)count + 2, sizeof *names);
    if (!names) return NULL;
    size_t common = common_length(L, count);
    lua_rawgeti(L, -1, 1);
    names[0] = strndup(lua_tostring(L, -1), common);
    lua_pop(L, 1);
    for (lua_Integer i = 1; i <= count && count > 1 && names[i - 1]; i++) {
        lua_rawgeti(L, -1, i);
        names[i] = strdup(lua_tostring(L, -1));
        lua_pop(L, 1);
    }
    return names;
}

/* Every sign that is not part of a name, but those of the word itself. */
static void set_breaks(char *breaks, const char *word)
{
    static const char all[] = " \t\n\"'`~!@#$%^&*()-+=[]{}\\|;<>,/?.:";
    for (const char *sign = all; *sign; sign++)
        if (!strchr(word, *sign)) *breaks++ = *sign;
    *breaks = '\0';
}

/* Asks Lua and takes its answer over; runs protected. */
static int collect(lua_State *L)
{
    const struct request *request = lua_touserdata(L, 1);
    struct tarn_completion *completion = request->completion;
    tarn_session_push(L, "complete");
    size_t offset = request->before ? strlen(request->before) + 1 : 0;
    lua_pushfstring(L, "%s%s%s", request->before ? request->before : "",
                    request->before ? "\n" : "", request->line);
    lua_pushinteger(L, (lua_Integer)offset + request->point);
    lua_call(L, 2, 1);
    lua_getfield(L, 2, "files");
    completion->files = lua_toboolean(L, -1);
    lua_getfield(L, 2, "quoted");
    completion->quoted = lua_toboolean(L, -1);
    lua_getfield(L, 2, "append");
    completion->append = *lua_tostring(L, -1);
    lua_getfield(L, 2, "word");
    set_breaks(completion->breaks, lua_tostring(L, -1));
    lua_getfield(L, 2, "note");
    if (lua_isstring(L, -1)) completion->note = strdup(lua_tostring(L, -1));
    lua_getfield(L, 2, "names");
    completion->matches = copy_names(L);
    return 0;
}

void tarn_complete(lua_State *L, const char *before, const char *line, int point,
                   struct tarn_completion *completion)
{
    struct request request = {before, line, point, completion};
    clear(completion);
    lua_pushcfunction(L, collect);
    lua_pushlightuserdata(L, &request);
    if (lua_pcall(L, 1, 0, 0) == LUA_OK) return;
    lua_pop(L, 1);
    clear(completion);
}
