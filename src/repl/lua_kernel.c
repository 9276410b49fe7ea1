/* lua_kernel.c: a user's own kernel, loaded and launched: the module tarn.loader, for
 * lua/kernel.lua, which compiles it. Chapter 11.
 *
 * A shared object stays loaded until the program ends: the emulated device keeps what it knows
 * of one, and a changed file becomes another. */
#include "core/device.h"
#include "core/tensor.h"
#include "cuda/user.h"
#include "devices.h"
#include "emu/inside.h"
#include "repl/bind.h"
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What make says of the build; without it, as where an editor looks at the file. */
#ifndef TARN_CXX
#define TARN_CXX        ""
#define TARN_NVCC       ""
#define TARN_BUILD      ""
#define TARN_SOURCE     ""
#define TARN_KERNELSDIR ""
#endif

/* ---- Loading --------------------------------------------------------------------------- */

/* open(path) -> the kernel, how many arguments it takes; or nil, why not. */
static int open_kernel(lua_State *L)
{
    void *object = dlopen(luaL_checkstring(L, 1), RTLD_NOW | RTLD_LOCAL);
    const struct tarn_user_kernel *kernel =
        object ? dlsym(object, "tarn_user_kernel") : NULL;
    if (!kernel) {
        const char *why = dlerror();
        lua_pushnil(L);
        lua_pushstring(L, why ? why : "it has no kernel");
        return 2;
    }
    lua_pushlightuserdata(L, (void *)(uintptr_t)kernel);
    lua_pushinteger(L, kernel->count);
    return 2;
}

/* folder(path) -> true, if there is or now is a folder of the user's own that nobody else can
 * write to: what lies in it becomes a part of this program. Else false, why not. */
static int folder(lua_State *L)
{
    const char *path = luaL_checkstring(L, 1), *why = NULL;
    struct stat is;
    if ((mkdir(path, 0700) != 0 && errno != EEXIST) || stat(path, &is) != 0)
        why = strerror(errno);
    else if (!S_ISDIR(is.st_mode))
        why = "it is no folder";
    else if (is.st_uid != geteuid() || (is.st_mode & (S_IWGRP | S_IWOTH)))
        why = "others can write to it";
    lua_pushboolean(L, !why);
    lua_pushstring(L, why);
    return 2;
}

/* Where the program is: the folder of its file, or "". */
static void push_program_folder(lua_State *L)
{
    char path[4096];
    const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    path[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(path, '/');
    if (slash) *slash = '\0';
    lua_pushstring(L, path);
}

/* ---- The grid --------------------------------------------------------------------------- */

/* The launch that is being prepared: its kernel, and how to speak of it. */
struct launch {
    const struct tarn_user_kernel *kernel;
    const char *device; /* "emu", "cuda:0" */
    int names;          /* stack index of the names of its arguments */
};

static void refuse_extent(lua_State *L, const struct launch *l, const char *option,
                          int index)
{
    char found[80];
    tarn_lua_fail(L,
                  "%s: %s is %s, expected a positive whole number or up to three of "
                  "them, {x, y, z}",
                  l->kernel->name, option,
                  tarn_lua_describe(L, index, found, sizeof found));
}

static bool to_extent(lua_State *L, int index, unsigned *extent)
{
    lua_Integer n;
    if (!tarn_lua_integer(L, index, &n) || n < 1 || n > INT32_MAX) return false;
    *extent = (unsigned)n;
    return true;
}

/* grid = 4, block = {16, 16}: what is left out is 1. */
static void read_extents(lua_State *L, const struct launch *l, int options,
                         const char *name, unsigned extents[3])
{
    extents[0] = extents[1] = extents[2] = 1;
    lua_getfield(L, options, name);
    const int at = lua_gettop(L);
    if (lua_istable(L, at)) {
        const lua_Unsigned n = lua_rawlen(L, at);
        if (n < 1 || n > 3) refuse_extent(L, l, name, at);
        for (int i = 0; i < (int)n; i++) {
            lua_rawgeti(L, at, i + 1);
            if (!to_extent(L, -1, &extents[i])) refuse_extent(L, l, name, -1);
            lua_pop(L, 1);
        }
    } else if (!to_extent(L, at, &extents[0]))
        refuse_extent(L, l, name, at);
    lua_pop(L, 1);
}

static struct tarn_user_grid read_grid(lua_State *L, const struct launch *l,
                                       int options)
{
    static const char *const known[] = {"grid", "block", "shared", NULL};
    const char *name = l->kernel->name;
    struct tarn_user_grid grid;
    lua_Integer shared = 0;
    char found[80];
    if (lua_type(L, options) != LUA_TTABLE)
        tarn_lua_fail(
            L,
            "%s: the launch is %s, expected a table such as {grid=4, block=64} "
            "before the kernel's arguments",
            name, tarn_lua_describe(L, options, found, sizeof found));
    tarn_lua_options(L, options, name, known);
    read_extents(L, l, options, "grid", grid.grid);
    read_extents(L, l, options, "block", grid.block);
    tarn_lua_opt_integer(L, options, name, "shared", &shared);
    if (shared < 0)
        tarn_lua_fail(L, "%s: shared is %lld, expected a number of bytes", name,
                      (long long)shared);
    grid.shared = (size_t)shared;
    return grid;
}

/* ---- The kernel's own arguments ----------------------------------------------------------- */

union value {
    void *pointer;
    float f;
    double d;
    int64_t integer; /* little end first: its low bytes are those of shorter ones */
    bool b;
};

/* "argument 2 (n)", or without the name where it is not known. */
struct argument_text {
    char text[100];
};

static struct argument_text argument_text(lua_State *L, const struct launch *l, int i)
{
    struct argument_text is;
    lua_rawgeti(L, l->names, i + 1);
    if (lua_type(L, -1) == LUA_TSTRING)
        snprintf(is.text, sizeof is.text, "argument %d (%s)", i + 1,
                 lua_tostring(L, -1));
    else
        snprintf(is.text, sizeof is.text, "argument %d", i + 1);
    lua_pop(L, 1);
    return is;
}

static void refuse(lua_State *L, const struct launch *l, int i, int index,
                   const char *expected)
{
    char found[120];
    tarn_lua_fail(L, "%s: %s is %s, expected %s", l->kernel->name,
                  argument_text(L, l, i).text,
                  tarn_lua_describe(L, index, found, sizeof found), expected);
}

static void *tensor_data(lua_State *L, const struct launch *l, int i, int index,
                         size_t bytes)
{
    const tarn_tensor *t = tarn_lua_to_tensor(L, index);
    const tarn_dtype dtype = bytes == sizeof(float) ? TARN_FLOAT32 : TARN_FLOAT64;
    const char *name = l->kernel->name, *expected = tarn_dtype_name(dtype);
    char words[60];
    snprintf(words, sizeof words, "a tensor of %s on %s", expected, l->device);
    if (!t) refuse(L, l, i, index, words);
    if (strcmp(tarn_tensor_device(t), l->device) != 0)
        tarn_lua_fail(L, "%s: %s is on %s, expected %s; hint: t:to(\"%.4s\")", name,
                      argument_text(L, l, i).text, tarn_tensor_device(t), words,
                      l->device);
    if (tarn_tensor_dtype(t) != dtype)
        tarn_lua_fail(L, "%s: %s is %s, expected %s", name, argument_text(L, l, i).text,
                      tarn_dtype_name(tarn_tensor_dtype(t)), words);
    if (!tarn_tensor_is_contiguous(t))
        tarn_lua_fail(
            L,
            "%s: %s has its elements in another order than its shape, as after "
            "t:t(); make it contiguous first: t:contiguous()",
            name, argument_text(L, l, i).text);
    return t->data;
}

static int64_t read_integer(lua_State *L, const struct launch *l, int i, int index)
{
    const struct tarn_user_argument a = l->kernel->arguments[i];
    const int bits = 8 * a.bytes;
    lua_Integer n = 0;
    if (!tarn_lua_integer(L, index, &n)) refuse(L, l, i, index, "an integer");
    const lua_Integer low = a.kind == 'u' ? 0
                            : bits == 64  ? INT64_MIN
                                          : -((lua_Integer)1 << (bits - 1));
    const lua_Integer high =
        bits == 64 ? INT64_MAX : ((lua_Integer)1 << (bits - (a.kind == 'i'))) - 1;
    char words[80];
    snprintf(words, sizeof words, "an integer from %lld to %lld", (long long)low,
             (long long)high);
    if (n < low || n > high) refuse(L, l, i, index, words);
    return n;
}

static void read_argument(lua_State *L, const struct launch *l, int i, int index,
                          union value *value)
{
    const struct tarn_user_argument a = l->kernel->arguments[i];
    switch (a.kind) {
    case 'p': value->pointer = tensor_data(L, l, i, index, a.bytes); return;
    case 'b':
        if (!lua_isboolean(L, index)) refuse(L, l, i, index, "true or false");
        value->b = lua_toboolean(L, index);
        return;
    case 'f':
        if (lua_type(L, index) != LUA_TNUMBER) refuse(L, l, i, index, "a number");
        if (a.bytes == sizeof(float))
            value->f = (float)lua_tonumber(L, index);
        else
            value->d = lua_tonumber(L, index);
        return;
    default: value->integer = read_integer(L, l, i, index);
    }
}

/* ---- The launch ---------------------------------------------------------------------------- */

static tarn_status run(lua_State *L, const struct launch *l, bool check,
                       const struct tarn_user_grid *grid, void **arguments)
{
    tarn_context *ctx = tarn_lua_context(L);
#ifdef HAVE_EMU
    const bool before = tarn_emu_settings.check;
    tarn_emu_settings.check = before || check;
    const tarn_status status = l->kernel->run(ctx, grid, arguments);
    tarn_emu_settings.check = before;
    return status;
#else
    (void)check;
    return l->kernel->run(ctx, grid, arguments);
#endif
}

/* launch(kernel, names of its arguments, device, check, {grid=, block=, shared=}, ...) */
static int launch(lua_State *L)
{
    enum { OPTIONS = 5 };
    const struct launch l = {lua_touserdata(L, 1), luaL_checkstring(L, 3), 2};
    const struct tarn_user_grid grid = read_grid(L, &l, OPTIONS);
    const int given = lua_gettop(L) - OPTIONS;
    union value values[TARN_USER_ARGUMENTS];
    void *arguments[TARN_USER_ARGUMENTS];
    if (given > l.kernel->count)
        tarn_lua_fail(L, "%s: %d arguments, expected %d", l.kernel->name, given,
                      l.kernel->count);
    for (int i = 0; i < l.kernel->count; i++) {
        read_argument(L, &l, i, OPTIONS + 1 + i, &values[i]);
        arguments[i] = &values[i];
    }
    const tarn_status status = run(L, &l, lua_toboolean(L, 4), &grid, arguments);
    const char *problem = status ? l.kernel->problem() : "";
    if (*problem) tarn_lua_fail(L, "%s on %s: %s", l.kernel->name, l.device, problem);
    tarn_lua_check(L, status);
    return 0;
}

/* watched() -> whether instrumented kernels are wanted: by the checks, or the profiler. */
static int watched(lua_State *L)
{
#ifdef HAVE_EMU
    lua_pushboolean(L, tarn_emu_settings.check || tarn_emu_profiling());
#else
    lua_pushboolean(L, false);
#endif
    return 1;
}

/* why_not(device) -> why it can't be used, "" if it can. */
static int why_not(lua_State *L)
{
    lua_pushstring(L, tarn_device_why_not(luaL_checkstring(L, 1)));
    return 1;
}

/* device() -> where this session makes tensors: --device. */
static int device(lua_State *L)
{
    lua_pushstring(L, tarn_lua_default_device(L));
    return 1;
}

static void set(lua_State *L, const char *name, const char *value)
{
    lua_pushstring(L, value);
    lua_setfield(L, -2, name);
}

void tarn_open_kernel(lua_State *L)
{
    static const luaL_Reg loader[] = {{"open", open_kernel}, {"folder", folder},
                                      {"launch", launch},    {"watched", watched},
                                      {"why_not", why_not},  {"device", device},
                                      {NULL, NULL}};
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    luaL_newlib(L, loader);
    set(L, "cxx", TARN_CXX);
    set(L, "nvcc", TARN_NVCC);
    set(L, "build", TARN_BUILD);          /* where the program was built, */
    set(L, "source", TARN_SOURCE);        /* of what, */
    set(L, "installed", TARN_KERNELSDIR); /* and where its headers are installed */
    push_program_folder(L);
    lua_setfield(L, -2, "program");
    lua_pushinteger(L, getpid());
    lua_setfield(L, -2, "process");
    lua_pushinteger(L, (lua_Integer)geteuid());
    lua_setfield(L, -2, "user");
    lua_setfield(L, -2, "tarn.loader");
    lua_pop(L, 1);
}
