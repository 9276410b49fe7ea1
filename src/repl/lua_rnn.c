/* lua_rnn.c: where cells are made: rnn{D=, M=}, rnn.load(path), kv{D=, M=}. Chapter 5.
 *
 * Sizes are those of one head, as in the equations: D and M, then H heads and B
 * batch entries if there are any. What a cell can do stands in lua_state.c. */
#include "cell.h"
#include "repl/arguments.h"
#include "repl/lua_attention.h"
#include <string.h>

/* A size of at least 1, or 0 if it is not given and need not be. */
static size_t read_size(lua_State *L, const char *function, const char *name,
                        bool needed)
{
    lua_Integer value = 0;
    if (!tarn_lua_opt_integer(L, 2, function, name, &value)) {
        if (needed)
            tarn_lua_fail(L,
                          "%s: %s is missing, expected {D=, M=}: the widths of "
                          "one head's queries and keys, and of its values",
                          function, name);
        return 0;
    }
    if (value < 1)
        tarn_lua_fail(L, "%s: %s is %lld, expected 1 or more", function, name,
                      (long long)value);
    return (size_t)value;
}

/* Other libraries are told the width of all heads together: say what that comes to. */
static void refuse_model_width(lua_State *L, const char *function)
{
    lua_Integer width, heads = 1;
    if (!tarn_lua_opt_integer(L, 2, function, "d_model", &width)) return;
    tarn_lua_opt_integer(L, 2, function, "H", &heads);
    if (heads < 1 || width < 1 || width % heads != 0)
        tarn_lua_fail(L,
                      "%s: d_model is %lld, which is not a multiple of H = %lld; "
                      "expected D and M, the widths of one head",
                      function, (long long)width, (long long)heads);
    tarn_lua_fail(L,
                  "%s: there is no option 'd_model'; D and M are the widths of "
                  "one head: d_model / H = %lld / %lld = %lld",
                  function, (long long)width, (long long)heads,
                  (long long)(width / heads));
}

static void read_phi(lua_State *L, const char *function, tarn_cell *cell)
{
    lua_pushliteral(L, "phi");
    if (lua_rawget(L, 2) != LUA_TNIL)
        cell->phi = tarn_lua_phi(L, -1, function, false);
    else
        lua_pushnil(L);
}

static void read_dtype(lua_State *L, const char *function, tarn_cell *cell)
{
    static const char *const dtypes[] = {"float32", "float64", NULL};
    int dtype = 0;
    tarn_lua_opt_word(L, 2, function, "dtype", dtypes, &dtype);
    cell->dtype = dtype == 1 ? TARN_FLOAT64 : TARN_FLOAT32;
}

/* Reads the table of sizes at index 2; leaves on top what keeps the map alive. */
static tarn_cell read_cell(lua_State *L, const char *function, const char *const *names)
{
    char given[80];
    tarn_cell cell = {.eps = tarn_defaults().eps, .scale = tarn_defaults().scale};
    if (!lua_istable(L, 2))
        tarn_lua_fail(L, "%s: the argument is %s, expected a table {D=, M=}", function,
                      tarn_lua_describe(L, 2, given, sizeof given));
    refuse_model_width(L, function);
    tarn_lua_explain(L, 2, function, names);
    tarn_lua_options(L, 2, function, names);
    cell.D = read_size(L, function, "D", true);
    cell.M = read_size(L, function, "M", true);
    cell.H = read_size(L, function, "H", false);
    cell.B = read_size(L, function, "B", false);
    tarn_lua_opt_number(L, 2, function, "eps", &cell.eps);
    tarn_lua_opt_number(L, 2, function, "scale", &cell.scale);
    cell.impl = tarn_lua_impl(L, 2, function);
    cell.device = tarn_lua_opt_device(L, 2, function);
    read_dtype(L, function, &cell);
    read_phi(L, function, &cell);
    return cell;
}

/* help: rnn{D=, M=, H=, B=, phi="elu1", eps=1e-6, dtype=, device=, impl=} -> st
 * Stage 4: makes a recurrent cell, attention whose whole past is a constant state (S,
 * z).
 * shapes: S [C, M], z [C]; with heads [H, C, M], with a batch [B, H, C, M]
 * math: eqs 16-20: S and z start at 0; each token adds phi(k) v^T to S and phi(k) to z;
 *       its output is phi(q)^T S / (phi(q)^T z + eps)
 * cost: O(B H C M) memory; a token 4 C M flops a head
 * errors: D or M missing, a size below 1, B without H
 * options: D       width of queries and keys of one head
 *          M       width of values of one head
 *          H       heads; absent: inputs are [D] and [N, D]
 *          B       batch entries; absent: inputs have no batch dimension
 *          phi     feature map: a name, phi.name, a function, {apply=, grad=}; phis()
 *                   lists them
 *          eps     added to the denominator
 *          dtype   "float32" (default) | "float64"
 *          device  "cpu" | "emu" | "cuda"; unless given, that of --device
 *          impl    "fast" (default) | "plain"; on a device one of its kernels, "k1", ..
 * example:
 *   > st = rnn{D=2, M=1, eps=0}
 *   > st:step(tensor{1, 0}, tensor{1, 0}, tensor{5})
 *   tensor [1] float32 cpu
 *     5
 *   > st
 *   rnn state: D=2 M=1 C=2 phi=elu1 float32, 1 token, 32 bytes
 * see: st:step, st:run, rnn.load, prefix, kv */
static int new_rnn(lua_State *L)
{
    static const char *const names[] = {"D",   "M",     "H",      "B",    "phi",
                                        "eps", "dtype", "device", "impl", NULL};
    const tarn_cell cell = read_cell(L, "rnn", names);
    struct tarn_lua_cell *st = tarn_lua_new_rnn(L, -1);
    struct tarn_lua_call call = tarn_lua_enter(L, NULL); /* phi tells its width */
    tarn_lua_leave(L, call, tarn_rnn_new(tarn_lua_context(L), &cell, &st->rnn));
    return 1;
}

/* help: kv{D=, M=, H=, B=, scale=, dtype=, device=, impl=} -> st
 * Softmax's counterpart of the rnn: a cache of all keys and values, that grows.
 * shapes: after t tokens keys [t, D] and values [t, M]; with heads and batch in front
 * math: eq 3 with sim = exp(scale q.k), token i seeing tokens 1..i
 * cost: 2 t (D + M) flops a head for token t; t (D + M) numbers of memory a head
 * errors: D or M missing, a size below 1, B without H
 * options: D       width of queries and keys of one head
 *          M       width of values of one head
 *          H       heads; absent: inputs are [D] and [N, D]
 *          B       batch entries; absent: inputs have no batch dimension
 *          scale   of q.k, 1/sqrt(D) unless given
 *          dtype   "float32" (default) | "float64"
 *          device  "cpu": a cache lies nowhere else
 *          impl    "fast" (default) | "plain"
 * example:
 *   > cache = kv{D=2, M=1}
 *   > cache:step(tensor{1, 0}, tensor{1, 0}, tensor{5})
 *   tensor [1] float32 cpu
 *     5
 *   > cache
 *   kv cache: D=2 M=1 float32, 1 token, 12 bytes
 * see: rnn, st:step, st:bytes, sim */
/* No device has a cache; the session's own is not asked for. */
static void refuse_device(lua_State *L)
{
    lua_getfield(L, 2, "device");
    const char *device = lua_isnil(L, -1) ? "cpu" : tarn_lua_opt_device(L, 2, "kv");
    lua_pop(L, 1);
    if (strcmp(device, "cpu") != 0)
        tarn_lua_fail(L,
                      "kv: device is '%s', but a cache lies on the cpu alone; hint: "
                      "rnn{D=, M=, device='%s'} has a state there",
                      device, device);
}

/* kv{..} comes as (options), rnn{..} through __call as (rnn, options). */
static int new_kv(lua_State *L)
{
    static const char *const names[] = {"D",     "M",      "H",    "B", "scale",
                                        "dtype", "device", "impl", NULL};
    lua_settop(L, 1);
    lua_pushvalue(L, 1);
    const tarn_cell cell = read_cell(L, "kv", names);
    refuse_device(L);
    struct tarn_lua_cell *st = tarn_lua_new_kv(L);
    tarn_lua_check(L, tarn_kv_new(tarn_lua_context(L), &cell, &st->kv));
    return 1;
}

/* help: rnn.load(path, {phi=, device=}) -> st
 * Reads back a cell that st:save(path) wrote; it goes on where it was.
 * shapes: none
 * math: none  cost: O(B H C M)
 * errors: no such file, a content that is no cell, phi missing where it was a function
 * options: phi     the function or {apply=, grad=} of a cell that had one of the user's
 *          device  "cpu" | "emu" | "cuda"; unless given, that of --device
 * example:
 *   > path = os.tmpname()
 *   > st = rnn{D=2, M=2}
 *   > st:step(ones(2), ones(2), ones(2));
 *   > st:save(path)
 *   > rnn.load(path).t
 *   1
 *   > os.remove(path)
 *   true
 * see: st:save, rnn, read */
static int load(lua_State *L)
{
    static const char *const names[] = {"phi", "device", NULL};
    tarn_cell cell = {0};
    const char *path = tarn_lua_path(L, 1, "rnn.load");
    lua_settop(L, 2);
    if (tarn_lua_options(L, 2, "rnn.load", names))
        read_phi(L, "rnn.load", &cell);
    else
        lua_pushnil(L);
    const char *device = tarn_lua_opt_device(L, 2, "rnn.load");
    struct tarn_lua_cell *st = tarn_lua_new_rnn(L, -1);
    struct tarn_lua_call call = tarn_lua_enter(L, NULL);
    tarn_lua_leave(L, call,
                   tarn_rnn_load(tarn_lua_context(L), path, cell.phi, &st->rnn));
    tarn_lua_check(L, tarn_cell_move(tarn_lua_context(L), "rnn.load", st->rnn, device));
    return 1;
}

void tarn_open_rnn(lua_State *L)
{
    tarn_lua_open_states(L);

    lua_newtable(L);
    lua_pushcfunction(L, load);
    lua_setfield(L, -2, "load");
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, new_rnn);
    lua_setfield(L, -2, "__call");
    lua_setmetatable(L, -2);
    lua_setfield(L, -2, "rnn");
    lua_pushcfunction(L, new_kv);
    lua_setfield(L, -2, "kv");
}
