/* lua_callback.c: functions of the user's that C calls while a form runs.
 *
 * Three of them: a feature map, its gradient, and a similarity of one query and one
 * key. C knows such a function as a `void *`, the address of a holder: a userdata
 * that has the Lua functions as user values. A weak table in the registry leads from
 * the address back to the userdata; a strong reference there would keep a function
 * alive that refers to the very state that uses it. The same table finds the holder
 * of a feature map that is given again, so that a state knows the map it was made
 * with.
 *
 *   registry[&holders_key]  weak table: address -> holder, function -> holder
 *   registry[&calls_key]    struct calls; user value 1: the error object on its way
 *
 * Between pcall and C nothing may raise, since longjmp would skip C's clean-up: all
 * work on Lua values happens in a body, a C function that runs protected. */
#include "repl/lua_attention.h"

static const char holders_key, calls_key;

struct calls {
    lua_State *L; /* who entered last and has not left */
    bool raised;  /* user value 1 is an error object that nobody has seen yet */
};

struct holder {
    struct calls *calls;
    tarn_phi phi;
};

/* What C hands to a body and takes from it. */
struct request {
    struct holder *holder;
    tarn_context *ctx;
    const tarn_tensor *first, *second; /* x and dfeatures, or q_i and k_j */
    tarn_tensor **out;
    double *number;
};

/* ---- entering and leaving -------------------------------------------------------- */

void tarn_lua_open_callbacks(lua_State *L)
{
    struct calls *calls = lua_newuserdatauv(L, sizeof *calls, 1);
    *calls = (struct calls){0};
    lua_rawsetp(L, LUA_REGISTRYINDEX, &calls_key);

    lua_newtable(L);
    lua_createtable(L, 0, 1);
    lua_pushliteral(L, "kv");
    lua_setfield(L, -2, "__mode");
    lua_setmetatable(L, -2);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &holders_key);
}

static struct calls *push_calls(lua_State *L)
{
    lua_rawgetp(L, LUA_REGISTRYINDEX, &calls_key);
    return lua_touserdata(L, -1);
}

struct tarn_lua_call tarn_lua_enter(lua_State *L, struct tarn_lua_cell *cell)
{
    luaL_checkstack(L, 4, NULL); /* also for leave */
    struct calls *calls = push_calls(L);
    const struct tarn_lua_call call = {calls->L, cell};
    calls->L = L;
    calls->raised = false;
    lua_pop(L, 1);
    if (cell) cell->busy++;
    return call;
}

void tarn_lua_leave(lua_State *L, struct tarn_lua_call call, tarn_status status)
{
    struct calls *calls = push_calls(L);
    calls->L = call.outer;
    if (call.cell) call.cell->busy--;
    if (status == TARN_EUSER && calls->raised) {
        calls->raised = false;
        lua_getiuservalue(L, -1, 1);
        lua_pushnil(L);
        lua_setiuservalue(L, -3, 1);
        lua_error(L);
    }
    lua_pop(L, 1);
    tarn_lua_check(L, status);
}

/* Runs a body protected. Nothing here allocates in Lua's state outside pcall. */
static tarn_status call_back(lua_CFunction body, struct request *request)
{
    lua_State *L = request->holder->calls->L;
    if (!lua_checkstack(L, 8))
        return tarn_raise(request->ctx, TARN_ENOMEM, "too many nested calls");
    lua_pushcfunction(L, body);
    lua_pushlightuserdata(L, request);
    if (lua_pcall(L, 1, 0, 0) == LUA_OK) return TARN_OK;

    /* Keep the error object for leave, and its text for whoever asks C. */
    const char *text = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1)
                                                      : "an error that is not a string";
    tarn_status status = tarn_raise(request->ctx, TARN_EUSER, text);
    push_calls(L)->raised = true;
    lua_rotate(L, -2, 1);
    lua_setiuservalue(L, -2, 1);
    lua_pop(L, 1);
    return status;
}

/* ---- the bodies ------------------------------------------------------------------ */

static void push_function(lua_State *L, const struct holder *holder, int which)
{
    lua_rawgetp(L, LUA_REGISTRYINDEX, &holders_key);
    lua_rawgetp(L, -1, holder);
    lua_getiuservalue(L, -1, which);
}

/* The user gets a copy: what he does to it in place, or keeps, is his. */
static void push_copy(lua_State *L, tarn_context *ctx, const tarn_tensor *t)
{
    tarn_tensor **copy = tarn_lua_slot(L);
    tarn_lua_check(L, tarn_clone(ctx, t, tarn_tensor_dtype(t), copy));
}

static const char *dtype_name(const tarn_tensor *t)
{
    return tarn_tensor_dtype(t) == TARN_FLOAT64 ? "float64" : "float32";
}

/* Copies the tensor on top of the stack out, after checking that it is one row of
 * results for each row of x; `columns` is 0 where any number will do. */
static void take_rows(lua_State *L, const struct request *r, const char *what,
                      size_t columns)
{
    char given[128];
    const tarn_tensor *x = r->first, *got = tarn_lua_to_tensor(L, -1);
    const size_t rows = tarn_tensor_shape(x)[0];
    const size_t *shape = got ? tarn_tensor_shape(got) : NULL;
    const bool fits = got && tarn_tensor_rank(got) == 2 && shape[0] == rows &&
                      (columns == 0 || shape[1] == columns);
    if (!fits && columns == 0)
        tarn_lua_fail(L,
                      "phi: the function returned %s, expected a tensor [%zu, C]: "
                      "one row of features for each of its rows",
                      tarn_lua_describe(L, -1, given, sizeof given), rows);
    if (!fits)
        tarn_lua_fail(L,
                      "phi: %s returned %s, expected a tensor [%zu, %zu], as its "
                      "argument",
                      what, tarn_lua_describe(L, -1, given, sizeof given), rows,
                      columns);
    if (tarn_tensor_dtype(got) != tarn_tensor_dtype(x))
        tarn_lua_fail(L,
                      "phi: %s returned %s for %s rows; hint: give t:to(\"%s\") "
                      "back",
                      what, dtype_name(got), dtype_name(x), dtype_name(x));
    tarn_lua_check(L, tarn_clone(r->ctx, got, tarn_tensor_dtype(x), r->out));
}

static int apply_body(lua_State *L)
{
    const struct request *r = lua_touserdata(L, 1);
    push_function(L, r->holder, 1);
    push_copy(L, r->ctx, r->first);
    lua_call(L, 1, 1);
    take_rows(L, r, "the function", 0);
    return 0;
}

static int grad_body(lua_State *L)
{
    const struct request *r = lua_touserdata(L, 1);
    push_function(L, r->holder, 2);
    push_copy(L, r->ctx, r->first);
    push_copy(L, r->ctx, r->second);
    lua_call(L, 2, 1);
    take_rows(L, r, "grad", tarn_tensor_shape(r->first)[1]);
    return 0;
}

static int pair_body(lua_State *L)
{
    char given[128];
    const struct request *r = lua_touserdata(L, 1);
    push_function(L, r->holder, 1);
    push_copy(L, r->ctx, r->first);
    push_copy(L, r->ctx, r->second);
    lua_call(L, 2, 1);

    /* Take a number, or a tensor of one element as reductions give it. */
    const size_t origin[TARN_MAX_RANK] = {0};
    const tarn_tensor *got = tarn_lua_to_tensor(L, -1);
    if (got && tarn_tensor_numel(got) == 1)
        tarn_lua_check(L, tarn_tensor_get(r->ctx, got, origin, r->number));
    else if (lua_type(L, -1) == LUA_TNUMBER)
        *r->number = lua_tonumber(L, -1);
    else
        tarn_lua_fail(L,
                      "sim: by returned %s, expected a number: the similarity of "
                      "q_i and k_j",
                      tarn_lua_describe(L, -1, given, sizeof given));
    return 0;
}

/* ---- what C calls ---------------------------------------------------------------- */

static tarn_status apply(tarn_context *ctx, void *user, const tarn_tensor *x,
                         tarn_tensor **features)
{
    return call_back(apply_body, &(struct request){user, ctx, x, NULL, features, NULL});
}

static tarn_status grad(tarn_context *ctx, void *user, const tarn_tensor *x,
                        const tarn_tensor *dfeatures, tarn_tensor **dx)
{
    return call_back(grad_body, &(struct request){user, ctx, x, dfeatures, dx, NULL});
}

tarn_status tarn_lua_pair(tarn_context *ctx, void *user, const tarn_tensor *q_i,
                          const tarn_tensor *k_j, double *similarity)
{
    return call_back(pair_body,
                     &(struct request){user, ctx, q_i, k_j, NULL, similarity});
}

/* ---- holders --------------------------------------------------------------------- */

static struct holder *push_holder(lua_State *L, int first, int second)
{
    struct holder *holder = lua_newuserdatauv(L, sizeof *holder, 2);
    *holder = (struct holder){.calls = push_calls(L)};
    lua_pop(L, 1);
    lua_pushvalue(L, first);
    lua_setiuservalue(L, -2, 1);
    if (second != 0) {
        lua_pushvalue(L, second);
        lua_setiuservalue(L, -2, 2);
    }
    lua_rawgetp(L, LUA_REGISTRYINDEX, &holders_key);
    lua_pushvalue(L, -2);
    lua_rawsetp(L, -2, holder);
    lua_pop(L, 1);
    return holder;
}

/* Pushes the map's holder if these two functions have one already, else nothing. */
static struct holder *push_known(lua_State *L, int apply_index, int grad_index)
{
    lua_rawgetp(L, LUA_REGISTRYINDEX, &holders_key);
    lua_pushvalue(L, apply_index);
    lua_rawget(L, -2);
    lua_remove(L, -2);
    struct holder *holder = lua_touserdata(L, -1);
    if (holder) {
        lua_getiuservalue(L, -1, 2);
        bool same =
            grad_index == 0 ? lua_isnil(L, -1) : lua_rawequal(L, -1, grad_index);
        lua_pop(L, 1);
        if (same) return holder;
    }
    lua_pop(L, 1);
    return NULL;
}

const tarn_phi *tarn_lua_hold_phi(lua_State *L, int apply_index, int grad_index)
{
    luaL_checkstack(L, 6, NULL);
    apply_index = lua_absindex(L, apply_index);
    if (grad_index != 0) grad_index = lua_absindex(L, grad_index);
    struct holder *holder = push_known(L, apply_index, grad_index);
    if (holder) return &holder->phi;

    holder = push_holder(L, apply_index, grad_index);
    holder->phi = (tarn_phi){.name = "function",
                             .equation = "a Lua function",
                             .width = "C",
                             .positivity = "unknown",
                             .derivative = grad_index ? "a Lua function" : "none",
                             .builtin = -1,
                             .apply = apply,
                             .grad = grad_index ? grad : NULL,
                             .user = holder};
    lua_rawgetp(L, LUA_REGISTRYINDEX, &holders_key);
    lua_pushvalue(L, apply_index);
    lua_pushvalue(L, -3);
    lua_rawset(L, -3);
    lua_pop(L, 1);
    return &holder->phi;
}

void *tarn_lua_hold_pair(lua_State *L, int index)
{
    luaL_checkstack(L, 6, NULL);
    return push_holder(L, lua_absindex(L, index), 0);
}
