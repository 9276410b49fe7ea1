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

/* help: sim(q, k, v, {by="softmax", causal=false, scale=, eps=1e-6, lengths=,
 *       weights=false, precision=, impl=}) -> out [, weights]
 * Stage 1: attention as a weighted average over all pairs, by any similarity.
 * shapes: q [.., N', D], k [.., N, D], v [.., N, M] -> out [.., N', M],
 *         weights [.., N', N]; ranks 2 to 4; N' = N if causal
 * math: eq 3: out_i = sum_j sim(q_i, k_j) v_j / (sum_j sim(q_i, k_j) + eps)
 * cost: 2 N' N (D + M) flops a head; memory for the weights only if asked for
 * errors: shapes that do not fit together, an unknown similarity, mask= (see "lengths")
 * options: by       "softmax": exp(scale q.k), no eps |
 *                   "rbf": exp(-scale |q - k|^2 / 2) |
 *                   a feature map: scale phi(q).phi(k) | function(q_i, k_j) -> number
 *          causal   true: token i sees keys 1..i only
 *          scale    1/sqrt(D) for softmax, 1 for the others, unless given
 *          eps      added to the denominator, except in softmax
 *          lengths  a table or tensor of B whole numbers: keys beyond them do not exist
 *          weights  true: gives the weights as well
 *          precision  "accurate" (default) | "fast": plain sums, unscaled rows |
 *                   "tf32" | "bf16": a device's tensor cores
 *          impl     "fast" (default) | "plain"; on a device one of its kernels, "k1",
 *                   "k2", ..
 * example:
 *   > q, k, v = tensor{{0}}, tensor{{0}, {0}}, tensor{{2}, {4}}
 *   > sim(q, k, v)
 *   tensor [1, 1] float32 cpu
 *     3
 *   > function one(a, b) return 1 end
 *   > sim(q, k, v, {by=one, eps=0, weights=true})
 *   tensor [1, 1] float32 cpu
 *     3
 *   tensor [1, 2] float32 cpu
 *     0.5  0.5
 * see: assoc, sim_grad, kv, lengths, phis */
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

/* help: assoc(q, k, v, {phi="elu1", eps=1e-6, lengths=, precision=, impl=}) -> out
 * Stage 2: the same average with the product re-associated, in O(N); not causal.
 * shapes: q [.., N', D], k [.., N, D], v [.., N, M] -> out [.., N', M]; ranks 2 to 4
 * math: eqs 4-6: out_i = phi(q_i)^T S / (phi(q_i)^T z + eps),
 *       S = sum_j phi(k_j) v_j^T, z = sum_j phi(k_j)
 * cost: 2 (N' + N) C M flops, C M numbers of memory a head
 * errors: shapes that do not fit together, a similarity without a finite feature map
 * options: phi      feature map: a name, phi.name, a function, {apply=, grad=}
 *          eps      added to the denominator
 *          lengths  a table or tensor of B whole numbers: keys beyond them do not exist
 *          precision  "accurate" (default) | "fast": plain sums, unscaled rows |
 *                   "tf32" | "bf16": a device's tensor cores
 *          impl     "fast" (default) | "plain"; on a device one of its kernels, "k1",
 *                   "k2", ..
 * example:
 *   > q, k, v = tensor{{1}, {-1}}, tensor{{0}, {1}}, tensor{{3}, {6}}
 *   > assoc(q, k, v, {eps=0})
 *   tensor [2, 1] float32 cpu
 *     5
 *     5
 *   > allclose(assoc(q, k, v), sim(q, k, v, {by="elu1"}))
 *   true
 * see: sim, prefix, assoc_grad, lengths, phis */
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

/* help: prefix(q, k, v, {phi="elu1", eps=1e-6, state=, chunk=64, method="chunked",
 *       precision=, impl=, final=false}) -> out [, state]
 * Stage 3: causal attention as a prefix sum, in O(N).
 * shapes: q, k [.., N, D], v [.., N, M] -> out [.., N, M]; ranks 2 to 4
 * math: eqs 8-12: S_i = sum_{j<=i} phi(k_j) v_j^T, z_i = sum_{j<=i} phi(k_j),
 *       out_i = phi(q_i)^T S_i / (phi(q_i)^T z_i + eps)
 * cost: 4 N C M flops a head, chunked 2 N L (C + M) more; scan: N / L states of memory
 * errors: shapes that do not fit together, an unknown method, lengths= (see "lengths")
 * options: phi      feature map: a name, phi.name, a function, {apply=, grad=}
 *          eps      added to the denominator
 *          state    an rnn cell or {S=, z=}: what came before token 1; read, never
 *                   changed
 *          chunk    L, tokens a chunk
 *          method   "chunked" | "sequential" | "scan": other orders of the same sums
 *          precision  "accurate" (default) | "fast": plain sums, unscaled rows |
 *                   "tf32" | "bf16": a device's tensor cores
 *          impl     "fast" (default) | "plain"; on a device one of its kernels, "k1",
 *                   "k2", ..
 *          final    true: gives the state after token N as well, an rnn cell
 * example:
 *   > q, k, v = tensor{{1}, {-1}}, tensor{{0}, {1}}, tensor{{3}, {6}}
 *   > out, st = prefix(q, k, v, {eps=0, final=true})
 *   > out
 *   tensor [2, 1] float32 cpu
 *     3
 *     5
 *   > st:step(q[1], k[1], v[1])
 *   tensor [1] float32 cpu
 *     4.5
 * see: rnn, assoc, equiv, prefix_grad, state */
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

/* help: sim_grad(q, k, v, dout, {by="softmax", causal=false, scale=, eps=1e-6,
 *       lengths=, precision=, impl=}) -> dq, dk, dv
 * The gradient of sim, given the gradient of its output.
 * shapes: dout as out; dq, dk, dv as q, k, v
 * math: the derivative of eq 3, pair by pair
 * cost: 2 N' N (3 D + 2 M) flops a head
 * errors: as sim; a function of q_i and k_j as by=, whose derivative nobody knows
 * options: by       "softmax" | "rbf" | a feature map, a user's with its grad
 *          causal   true: token i sees keys 1..i only
 *          scale    1/sqrt(D) for softmax, 1 for the others, unless given
 *          eps      added to the denominator, except in softmax
 *          lengths  a table or tensor of B whole numbers: keys beyond them do not exist
 *          precision  "accurate" (default) | "fast" | "tf32" | "bf16"
 *          impl     "fast" (default) | "plain"; on a device one of its kernels, "k1",
 *                   "k2", ..
 * example:
 *   > q, k, v = tensor{{0}}, tensor{{0}, {0}}, tensor{{2}, {4}}
 *   > dq, dk, dv = sim_grad(q, k, v, ones(1, 1))
 *   > dv
 *   tensor [2, 1] float32 cpu
 *     0.5
 *     0.5
 * see: sim, gradcheck, assoc_grad */
static int sim_grad(lua_State *L)
{
    static const struct tarn_lua_form form = {"sim_grad", sim_grad_options, true};
    return differentiate(L, &form, tarn_sim_grad);
}

/* help: assoc_grad(q, k, v, dout, {phi="elu1", eps=1e-6, lengths=, precision=, impl=})
 *       -> dq, dk, dv
 * The gradient of assoc, given the gradient of its output.
 * shapes: dout as out; dq, dk, dv as q, k, v
 * math: eqs 13-15 with sums over all tokens, and the path through the denominator
 * cost: O((N' + N) C M) flops a head
 * errors: as assoc; a user's feature map without grad
 * options: phi      feature map: a name, phi.name, {apply=, grad=}
 *          eps      added to the denominator
 *          lengths  a table or tensor of B whole numbers: keys beyond them do not exist
 *          precision  "accurate" (default) | "fast" | "tf32" | "bf16"
 *          impl     "fast" (default) | "plain"; on a device one of its kernels, "k1",
 *                   "k2", ..
 * example:
 *   > q, k, v = tensor{{1}}, tensor{{0}, {1}}, tensor{{3}, {6}}
 *   > dq, dk, dv = assoc_grad(q, k, v, ones(1, 1), {eps=0})
 *   > dk
 *   tensor [2, 1] float32 cpu
 *     -0.6667
 *      0.3333
 * see: assoc, gradcheck, prefix_grad */
static int assoc_grad(lua_State *L)
{
    static const struct tarn_lua_form form = {"assoc_grad", assoc_options, true};
    return differentiate(L, &form, tarn_assoc_grad);
}

/* help: prefix_grad(q, k, v, dout, {phi="elu1", eps=1e-6, state=, dstate=, chunk=64,
 *       method="chunked", precision=, impl=}) -> dq, dk, dv [, dstate0]
 * The gradient of prefix, given those of its output and of its final state.
 * shapes: dout as out; dq, dk, dv as q, k, v; with state= also dstate0 = {S=, z=}
 * math: eqs 13-15 with the denominator's path:
 *       Gn_i = dout_i / den_i, gd_i = -(Gn_i . out_i), dphi(q_i) = S_i Gn_i + gd_i z_i,
 *       dphi(k_j) = R_j v_j + r_j, dv_j = R_j^T phi(k_j),
 *       R_j = sum_{i>=j} phi(q_i) Gn_i^T, r_j = sum_{i>=j} gd_i phi(q_i)
 * cost: 10 N C M flops a head
 * errors: as prefix; a user's feature map without grad
 * options: phi      feature map: a name, phi.name, {apply=, grad=}
 *          eps      added to the denominator
 *          state    an rnn cell or {S=, z=}: what came before token 1
 *          dstate   {S=, z=}: the gradient that arrives at the final state
 *          chunk    L, tokens a chunk
 *          method   "chunked" | "sequential" | "scan"
 *          precision  "accurate" (default) | "fast" | "tf32" | "bf16"
 *          impl     "fast" (default) | "plain"; on a device one of its kernels, "k1",
 *                   "k2", ..
 * example:
 *   > q, k, v = tensor{{1}, {-1}}, tensor{{0}, {1}}, tensor{{3}, {6}}
 *   > dq, dk, dv = prefix_grad(q, k, v, ones(2, 1), {eps=0})
 *   > dv
 *   tensor [2, 1] float32 cpu
 *     1.3333
 *     0.6667
 * see: prefix, rnn_grad, gradcheck */
static int prefix_grad(lua_State *L)
{
    static const struct tarn_lua_form form = {"prefix_grad", prefix_grad_options, true};
    return differentiate(L, &form, tarn_prefix_grad);
}

/* help: rnn_grad(q, k, v, dout, {phi="elu1", eps=1e-6, state=, dstate=, precision=,
 *       impl=}) -> dq, dk, dv [, dstate0]
 * The gradient of a cell's run, back through time from a few kept states.
 * shapes: dout as out; dq, dk, dv as q, k, v; with state= also dstate0 = {S=, z=}
 * math: as prefix_grad: the two are the same function of q, k, v
 * cost: 10 N C M flops a head; keeps about 2 sqrt(N) states
 * errors: as rnn; a user's feature map without grad
 * options: phi      feature map: a name, phi.name, {apply=, grad=}
 *          eps      added to the denominator
 *          state    an rnn cell or {S=, z=}: what came before token 1
 *          dstate   {S=, z=}: the gradient that arrives at the final state
 *          precision  "accurate" (default) | "fast" | "tf32" | "bf16"
 *          impl     "fast" (default) | "plain"; on a device one of its kernels, "k1",
 *                   "k2", ..
 * example:
 *   > q, k, v = tensor{{1}, {-1}}, tensor{{0}, {1}}, tensor{{3}, {6}}
 *   > dq, dk, dv = rnn_grad(q, k, v, ones(2, 1), {eps=0})
 *   > dv
 *   tensor [2, 1] float32 cpu
 *     1.3333
 *     0.6667
 * see: rnn, prefix_grad, gradcheck */
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
