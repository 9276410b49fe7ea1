/* files.c: the module "tarn.lab.system": what Lua's own io and os do not know of files, of
 * this program and of the machine.
 *
 *   list(path)      -> names without . and .. in no order, or nil, why not
 *   kind(path)      -> "file", "folder", "link" (not followed) or "other", or nil
 *   stat(path)      -> {kind =, size =, mtime =, mode =, writable =}, links followed; or nil
 *   folder(path)    -> true if the folder is or now is there, or nil, why not
 *   realpath(path)  -> the path from the root, links followed, or nil, why not
 *   here()          -> the working folder
 *   sleep(seconds)
 *   cores()         -> how many processors this process may use
 *   tty(descriptor) -> whether it is a terminal
 *   program         the path of this program's file
 *   installed, source  where exercises are: of the installation, and of the source tree
 *   build           the folder that the program was built in
 *
 * Nothing here raises for what the file system says: that is for the caller to tell. */
#include "lab/lab.h"
#include <dirent.h>
#include <errno.h>
#include <lauxlib.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* What make says; without it, as where an editor looks at the file. */
#ifndef TARN_EXERCISESDIR
#define TARN_EXERCISESDIR ""
#define TARN_SOURCE       ""
#define TARN_BUILD        ""
#endif

/* Pushes nil and the system's reason. */
static int give_reason(lua_State *L)
{
    const int reason = errno;
    lua_pushnil(L);
    lua_pushstring(L, strerror(reason));
    return 2;
}

/* An open folder as a userdata: Lua may raise while it is being read. */
#define FOLDER "tarn.lab.folder"

static int close_folder(lua_State *L)
{
    DIR **folder = luaL_checkudata(L, 1, FOLDER);
    if (*folder) closedir(*folder);
    *folder = NULL;
    return 0;
}

static int list(lua_State *L)
{
    const char *path = luaL_checkstring(L, 1);
    DIR **folder = lua_newuserdatauv(L, sizeof *folder, 0);
    *folder = NULL;
    luaL_setmetatable(L, FOLDER);
    if (!(*folder = opendir(path))) return give_reason(L);

    lua_newtable(L);
    lua_Integer count = 0;
    for (struct dirent *entry; (entry = readdir(*folder));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        lua_pushstring(L, entry->d_name);
        lua_rawseti(L, -2, ++count);
    }
    closedir(*folder);
    *folder = NULL;
    return 1;
}

static const char *kind_of(mode_t mode)
{
    return S_ISREG(mode)   ? "file"
           : S_ISDIR(mode) ? "folder"
           : S_ISLNK(mode) ? "link"
                           : "other";
}

static int kind(lua_State *L)
{
    struct stat is;
    if (lstat(luaL_checkstring(L, 1), &is) != 0) return give_reason(L);
    lua_pushstring(L, kind_of(is.st_mode));
    return 1;
}

static int stat_file(lua_State *L)
{
    const char *path = luaL_checkstring(L, 1);
    struct stat is;
    if (stat(path, &is) != 0) return give_reason(L);
    const struct timespec changed = is.st_mtim;
    lua_createtable(L, 0, 5);
    lua_pushstring(L, kind_of(is.st_mode));
    lua_setfield(L, -2, "kind");
    lua_pushnumber(L, (lua_Number)changed.tv_sec + (lua_Number)changed.tv_nsec * 1e-9);
    lua_setfield(L, -2, "mtime");
    lua_pushinteger(L, is.st_size);
    lua_setfield(L, -2, "size");
    lua_pushinteger(L, is.st_mode & 07777);
    lua_setfield(L, -2, "mode");
    lua_pushboolean(L, access(path, W_OK) == 0);
    lua_setfield(L, -2, "writable");
    return 1;
}

static int folder(lua_State *L)
{
    const char *path = luaL_checkstring(L, 1);
    struct stat is;
    if (mkdir(path, 0777) != 0 && errno != EEXIST) return give_reason(L);
    if (stat(path, &is) != 0) return give_reason(L);
    if (!S_ISDIR(is.st_mode)) {
        errno = ENOTDIR;
        return give_reason(L);
    }
    lua_pushboolean(L, true);
    return 1;
}

static int real_path(lua_State *L)
{
    char path[PATH_MAX];
    if (!realpath(luaL_checkstring(L, 1), path)) return give_reason(L);
    lua_pushstring(L, path);
    return 1;
}

static int here(lua_State *L)
{
    char path[PATH_MAX];
    if (!getcwd(path, sizeof path)) return give_reason(L);
    lua_pushstring(L, path);
    return 1;
}

static int sleep_seconds(lua_State *L)
{
    const lua_Number seconds = luaL_checknumber(L, 1);
    const time_t whole = (time_t)seconds;
    const struct timespec time = {whole, (long)((seconds - (lua_Number)whole) * 1e9)};
    nanosleep(&time, NULL);
    return 0;
}

static int cores(lua_State *L)
{
    cpu_set_t set;
    const int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    lua_pushinteger(L, count);
    return 1;
}

static int tty(lua_State *L)
{
    lua_pushboolean(L, isatty((int)luaL_checkinteger(L, 1)));
    return 1;
}

/* Pushes the path of this program's file. */
static void push_program(lua_State *L)
{
    char path[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
    lua_pushlstring(L, path, length > 0 ? (size_t)length : 0);
}

void tarn_lab_files_open(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"cores", cores},    {"folder", folder},       {"here", here},
        {"kind", kind},      {"list", list},           {"realpath", real_path},
        {"stat", stat_file}, {"sleep", sleep_seconds}, {"tty", tty},
        {NULL, NULL},
    };
    luaL_newmetatable(L, FOLDER);
    lua_pushcfunction(L, close_folder);
    lua_setfield(L, -2, "__gc");
    lua_pop(L, 1);

    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    luaL_newlib(L, functions);
    push_program(L);
    lua_setfield(L, -2, "program");
    lua_pushstring(L, TARN_EXERCISESDIR);
    lua_setfield(L, -2, "installed");
    lua_pushstring(L, TARN_SOURCE "/exercises");
    lua_setfield(L, -2, "source");
    lua_pushstring(L, TARN_BUILD);
    lua_setfield(L, -2, "build");
    lua_setfield(L, -2, "tarn.lab.system");
    lua_pop(L, 1);
}

void tarn_lab_push_system(lua_State *L)
{
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    lua_getfield(L, -1, "tarn.lab.system");
    lua_remove(L, -2);
}
