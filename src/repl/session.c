/* session.c: the Lua state of the program. See session.h. */
#include "repl/session.h"
#include "core/context.h"
#include "fast/dispatch.h"
#include "lab/lab.h"
#include "repl/bind.h"
#include "repl/embedded.h"
#include "repl/env.h"
#include "repl/interrupt.h"
#include "repl/report.h"
#include <lualib.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The registry's key of what tarn's own Lua hands to the program. */
#define HOST_FUNCTIONS "tarn.program"

/* ---- Memory ---- */

/* --memory: what Lua and tensors hold together stays below the limit. */
static bool has_room(const tarn_context *ctx, size_t bytes)
{
    const size_t held = ctx->outside + tarn_bytes(ctx);
    return !ctx->limit || (held <= ctx->limit && bytes <= ctx->limit - held);
}

/* Lua's allocator. Shrinking never fails: Lua relies on that. */
static void *allocate(void *data, void *memory, size_t old_size, size_t new_size)
{
    struct tarn_session *session = data;
    if (!memory) old_size = 0; /* it was the kind of the object to come */
    if (new_size == 0) {
        session->ctx->outside -= old_size;
        free(memory);
        return NULL;
    }
    session->calls++;
    if (new_size > old_size && !has_room(session->ctx, new_size - old_size))
        return NULL;
    if (session->fail_call && session->calls >= session->fail_call &&
        new_size > old_size)
        return NULL;
    void *moved = realloc(memory, new_size);
    if (moved) session->ctx->outside += new_size - old_size;
    return moved;
}

/* The number of the call at which Lua's memory ends: a test's doing. */
static size_t planned_failure(void)
{
#ifdef TARN_PARANOID
    const char *number = getenv("TARN_FAIL_LUA_AT");
    return number ? (size_t)strtoull(number, NULL, 10) : 0;
#else
    return 0;
#endif
}

/* ---- Limits ---- */

/* Puts the limits of the command line in force. */
static bool confine(struct tarn_session *session)
{
    const struct tarn_invocation *inv = session->invocation;
    session->ctx->limit = (size_t)inv->memory;
    if (inv->restricted && !(session->write_below = realpath(".", NULL))) {
        tarn_complain("--restricted: the working folder can't be found: %s",
                      strerror(errno));
        return false;
    }
    session->ctx->write_below = session->write_below;
    if (tarn_interrupts_limit_time(inv->time)) return true;
    tarn_complain("--time=%llu: %s", (unsigned long long)inv->time, strerror(errno));
    return false;
}

/* ---- The device ---- */

/* Finds a usable backend of a device; `why` says why there is none. */
static bool device_usable(const char *device, const char **why)
{
    tarn_backend_info info;
    *why = "it is not part of this build";
    for (size_t i = 0; tarn_backend_at(i, &info); i++) {
        if (strcmp(info.device, device) != 0) continue;
        if (info.usable) return true;
        *why = info.why_not;
    }
    return false;
}

/* auto: a GPU, else the device that runs its kernels here, else the cpu; and says which. */
static const char *best_device(void)
{
    const char *why, *ignored;
    if (device_usable("cuda", &why)) {
        tarn_note("using cuda");
        return "cuda";
    }
    const char *instead = device_usable("emu", &ignored) ? "emu" : "cpu";
    tarn_note("device cuda: not available: %s; using %s", why, instead);
    return instead;
}

/* Resolves --device: what was asked for is there or an error. */
static bool choose_device(struct tarn_session *session, const char *device)
{
    const char *why;
    session->device = device;
    if (strcmp(device, "auto") == 0) {
        session->device = best_device();
        return true;
    }
    if (device_usable(device, &why)) return true;
    tarn_complain("device %s: not available: %s", device, why);
    return false;
}

/* ---- Opening and closing ---- */

static void say_note(void *data, const char *text)
{
    (void)data;
    tarn_note("%s", text);
}

bool tarn_session_open(struct tarn_session *session, const struct tarn_invocation *inv)
{
    *session = (struct tarn_session){.invocation = inv, .fail_call = planned_failure()};
    if (*tarn_fast_problem()) {
        tarn_complain("%s", tarn_fast_problem());
        return false;
    }
    if (!choose_device(session, inv->device)) return false;
    if (tarn_context_new(&session->ctx) != TARN_OK) {
        tarn_complain("not enough memory");
        return false;
    }
    tarn_on_note(session->ctx, say_note, NULL);
    if (!confine(session)) return false;
    if (!(session->L = lua_newstate(allocate, session))) {
        tarn_complain("not enough memory");
        return false;
    }
    if (inv->threads > 0 && tarn_set_threads(session->ctx, inv->threads) != TARN_OK) {
        tarn_complain("--threads=%d: %s", inv->threads, tarn_error(session->ctx));
        return false;
    }
    if (inv->seeded) tarn_seed(session->ctx, inv->seed);
    return true;
}

void tarn_session_close(struct tarn_session *session)
{
    tarn_interrupts_end();

    /* The state goes first: its tensors belong to the context. */
    if (session->L) lua_close(session->L);
    tarn_context_free(session->ctx);
    free(session->write_below);
    free(session->line);
    free(session->history);
}

/* ---- Loading ---- */

/* Pushes the globals of tarn's own Lua, a copy: a user may well call a variable `table`. */
static void push_own_globals(lua_State *L)
{
    lua_newtable(L);
    lua_pushglobaltable(L);
    for (lua_pushnil(L); lua_next(L, -2);) {
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, -5);
    }
    lua_pop(L, 1);
}

/* Runs an embedded module, as require("tarn.show") does; upvalues: it, its globals. */
static int load_embedded(lua_State *L)
{
    const struct tarn_embedded *module = lua_touserdata(L, lua_upvalueindex(1));
    const char *chunk = lua_pushfstring(L, TARN_CHUNK_PREFIX "%s", module->name);
    if (luaL_loadbufferx(L, (const char *)module->bytes, module->size, chunk, "t"))
        return lua_error(L);
    lua_pushvalue(L, lua_upvalueindex(2));
    lua_setupvalue(L, -2, 1);
    lua_call(L, 0, 1);
    return 1;
}

/* Makes every embedded module known to require. */
static void preload_embedded(lua_State *L)
{
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
    push_own_globals(L);
    for (const struct tarn_embedded *module = tarn_embedded_lua; module->name;
         module++) {
        lua_pushfstring(L, "tarn.%s", module->name);
        lua_pushlightuserdata(L, (void *)(uintptr_t)module);
        lua_pushvalue(L, -3);
        lua_pushcclosure(L, load_embedded, 2);
        lua_rawset(L, -4);
    }
    lua_pop(L, 2);
}

static void require(lua_State *L, const char *name)
{
    lua_getglobal(L, "require");
    lua_pushstring(L, name);
    lua_call(L, 1, 1);
}

/* Makes the table `tarn`: the modules in C here, those in Lua when they are required. */
static void open_tarn(lua_State *L)
{
    static void (*const openers[])(lua_State *) = {
        tarn_open_tensor, tarn_open_create, tarn_open_math, tarn_open_files,
        tarn_open_phi,    tarn_open_stages, tarn_open_rnn,  tarn_open_check,
        tarn_open_emu,    tarn_open_kernel, tarn_open_bench};

    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    lua_newtable(L);
    lua_pushstring(L, tarn_version());
    lua_setfield(L, -2, "version");
    for (size_t i = 0; i < sizeof openers / sizeof *openers; i++) openers[i](L);
    lua_pushvalue(L, -1);
    lua_setglobal(L, "tarn");
    lua_setfield(L, -2, "tarn");
    lua_pop(L, 1);
}

/* --restricted: takes away what reaches outside. */
static void close_outside(lua_State *L)
{
    require(L, "tarn.restricted");
    lua_getfield(L, -1, "close");
    tarn_session_push(L, "own");
    lua_call(L, 1, 0);
    lua_pop(L, 1);
}

void tarn_session_load(struct tarn_session *session)
{
    lua_State *L = session->L;
    luaL_openlibs(L);
    tarn_lua_attach(L, session->ctx);
    open_tarn(L);
    tarn_env_open(session);
    tarn_lab_files_open(L);
    tarn_lab_taken_open(L);
    tarn_lab_processes_open(L);
    tarn_lab_child_open(L);
    preload_embedded(L);

    /* Load each module: it adds its names to `tarn`, so no list of them is needed. Those in
     * folders, such as lab.show, wait for who requires them. */
    for (const struct tarn_embedded *module = tarn_embedded_lua; module->name;
         module++) {
        if (strchr(module->name, '.')) continue;
        lua_pushfstring(L, "tarn.%s", module->name);
        require(L, lua_tostring(L, -1));
        lua_pop(L, 2);
    }
    require(L, "tarn.env");
    lua_setfield(L, LUA_REGISTRYINDEX, HOST_FUNCTIONS);
    tarn_session_push(L, "open");
    lua_call(L, 0, 0);
    if (session->first) {
        lua_pushstring(L, session->first);
        require(L, session->first);
        lua_rawset(L, LUA_REGISTRYINDEX);
    }
    if (session->invocation->restricted) close_outside(L);
    tarn_lua_set_default_device(L,
                                session->device); /* that of the user's tensors only */
}

void tarn_session_push(lua_State *L, const char *name)
{
    lua_getfield(L, LUA_REGISTRYINDEX, HOST_FUNCTIONS);
    lua_getfield(L, -1, name);
    lua_remove(L, -2);
}

void tarn_session_adopt(lua_State *L)
{
    tarn_session_push(L, "env");
    if (!lua_setupvalue(L, -2, 1)) lua_pop(L, 1); /* a chunk without globals */
}
