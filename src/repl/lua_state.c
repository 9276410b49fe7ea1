/* lua_state.c: states of rnn and kv as Lua values: methods, fields, life. Chapter 5.
 *
 * The recurrent cell and softmax's cache are used alike: step, run, reset, clone,
 * bytes and t. So both are the same kind of userdata, a struct tarn_lua_cell with
 * one of two pointers set, and share their methods; only a recurrent cell has S, z
 * and save.
 *
 * - User value 1 of an rnn is what keeps a user's feature map alive, or nil.
 * - As for tensors, __methods and __fields tell completion what there is. */
#include "repl/lua_attention.h"
#include <stdio.h>
#include <string.h>

#define RNN "tarn.rnn"
#define KV  "tarn.kv"

/* ---- the userdata ---------------------------------------------------------------- */

/* Pushes an empty cell. Its bytes are tensor memory: asking for a slot makes Lua's
 * collector look at their sum. */
static struct tarn_lua_cell *push_cell(lua_State *L, const char *type, int phi_index)
{
    luaL_checkstack(L, 4, NULL);
    if (phi_index != 0) phi_index = lua_absindex(L, phi_index);
    tarn_lua_slot(L);
    struct tarn_lua_cell *cell = lua_newuserdatauv(L, sizeof *cell, 1);
    *cell = (struct tarn_lua_cell){0};
    luaL_setmetatable(L, type);
    if (phi_index != 0) {
        lua_pushvalue(L, phi_index);
        lua_setiuservalue(L, -2, 1);
    }
    lua_remove(L, -2);
    return cell;
}

struct tarn_lua_cell *tarn_lua_new_rnn(lua_State *L, int phi_index)
{
    return push_cell(L, RNN, phi_index);
}

struct tarn_lua_cell *tarn_lua_new_kv(lua_State *L)
{
    return push_cell(L, KV, 0);
}

static struct tarn_lua_cell *to_cell(lua_State *L, int index)
{
    struct tarn_lua_cell *cell = luaL_testudata(L, index, RNN);
    return cell ? cell : luaL_testudata(L, index, KV);
}

struct tarn_lua_cell *tarn_lua_to_rnn(lua_State *L, int index)
{
    struct tarn_lua_cell *cell = luaL_testudata(L, index, RNN);
    if (cell && !cell->rnn) tarn_lua_fail(L, "rnn: this state was closed");
    return cell;
}

/* The cell that a method is called on. */
static struct tarn_lua_cell *self(lua_State *L, const char *method)
{
    char given[80];
    struct tarn_lua_cell *cell = to_cell(L, 1);
    if (!cell)
        tarn_lua_fail(L,
                      "%s: the state is %s, expected an rnn or kv; hint: "
                      "st:%s(..) with a colon",
                      method, tarn_lua_describe(L, 1, given, sizeof given), method);
    if (!cell->rnn && !cell->kv) tarn_lua_fail(L, "%s: this state was closed", method);
    return cell;
}

/* The same for a method that changes the cell, which no call may be working on. */
static struct tarn_lua_cell *idle_self(lua_State *L, const char *method)
{
    struct tarn_lua_cell *cell = self(L, method);
    if (cell->busy)
        tarn_lua_fail(L,
                      "%s: the state is in use by a call that has not come back; "
                      "hint: st:clone() is free to change",
                      method);
    return cell;
}

static int close_cell(lua_State *L)
{
    struct tarn_lua_cell *cell = to_cell(L, 1);
    if (!cell || cell->busy) return 0;
    tarn_rnn_free(cell->rnn);
    tarn_kv_free(cell->kv);
    *cell = (struct tarn_lua_cell){0};
    return 0;
}

/* ---- methods of both ------------------------------------------------------------- */

/* (st, q, k, v) -> out, by one token or by a whole sequence. */
static int advance(lua_State *L, const char *method, bool sequence)
{
    lua_settop(L, 4);
    struct tarn_lua_cell *cell = idle_self(L, method);
    tarn_context *ctx = tarn_lua_context(L);
    const char *name = cell->rnn ? (sequence ? "rnn:run" : "rnn:step")
                                 : (sequence ? "kv:run" : "kv:step");
    const tarn_tensor *q = tarn_lua_keep(L, 2, name, "q");
    const tarn_tensor *k = tarn_lua_keep(L, 3, name, "k");
    const tarn_tensor *v = tarn_lua_keep(L, 4, name, "v");
    tarn_tensor **out = tarn_lua_slot(L);

    struct tarn_lua_call call = tarn_lua_enter(L, cell);
    tarn_status status;
    if (cell->rnn)
        status =
            (sequence ? tarn_rnn_run : tarn_rnn_step)(ctx, cell->rnn, q, k, v, out);
    else
        status = (sequence ? tarn_kv_run : tarn_kv_step)(ctx, cell->kv, q, k, v, out);
    tarn_lua_leave(L, call, status);
    return 1;
}

static int step(lua_State *L)
{
    return advance(L, "step", false);
}

static int run(lua_State *L)
{
    return advance(L, "run", true);
}

static int reset(lua_State *L)
{
    const struct tarn_lua_cell *cell = idle_self(L, "reset");
    if (cell->rnn)
        tarn_rnn_reset(cell->rnn);
    else
        tarn_kv_reset(cell->kv);
    return 0;
}

static int clone(lua_State *L)
{
    const struct tarn_lua_cell *cell = self(L, "clone");
    tarn_context *ctx = tarn_lua_context(L);
    lua_getiuservalue(L, 1, 1);
    struct tarn_lua_cell *copy = push_cell(L, cell->rnn ? RNN : KV, -1);
    tarn_lua_check(L, cell->rnn ? tarn_rnn_clone(ctx, cell->rnn, &copy->rnn)
                                : tarn_kv_clone(ctx, cell->kv, &copy->kv));
    return 1;
}

static int bytes(lua_State *L)
{
    const struct tarn_lua_cell *cell = self(L, "bytes");
    size_t count = cell->rnn ? tarn_rnn_bytes(cell->rnn) : tarn_kv_bytes(cell->kv);
    lua_pushinteger(L, (lua_Integer)count);
    return 1;
}

static int save(lua_State *L)
{
    char given[80];
    const struct tarn_lua_cell *cell = self(L, "save");
    if (lua_type(L, 2) != LUA_TSTRING)
        tarn_lua_fail(L, "save: path is %s, expected a string",
                      tarn_lua_describe(L, 2, given, sizeof given));
    if (!cell->rnn) tarn_lua_fail(L, "save: this is a kv cache, expected an rnn state");
    tarn_lua_check(L,
                   tarn_rnn_save(tarn_lua_context(L), cell->rnn, lua_tostring(L, 2)));
    return 0;
}

/* ---- fields ---------------------------------------------------------------------- */

static int push_time(lua_State *L, const struct tarn_lua_cell *cell)
{
    lua_pushinteger(L, (lua_Integer)(cell->rnn ? tarn_rnn_time(cell->rnn)
                                               : tarn_kv_time(cell->kv)));
    return 1;
}

/* st.S and st.z are made anew each time: writing to them does not change the state. */
static int push_state(lua_State *L, const struct tarn_lua_cell *cell, bool denominator)
{
    tarn_tensor **slot = tarn_lua_slot(L);
    tarn_lua_check(L, tarn_rnn_state(tarn_lua_context(L), cell->rnn,
                                     denominator ? NULL : slot,
                                     denominator ? slot : NULL));
    return 1;
}

/* __index, with the table of methods as its upvalue. */
static int get(lua_State *L)
{
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL) return 1;
    const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "";
    const struct tarn_lua_cell *cell = self(L, name);
    if (strcmp(name, "t") == 0) return push_time(L, cell);
    if (cell->rnn && strcmp(name, "S") == 0) return push_state(L, cell, false);
    if (cell->rnn && strcmp(name, "z") == 0) return push_state(L, cell, true);

    const char *near = tarn_lua_nearest_key(L, lua_upvalueindex(1), name);
    const char *kind = cell->rnn ? "rnn state" : "kv cache";
    if (near)
        tarn_lua_fail(L, "%s: there is no '%s'; did you mean '%s'?", kind, name, near);
    return tarn_lua_fail(L, "%s: there is no '%s'; fields are %s", kind, name,
                         cell->rnn ? "S, z and t" : "t");
}

static int set(lua_State *L)
{
    char given[80];
    const char *name = lua_type(L, 2) == LUA_TSTRING
                           ? lua_tostring(L, 2)
                           : tarn_lua_describe(L, 2, given, sizeof given);
    return tarn_lua_fail(L,
                         "st.%s can't be assigned; hint: prefix and rnn_grad take any "
                         "state, {state={S=, z=}}",
                         name);
}

/* "rnn state: H=4 D=32 M=32 C=32 phi=elu1 float32, 784 tokens, 16896 bytes" */
static int to_string(lua_State *L)
{
    const struct tarn_lua_cell *cell = to_cell(L, 1);
    if (!cell || (!cell->rnn && !cell->kv)) {
        lua_pushliteral(L, "closed state");
        return 1;
    }
    const tarn_cell *sizes =
        cell->rnn ? tarn_rnn_cell(cell->rnn) : tarn_kv_cell(cell->kv);
    char text[256], part[64] = "";
    if (sizes->B) snprintf(part, sizeof part, " B=%zu H=%zu", sizes->B, sizes->H);
    if (!sizes->B && sizes->H) snprintf(part, sizeof part, " H=%zu", sizes->H);
    int used = snprintf(text, sizeof text, "%s:%s D=%zu M=%zu",
                        cell->rnn ? "rnn state" : "kv cache", part, sizes->D, sizes->M);
    if (cell->rnn)
        used += snprintf(text + used, sizeof text - (size_t)used, " C=%zu phi=%.20s",
                         tarn_rnn_features(cell->rnn), sizes->phi->name);
    snprintf(text + used, sizeof text - (size_t)used, " %s, %llu tokens, %zu bytes",
             sizes->dtype == TARN_FLOAT64 ? "float64" : "float32",
             (unsigned long long)(cell->rnn ? tarn_rnn_time(cell->rnn)
                                            : tarn_kv_time(cell->kv)),
             cell->rnn ? tarn_rnn_bytes(cell->rnn) : tarn_kv_bytes(cell->kv));
    lua_pushstring(L, text);
    return 1;
}

/* ---- opening --------------------------------------------------------------------- */

static const luaL_Reg methods[] = {{"step", step},   {"run", run},     {"reset", reset},
                                   {"clone", clone}, {"bytes", bytes}, {"save", save},
                                   {NULL, NULL}};

static const luaL_Reg meta[] = {{"__newindex", set},
                                {"__tostring", to_string},
                                {"__gc", close_cell},
                                {"__close", close_cell},
                                {NULL, NULL}};

/* Makes a metatable with the first `count` methods and the NULL-terminated fields. */
static void new_type(lua_State *L, const char *type, size_t count,
                     const char *const *fields)
{
    luaL_newmetatable(L, type);
    luaL_setfuncs(L, meta, 0);
    lua_newtable(L);
    for (size_t i = 0; i < count; i++) {
        lua_pushcfunction(L, methods[i].func);
        lua_setfield(L, -2, methods[i].name);
    }
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, "__methods");
    lua_pushcclosure(L, get, 1);
    lua_setfield(L, -2, "__index");
    lua_newtable(L);
    for (int i = 0; fields[i]; i++) {
        lua_pushstring(L, fields[i]);
        lua_rawseti(L, -2, i + 1);
    }
    lua_setfield(L, -2, "__fields");
    lua_pop(L, 1);
}

void tarn_lua_open_states(lua_State *L)
{
    static const char *const rnn_fields[] = {"S", "z", "t", NULL};
    static const char *const kv_fields[] = {"t", NULL};
    const size_t all = sizeof methods / sizeof *methods - 1; /* save comes last */
    new_type(L, RNN, all, rnn_fields);
    new_type(L, KV, all - 1, kv_fields);
}
