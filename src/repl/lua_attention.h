/* lua_attention.h: what the bindings of the attention forms share. Internal.
 *
 *   calling back   functions of the user's, called while a form runs (lua_callback.c)
 *   reading        q, k, v and the table of options as C wants them (lua_attention.c)
 *   states         cells as userdata, from rnn, kv and prefix{final=true} (lua_state.c)
 *
 * Whatever a reader below needs to keep alive during the C call it leaves on Lua's
 * stack, so that a callback which changes the table of options can't pull it away. */
#ifndef TARN_LUA_ATTENTION_H
#define TARN_LUA_ATTENTION_H

#include "repl/bind.h"

/* ---- calling back ---------------------------------------------------------------- */

/* Makes what the functions below keep in the registry; once for each Lua universe. */
void tarn_lua_open_callbacks(lua_State *L);

/* A cell in Lua: one of the two pointers is set. While a C call works on it `busy`
 * is not 0, and a callback can neither change nor end it. */
struct tarn_lua_cell {
    tarn_rnn *rnn;
    tarn_kv *kv;
    int busy;
};

/* Enclose every C call that may call the user back, or may run Lua's collector:
 *
 *     struct tarn_lua_call call = tarn_lua_enter(L, cell);
 *     tarn_lua_leave(L, call, tarn_assoc(...));
 *
 * with the cell that is worked on, or NULL. Callbacks run in the coroutine that
 * entered. An error in one of them comes out of leave as the very object that was
 * raised; any other status goes through tarn_lua_check. */
struct tarn_lua_call {
    lua_State *outer; /* who was in a C call before: calls may be nested */
    struct tarn_lua_cell *cell;
};
struct tarn_lua_call tarn_lua_enter(lua_State *L, struct tarn_lua_cell *cell);
void tarn_lua_leave(lua_State *L, struct tarn_lua_call call, tarn_status status);

/* Pushes a userdata that holds the feature map whose functions stand at two stack
 * indices (grad: 0 for none). The map lives as long as the userdata. */
const tarn_phi *tarn_lua_hold_phi(lua_State *L, int apply, int grad);

/* Pushes a userdata that holds the similarity function at `index`; its address is what
 * tarn_lua_pair takes as `user`. */
void *tarn_lua_hold_pair(lua_State *L, int index);
tarn_status tarn_lua_pair(tarn_context *ctx, void *user, const tarn_tensor *q_i,
                          const tarn_tensor *k_j, double *similarity);

/* ---- reading --------------------------------------------------------------------- */

/* The option impl of the table at an index, or NULL. */
const char *tarn_lua_impl(lua_State *L, int table, const char *function);

/* A built-in map if the value is its name or phi.name itself, else NULL. */
const tarn_phi *tarn_lua_builtin_phi(lua_State *L, int index);

/* The feature map at `index`: built in, a function, or {apply=, grad=}; an error if
 * it is none of them, or has no gradient and one is needed. Pushes one value: what
 * keeps the map alive, nil if it is built in. */
const tarn_phi *tarn_lua_phi(lua_State *L, int index, const char *function,
                             bool gradient);

/* True for the similarities that no finite feature map has: "softmax" and "rbf". */
bool tarn_lua_infinite(const char *similarity);

/* Raises that `word` is no feature map or, where `any` will do, no similarity; with the
 * reason if it is an infinite one. */
void tarn_lua_unknown_phi(lua_State *L, const char *function, const char *word,
                          bool any);

/* One form as Lua sees it. */
struct tarn_lua_form {
    const char *name;           /* "prefix_grad", for messages */
    const char *const *options; /* what its table may have, NULL-terminated */
    bool gradient;              /* a user's map must have grad */
};

struct tarn_lua_attention {
    const tarn_tensor *q, *k, *v;
    tarn_options options;       /* to be set to the defaults by the caller */
    int phi_index;              /* what keeps options.phi alive: a stack index, or 0 */
    struct tarn_lua_cell *cell; /* that options.state is of, or NULL */
};

/* Reads q, k, v at first, first + 1, first + 2 and the options at `table`. */
void tarn_lua_attention(lua_State *L, const struct tarn_lua_form *form, int first,
                        int table, struct tarn_lua_attention *a);

/* Pushes a second handle on the tensor at an index; fails as tarn_lua_tensor does. */
const tarn_tensor *tarn_lua_keep(lua_State *L, int index, const char *function,
                                 const char *argument);

/* Refuses options that people look for here and that can't be, with the reason. */
void tarn_lua_explain(lua_State *L, int table, const char *function,
                      const char *const *names);

/* ---- states ---------------------------------------------------------------------- */

/* Pushes an empty state; `phi_index` (or 0) is what keeps its feature map alive. */
struct tarn_lua_cell *tarn_lua_new_rnn(lua_State *L, int phi_index);

/* Pushes an empty cache. */
struct tarn_lua_cell *tarn_lua_new_kv(lua_State *L);

/* The state at an index, or NULL if it is no rnn state; a closed one is an error. */
struct tarn_lua_cell *tarn_lua_to_rnn(lua_State *L, int index);

/* Makes the types of states, before any is pushed. */
void tarn_lua_open_states(lua_State *L);

#endif
