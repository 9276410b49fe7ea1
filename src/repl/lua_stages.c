/* lua_stages.c: sim, assoc, prefix and the gradients in Lua. Chapters 1 to 7.
 *
 * Each function reads (q, k, v[, dout][, options]), makes one C call and gives back
 * what it computed, the output first. */
#include "repl/lua_attention.h"

#define COMMON "eps", "precision", "impl"

static const char *const sim_options[] = {"by",      "causal", "scale", "lengths",
                                          "weights", COMMON,   NULL};
static const char *const assoc_options[] = {"phi", "lengths", COMMON, NULL};
static const char *const prefix_options[] = {"phi",   "state", "chunk", "method",
                                             "final", COMMON,  NULL};
static const char *const sim_grad_options[] = {"by",      "causal", "scale",
                                               "lengths", COMMON,   NULL};
static const char *const prefix_grad_options[] = {"phi",    "state", "chunk", "method",
                                                  "dstate", COMMON,  NULL};
static const char *const rnn_grad_options[] = {"phi", "state", "dstate", COMMON, NULL};

static int sim(lua_State *L)
{
    static const struct tarn_lua_form form = {"sim", sim_options, false};
    struct tarn_lua_attention a = {.options = tarn_defaults()};
    bool with_weights = false;
    lua_settop(L, 4);
    tarn_lua_attention(L, &form, 1, 4, &a);
    tarn_lua_opt_boolean(L, 4, form.name, "weights", &with_weights);

    tarn_tensor **out = tarn_lua_slot(L), **weights = NULL;
    if (with_weights) weights = tarn_lua_slot(L);
    struct tarn_lua_call call = tarn_lua_enter(L, NULL);
    tarn_lua_leave(
        L, call,
        tarn_sim(tarn_lua_context(L), a.q, a.k, a.v, &a.options, out, weights));
    return with_weights ? 2 : 1;
}

static int assoc(lua_State *L)
{
    static const struct tarn_lua_form form = {"assoc", assoc_options, false};
    struct tarn_lua_attention a = {.options = tarn_defaults()};
    lua_settop(L, 4);
    tarn_lua_attention(L, &form, 1, 4, &a);

    tarn_tensor **out = tarn_lua_slot(L);
    struct tarn_lua_call call = tarn_lua_enter(L, NULL);
    tarn_lua_leave(L, call,
                   tarn_assoc(tarn_lua_context(L), a.q, a.k, a.v, &a.options, out));
    return 1;
}

static int prefix(lua_State *L)
{
    static const struct tarn_lua_form form = {"prefix", prefix_options, false};
    struct tarn_lua_attention a = {.options = tarn_defaults()};
    bool with_final = false;
    lua_settop(L, 4);
    tarn_lua_attention(L, &form, 1, 4, &a);
    tarn_lua_opt_boolean(L, 4, form.name, "final", &with_final);

    tarn_tensor **out = tarn_lua_slot(L);
    struct tarn_lua_cell *final = with_final ? tarn_lua_new_rnn(L, a.phi_index) : NULL;
    struct tarn_lua_call call = tarn_lua_enter(L, a.cell);
    tarn_lua_leave(L, call,
                   tarn_prefix(tarn_lua_context(L), a.q, a.k, a.v, &a.options, out,
                               final ? &final->rnn : NULL));
    return with_final ? 2 : 1;
}

/* ---- gradients ------------------------------------------------------------------- */

typedef tarn_status gradient(tarn_context *ctx, const tarn_tensor *q,
                             const tarn_tensor *k, const tarn_tensor *v,
                             const tarn_tensor *dout, const tarn_options *options,
                             tarn_grads *grads);

/* Pushes {S=, z=} of the two slots on top of the stack. */
static void push_dstate(lua_State *L)
{
    lua_createtable(L, 0, 2);
    lua_insert(L, -3);
    lua_setfield(L, -3, "z");
    lua_setfield(L, -2, "S");
}

/* (q, k, v, dout, options) -> dq, dk, dv [, dstate0 where there was a state]. */
static int differentiate(lua_State *L, const struct tarn_lua_form *form,
                         gradient *function)
{
    struct tarn_lua_attention a = {.options = tarn_defaults()};
    lua_settop(L, 5);
    tarn_lua_attention(L, form, 1, 5, &a);
    const tarn_tensor *dout = tarn_lua_keep(L, 4, form->name, "dout");

    tarn_tensor **slot[5];
    for (int i = 0; i < 5; i++) slot[i] = tarn_lua_slot(L);
    tarn_grads grads = {0};
    struct tarn_lua_call call = tarn_lua_enter(L, a.cell);
    tarn_status status =
        function(tarn_lua_context(L), a.q, a.k, a.v, dout, &a.options, &grads);
    tarn_tensor *const results[5] = {grads.dq, grads.dk, grads.dv, grads.dS0,
                                     grads.dz0};
    for (int i = 0; i < 5; i++) *slot[i] = results[i];
    tarn_lua_leave(L, call, status);

    if (a.options.state) {
        push_dstate(L);
        return 4;
    }
    lua_pop(L, 2);
    return 3;
}

static int sim_grad(lua_State *L)
{
    static const struct tarn_lua_form form = {"sim_grad", sim_grad_options, true};
    return differentiate(L, &form, tarn_sim_grad);
}

static int assoc_grad(lua_State *L)
{
    static const struct tarn_lua_form form = {"assoc_grad", assoc_options, true};
    return differentiate(L, &form, tarn_assoc_grad);
}

static int prefix_grad(lua_State *L)
{
    static const struct tarn_lua_form form = {"prefix_grad", prefix_grad_options, true};
    return differentiate(L, &form, tarn_prefix_grad);
}

static int rnn_grad(lua_State *L)
{
    static const struct tarn_lua_form form = {"rnn_grad", rnn_grad_options, true};
    return differentiate(L, &form, tarn_rnn_grad);
}

void tarn_open_stages(lua_State *L)
{
    static const luaL_Reg functions[] = {{"sim", sim},
                                         {"assoc", assoc},
                                         {"prefix", prefix},
                                         {"sim_grad", sim_grad},
                                         {"assoc_grad", assoc_grad},
                                         {"prefix_grad", prefix_grad},
                                         {"rnn_grad", rnn_grad},
                                         {NULL, NULL}};
    luaL_setfuncs(L, functions, 0);
}
