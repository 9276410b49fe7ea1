/* taken.c: files that learners hand in, and folders that their programs leave: the module
 * "tarn.lab.system", for lua/lab/run.lua.
 *
 *   temporary(prefix)  -> the path of a new folder that nobody else can look into, in $TMPDIR
 *   read(path, most)   -> the bytes of a regular file of at most so many; or nil, why not
 *   remove(path)       -> whether it is gone, with everything below it
 *   guard(path)        -> a value that does so when it is closed or collected
 *   random()           -> 16 bytes that nobody knows
 *   cc                    the C compiler of the build
 *
 * What is looked at may be anything: a link, a device, a folder that can't be read. No link is
 * followed, and nothing waits for anybody. */
#include "lab/lab.h"
#include "repl/bind.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What make says; without it, as where an editor looks at the file. */
#ifndef TARN_CC
#define TARN_CC ""
#endif

static int failed(lua_State *L, const char *path)
{
    const int problem = errno;
    lua_pushnil(L);
    lua_pushfstring(L, "%s: %s", path, strerror(problem));
    return 2;
}

/* temporary(prefix) -> the path of a new folder that nobody else can look into. */
static int temporary(lua_State *L)
{
    const char *prefix = luaL_checkstring(L, 1), *place = getenv("TMPDIR");
    char path[PATH_MAX], whole[PATH_MAX];
    const int n = snprintf(path, sizeof path, "%s/%s-XXXXXX",
                           place && *place ? place : "/tmp", prefix);
    if (n < 0 || n >= (int)sizeof path) errno = ENAMETOOLONG;
    if (n < 0 || n >= (int)sizeof path || !mkdtemp(path) || !realpath(path, whole))
        return failed(L, path);
    lua_pushstring(L, whole);
    return 1;
}

enum { DEEPEST = 40 };

/* Removes a name in an open folder with all below it; how deep it may go is limited, and
 * what is deeper stays. */
static bool remove_at(int at, const char *name, int depth)
{
    if (unlinkat(at, name, 0) == 0 || errno == ENOENT) return true;
    if ((errno != EISDIR && errno != EPERM) || depth == 0) return false;
    const int here = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *folder = here >= 0 ? fdopendir(here) : NULL;
    if (!folder) {
        if (here >= 0) close(here);
        return unlinkat(at, name, AT_REMOVEDIR) == 0;
    }
    fchmod(here, 0700);
    for (const struct dirent *entry; (entry = readdir(folder));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            remove_at(here, entry->d_name, depth - 1);
    closedir(folder);
    return unlinkat(at, name, AT_REMOVEDIR) == 0;
}

/* remove(path) -> whether it is gone, with everything below it. */
static int remove_tree(lua_State *L)
{
    lua_pushboolean(L, remove_at(AT_FDCWD, luaL_checkstring(L, 1), DEEPEST));
    return 1;
}

/* guard(path) -> a value that removes it when it is closed or collected, in C: Lua code is
 * stopped at once after ^C. */
#define GUARD "tarn.lab.guard"

static int remove_guarded(lua_State *L)
{
    luaL_checkudata(L, 1, GUARD);
    lua_getiuservalue(L, 1, 1);
    if (lua_isstring(L, -1)) remove_at(AT_FDCWD, lua_tostring(L, -1), DEEPEST);
    lua_pushnil(L);
    lua_setiuservalue(L, 1, 1);
    return 0;
}

static int guard(lua_State *L)
{
    luaL_checkstring(L, 1);
    lua_newuserdatauv(L, 0, 1);
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, -2, 1);
    luaL_setmetatable(L, GUARD);
    return 1;
}

/* Opens what must be a regular file of at most so many bytes; else NULL and why. */
static FILE *open_regular(const char *path, lua_Integer most, const char **why)
{
    struct stat is;
    const int file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    *why = file >= 0 || errno != ELOOP ? strerror(errno) : "it is a symbolic link";
    if (file < 0) return NULL;
    *why = NULL;
    if (fstat(file, &is) != 0 || !S_ISREG(is.st_mode))
        *why = "it is no regular file";
    else if (is.st_size > most)
        *why = "it is too large";
    FILE *stream = *why ? NULL : fdopen(file, "rb");
    if (!stream) close(file);
    return stream;
}

/* read(path, most) -> the bytes of a regular file that is no link; or nil, why not. */
static int read_regular(lua_State *L)
{
    const char *path = luaL_checkstring(L, 1), *why;
    const lua_Integer most = luaL_checkinteger(L, 2);
    luaL_Buffer text;
    char *bytes = luaL_buffinitsize(L, &text, (size_t)most);
    FILE *file = open_regular(path, most, &why);
    if (!file) {
        lua_pushnil(L);
        lua_pushfstring(L, "%s: %s", path, why);
        return 2;
    }
    const size_t size = fread(bytes, 1, (size_t)most, file);
    fclose(file);
    luaL_pushresultsize(&text, size);
    return 1;
}

static int random_bytes(lua_State *L)
{
    char bytes[16];
    if (getentropy(bytes, sizeof bytes) != 0) return failed(L, "getentropy");
    lua_pushlstring(L, bytes, sizeof bytes);
    return 1;
}

void tarn_lab_taken_open(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"temporary", temporary}, {"remove", remove_tree},  {"guard", guard},
        {"read", read_regular},   {"random", random_bytes}, {NULL, NULL}};
    static const luaL_Reg guarded[] = {
        {"__close", remove_guarded}, {"__gc", remove_guarded}, {NULL, NULL}};
    luaL_newmetatable(L, GUARD);
    luaL_setfuncs(L, guarded, 0);
    lua_pop(L, 1);
    tarn_lab_push_system(L);
    luaL_setfuncs(L, functions, 0);
    lua_pushliteral(L, TARN_CC);
    lua_setfield(L, -2, "cc");
    lua_pop(L, 1);
}
