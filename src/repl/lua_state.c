/* lua_state.c: states of rnn and kv as Lua values: methods, fields, life. Chapter 5.
 *
 * The recurrent cell and softmax's cache are used alike: step, run, reset, clone,
 * bytes and t. So both are the same kind of userdata, a struct tarn_lua_cell with
 * one of two pointers set, and share their methods; only a recurrent cell has S, z
 * and save.
 *
 * - User value 1 of an rnn is what keeps a user's feature map alive, or nil.
 * - As for tensors, __methods and __fields tell completion what there is. */
#include "cell.h"
#include "core/tensor.h"
#include "repl/arguments.h"
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

typedef tarn_status rnn_form(tarn_context *, tarn_rnn *, const tarn_tensor *,
                             const tarn_tensor *, const tarn_tensor *, tarn_tensor **);
typedef tarn_status kv_form(tarn_context *, tarn_kv *, const tarn_tensor *,
                            const tarn_tensor *, const tarn_tensor *, tarn_tensor **);

/* The C call. Tensors are held, for a callback may close those of the user, and nothing
 * here can raise an error before they are let go. */
static tarn_status advance_cell(tarn_context *ctx, struct tarn_lua_cell *cell,
                                bool sequence, tarn_tensor *const *inputs,
                                tarn_tensor **out)
{
    rnn_form *const rnn = sequence ? tarn_rnn_run : tarn_rnn_step;
    kv_form *const kv = sequence ? tarn_kv_run : tarn_kv_step;
    const tarn_tensor q = tarn_hold(inputs[0]), k = tarn_hold(inputs[1]),
                      v = tarn_hold(inputs[2]);
    const tarn_status status = cell->rnn ? rnn(ctx, cell->rnn, &q, &k, &v, out)
                                         : kv(ctx, cell->kv, &q, &k, &v, out);
    tarn_let_go(&q);
    tarn_let_go(&k);
    tarn_let_go(&v);
    return status;
}

/* (st, q, k, v) -> out, by one token or by a whole sequence. */
static int advance(lua_State *L, const char *method, bool sequence)
{
    lua_settop(L, 4);
    struct tarn_lua_cell *cell = idle_self(L, method);
    tarn_context *ctx = tarn_lua_context(L);
    const char *name = cell->rnn ? (sequence ? "rnn:run" : "rnn:step")
                                 : (sequence ? "kv:run" : "kv:step");
    tarn_tensor **out = tarn_lua_slot(L);
    tarn_tensor *const inputs[] = {tarn_lua_tensor(L, 2, name, "q"),
                                   tarn_lua_tensor(L, 3, name, "k"),
                                   tarn_lua_tensor(L, 4, name, "v")};
    struct tarn_lua_call call = tarn_lua_enter(L, cell);
    tarn_lua_leave(L, call, advance_cell(ctx, cell, sequence, inputs, out));
    return 1;
}

/* help: st:step(q, k, v) -> out
 * Takes in one token and gives its output: the state is updated first, then read.
 * shapes: q, k [D], v [M] -> out [M]; with heads [H, D], with a batch [B, H, D]
 * math: eqs 18-20: S += phi(k) v^T, z += phi(k), out = phi(q)^T S / (phi(q)^T z + eps);
 *       of a kv cache eq 3 over the tokens so far
 * cost: 4 C M flops a head, the same for every token; a kv cache 2 t (D + M), growing
 *       with t
 * errors: a shape or dtype that is not the cell's; the state is then as before. Sums beyond
 *   the type: the state has taken the token, and st.t counts it
 * example:
 *   > st = rnn{D=1, M=1, eps=0}
 *   > st:step(tensor{0}, tensor{0}, tensor{4})
 *   tensor [1] float32 cpu
 *     4
 *   > st:step(tensor{0}, tensor{2}, tensor{8})
 *   tensor [1] float32 cpu
 *     7
 * see: st:run, rnn, kv, prefix */
static int step(lua_State *L)
{
    return advance(L, "step", false);
}

/* help: st:run(q, k, v) -> out
 * Takes in a whole sequence, token by token, and gives its outputs.
 * shapes: q, k [N, D], v [N, M] -> out [N, M]; with heads [H, N, D], with a batch [B,
 *         H, N, D]
 * math: eqs 18-20 for i = 1..N  cost: 4 N C M flops a head
 * errors: a shape or dtype that is not the cell's; after an error or ^C the state is as
 *         before
 * example:
 *   > q = tensor{{1}, {0}}
 *   > v = tensor{{4}, {8}}
 *   > st = rnn{D=1, M=1, eps=0}
 *   > out = st:run(q, q, v)
 *   > maxdiff(out, prefix(q, q, v, {eps=0}))
 *   0.0
 *   > st.t
 *   2
 * see: st:step, prefix, st.S */
static int run(lua_State *L)
{
    return advance(L, "run", true);
}

/* help: st:reset()
 * Sets the state back to 0 and the count of tokens too; a kv cache gives its memory
 * back.
 * shapes: as the state
 * math: eqs 16-17: S = 0, z = 0  cost: O(B H C M)
 * errors: a state that a call is working on
 * example:
 *   > st = rnn{D=2, M=2}
 *   > st:step(ones(2), ones(2), ones(2));
 *   > st:reset()
 *   > st.t
 *   0
 * see: rnn, st:clone */
static int reset(lua_State *L)
{
    const struct tarn_lua_cell *cell = idle_self(L, "reset");
    if (cell->rnn)
        tarn_rnn_reset(cell->rnn);
    else
        tarn_kv_reset(cell->kv);
    return 0;
}

/* help: st:clone() -> st
 * Makes an independent copy of a cell with its state.
 * shapes: as the state
 * math: none  cost: O(B H C M), of a kv cache O(B H t (D + M))
 * errors: none
 * example:
 *   > st = rnn{D=2, M=2}
 *   > copy = st:clone()
 *   > st:step(ones(2), ones(2), ones(2));
 *   > st.t, copy.t
 *   1	0
 * see: st:save, st:reset, t:clone */
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

/* help: st:bytes() -> integer
 * Gives the bytes of the state: constant for an rnn, growing with every token for a kv
 * cache.
 * shapes: none
 * math: rnn: two levels of B H (C M + C) numbers; kv: B H t (D + M) numbers  cost: O(1)
 * errors: none
 * example:
 *   > st, cache = rnn{D=4, M=4}, kv{D=4, M=4}
 *   > st:bytes(), cache:bytes()
 *   160	0
 *   > x = ones(100, 4)
 *   > st:run(x, x, x);
 *   > cache:run(x, x, x);
 *   > st:bytes(), cache:bytes()
 *   160	3200
 * see: rnn, kv, equiv */
static int bytes(lua_State *L)
{
    const struct tarn_lua_cell *cell = self(L, "bytes");
    size_t count = cell->rnn ? tarn_rnn_bytes(cell->rnn) : tarn_kv_bytes(cell->kv);
    lua_pushinteger(L, (lua_Integer)count);
    return 1;
}

/* help: st:save(path)
 * Writes an rnn cell with its state to a file, whole or not at all.
 * shapes: none
 * math: none  cost: O(B H C M)
 * errors: a kv cache, a file that can't be written; the old file then stays
 * example:
 *   > path = os.tmpname()
 *   > rnn{D=2, M=2}:save(path)
 *   > rnn.load(path)
 *   rnn state: D=2 M=2 C=2 phi=elu1 float32, 0 tokens, 48 bytes
 *   > os.remove(path)
 *   true
 * see: rnn.load, st:clone, t:save */
static int save(lua_State *L)
{
    const struct tarn_lua_cell *cell = self(L, "save");
    const char *path = tarn_lua_path(L, 2, "rnn:save");
    if (!cell->rnn) tarn_lua_fail(L, "save: this is a kv cache, expected an rnn state");
    tarn_lua_check(L, tarn_rnn_save(tarn_lua_context(L), cell->rnn, path));
    return 0;
}

/* ---- fields ---------------------------------------------------------------------- */

/* help: st.t -> integer
 * How many tokens the cell has taken in since it was made or reset.
 * shapes: none
 * math: none  cost: O(1)
 * errors: none; fields of a cell can't be assigned
 * example:
 *   > st = rnn{D=2, M=2}
 *   > st:step(ones(2), ones(2), ones(2));
 *   > st.t
 *   1
 * see: st:step, st:reset, t:t */
static int push_time(lua_State *L, const struct tarn_lua_cell *cell)
{
    lua_pushinteger(L, (lua_Integer)(cell->rnn ? tarn_rnn_time(cell->rnn)
                                               : tarn_kv_time(cell->kv)));
    return 1;
}

static const char *device_of(const struct tarn_lua_cell *cell)
{
    return cell->rnn ? tarn_cell_device(cell->rnn) : "cpu";
}

/* help: st.device -> string
 * Where the state lies, and so where q, k, v are to be: "cpu", "emu" or "cuda:0".
 * shapes: none
 * math: none  cost: O(1)
 * errors: none; fields of a cell can't be assigned
 * example:
 *   > rnn{D=2, M=2, device="cpu"}.device
 *   "cpu"
 * see: rnn, rnn.load, t.device */
static int push_device(lua_State *L, const struct tarn_lua_cell *cell)
{
    lua_pushstring(L, device_of(cell));
    return 1;
}

/* help: st.S -> tensor
 * The sum of phi(k) v^T over the tokens so far, as a fresh tensor; rnn alone has it.
 * shapes: [C, M]; with heads [H, C, M], with a batch [B, H, C, M]
 * math: eq 10: S_i = sum_{j<=i} phi(k_j) v_j^T  cost: O(B H C M)
 * errors: none; fields of a cell can't be assigned
 * example:
 *   > st = rnn{D=2, M=1}
 *   > st:step(zeros(2), tensor{0, 1}, tensor{10});
 *   > st.S
 *   tensor [2, 1] float32 cpu
 *     10
 *     20
 * see: st.z, prefix, rnn */

/* help: st.z -> tensor
 * The sum of phi(k) over the tokens so far, as a fresh tensor; rnn alone has it.
 * shapes: [C]; with heads [H, C], with a batch [B, H, C]
 * math: eq 11: z_i = sum_{j<=i} phi(k_j)  cost: O(B H C)
 * errors: none; fields of a cell can't be assigned
 * example:
 *   > st = rnn{D=2, M=1}
 *   > st:step(zeros(2), tensor{0, 1}, tensor{10});
 *   > st.z
 *   tensor [2] float32 cpu
 *     1  2
 * see: st.S, prefix, rnn */
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
    char given[80];
    const bool named = lua_type(L, 2) == LUA_TSTRING;
    const char *name = named ? lua_tostring(L, 2) : "st[i]";
    const struct tarn_lua_cell *cell = self(L, name);
    const char *kind = cell->rnn ? "rnn state" : "kv cache";
    if (!named)
        tarn_lua_fail(L, "%s: the key is %s, expected the name of a field or a method",
                      kind, tarn_lua_describe(L, 2, given, sizeof given));
    if (strcmp(name, "t") == 0) return push_time(L, cell);
    if (strcmp(name, "device") == 0) return push_device(L, cell);
    if (cell->rnn && strcmp(name, "S") == 0) return push_state(L, cell, false);
    if (cell->rnn && strcmp(name, "z") == 0) return push_state(L, cell, true);

    const char *near = tarn_lua_nearest_key(L, lua_upvalueindex(1), name);
    if (near)
        tarn_lua_fail(L, "%s: there is no '%s'; did you mean '%s'?", kind, name, near);
    return tarn_lua_fail(L, "%s: there is no '%s'; fields are %s", kind, name,
                         cell->rnn ? "S, z, t and device" : "t and device");
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
    const unsigned long long tokens =
        cell->rnn ? tarn_rnn_time(cell->rnn) : tarn_kv_time(cell->kv);
    const char *device = device_of(cell);
    const bool elsewhere = strcmp(device, "cpu") != 0;
    snprintf(text + used, sizeof text - (size_t)used,
             " %s%s%s, %llu token%s, %zu bytes",
             sizes->dtype == TARN_FLOAT64 ? "float64" : "float32", elsewhere ? " " : "",
             elsewhere ? device : "", tokens, tokens == 1 ? "" : "s",
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
static void new_type(lua_State *L, const char *type, const char *name, size_t count,
                     const char *const *fields)
{
    tarn_lua_type(L, type, name, meta, get, fields);
    lua_getfield(L, -1, "__methods");
    for (size_t i = 0; i < count; i++) {
        lua_pushcfunction(L, methods[i].func);
        lua_setfield(L, -2, methods[i].name);
    }
    lua_pop(L, 2);
}

void tarn_lua_open_states(lua_State *L)
{
    static const char *const rnn_fields[] = {"S", "z", "t", "device", NULL};
    static const char *const kv_fields[] = {"t", "device", NULL};
    const size_t all = sizeof methods / sizeof *methods - 1; /* save comes last */
    new_type(L, RNN, "rnn state", all, rnn_fields);
    new_type(L, KV, "kv cache", all - 1, kv_fields);
}
