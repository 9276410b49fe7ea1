/* lua_attention.c: q, k, v and the table of options, read as C wants them.
 *
 * Every form reads the same way; which options a form has is its list of names.
 * Options that are not in the list are refused first, so a reader below may look for
 * any of them.
 *
 *   phi, by        a feature map or a similarity
 *   eps, scale     numbers
 *   causal         a truth value
 *   chunk          tokens a chunk
 *   method, precision, impl    words
 *   lengths        a table or tensor of integers, one a batch entry
 *   state, dstate  an rnn state or {S=, z=}; the gradient that arrives at the last one
 *
 * C checks values and shapes; here only what C can't see is checked: Lua's types,
 * and fractions where integers belong. */
#include "repl/lua_attention.h"
#include "cell.h"
#include "core/tensor.h"
#include <stdio.h>
#include <string.h>

/* ---- reasons --------------------------------------------------------------------- */

/* What people look for where it can't be. */
static const struct reason {
    const char *option, *reason;
    const char *beside; /* an option that the function has, if it must have one */
} reasons[] = {
    {"mask",
     "a mask over pairs of query and key can't be split into features of each (eq 5); "
     "padding is lengths= in sim and assoc, order is causal=true in sim, or prefix",
     NULL},
    {"phi", "a similarity is chosen with by=, for example by='elu1'", "by"},
    {"phi", "this is softmax's cache; hint: rnn{D=, M=, phi=} keeps sums of features",
     NULL},
    {"by", "only sim takes any similarity; a feature map is chosen with phi=", NULL},
    {"causal",
     "assoc sees all keys, prefix and rnn only those up to the query; sim has the "
     "choice",
     NULL},
    {"lengths",
     "in a causal form no token sees the padding that comes after it; ignore the "
     "outputs there",
     NULL},
};

static bool listed(const char *word, const char *const *names)
{
    while (*names && strcmp(word, *names) != 0) names++;
    return *names != NULL;
}

/* Pushes a second handle on a tensor: the user's own may be closed by a callback. */
static const tarn_tensor *keep(lua_State *L, const tarn_tensor *t)
{
    tarn_tensor **slot = tarn_lua_slot(L);
    tarn_lua_check(L, tarn_view_new(tarn_lua_context(L), t, slot));
    return *slot;
}

const tarn_tensor *tarn_lua_keep(lua_State *L, int index, const char *function,
                                 const char *argument)
{
    return keep(L, tarn_lua_tensor(L, index, function, argument));
}

/* Pushes an option without running metamethods; pops it again if it is nil. */
static bool push_option(lua_State *L, int table, const char *name)
{
    if (!lua_istable(L, table)) return false;
    lua_pushstring(L, name);
    if (lua_rawget(L, table) != LUA_TNIL) return true;
    lua_pop(L, 1);
    return false;
}

void tarn_lua_explain(lua_State *L, int table, const char *function,
                      const char *const *names)
{
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        const struct reason *r = &reasons[i];
        if (r->beside && !listed(r->beside, names)) continue;
        if (listed(r->option, names) || !push_option(L, table, r->option)) continue;
        if (strcmp(r->option, "by") == 0 && lua_type(L, -1) == LUA_TSTRING &&
            tarn_lua_infinite(lua_tostring(L, -1)))
            tarn_lua_unknown_phi(L, function, lua_tostring(L, -1), false);
        tarn_lua_fail(L, "%s: there is no option '%s': %s", function, r->option,
                      r->reason);
    }
}

/* ---- similarities ---------------------------------------------------------------- */

/* Reads by=: a similarity's name, a function of q_i and k_j, or a feature map. */
static void read_by(lua_State *L, const struct tarn_lua_form *form, int table,
                    struct tarn_lua_attention *a)
{
    tarn_options *o = &a->options;
    if (!push_option(L, table, "by")) return;
    const char *word = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "";
    if (tarn_lua_infinite(word)) {
        o->by = strcmp(word, "rbf") == 0 ? TARN_RBF : TARN_SOFTMAX;
    } else if (lua_isfunction(L, -1) && !tarn_lua_builtin_phi(L, -1)) {
        if (form->gradient)
            tarn_lua_fail(L,
                          "%s: by is a function of q_i and k_j, whose derivative "
                          "nobody knows; hint: as a feature map it can have one: "
                          "{apply=, grad=}",
                          form->name);
        o->by = TARN_PAIR;
        o->user = tarn_lua_hold_pair(L, -1);
        o->pair = tarn_lua_pair;
    } else {
        if (*word && !tarn_lua_builtin_phi(L, -1))
            tarn_lua_unknown_phi(L, form->name, word, true);
        o->by = TARN_PHI;
        o->phi = tarn_lua_phi(L, -1, form->name, form->gradient);
        a->phi_index = lua_gettop(L);
    }
}

static void read_phi(lua_State *L, const struct tarn_lua_form *form, int table,
                     struct tarn_lua_attention *a)
{
    if (!push_option(L, table, "phi")) return;
    if (push_option(L, table, "by"))
        tarn_lua_fail(L, "%s: by and phi are both given, expected one of them",
                      form->name);
    a->options.phi = tarn_lua_phi(L, -1, form->name, form->gradient);
    a->phi_index = lua_gettop(L);
}

/* ---- numbers and words ----------------------------------------------------------- */

static void read_numbers(lua_State *L, const char *function, int table, tarn_options *o)
{
    lua_Integer chunk;
    tarn_lua_opt_number(L, table, function, "eps", &o->eps);
    tarn_lua_opt_number(L, table, function, "scale", &o->scale);
    tarn_lua_opt_boolean(L, table, function, "causal", &o->causal);
    if (!tarn_lua_opt_integer(L, table, function, "chunk", &chunk)) return;
    if (chunk < 1)
        tarn_lua_fail(L, "%s: chunk is %lld, expected 1 or more tokens", function,
                      (long long)chunk);
    o->chunk = (size_t)chunk;
}

/* Implementations of the cpu, and rungs of devices' ladders. Which of them there are where
 * the tensors lie, the library says. */
const char *tarn_lua_impl(lua_State *L, int table, const char *function)
{
    static const char *const words[] = {"fast", "plain",  "k1",   "k2",     "k3", "k4",
                                        "tf32", "tf32k2", "bf16", "bf16k2", NULL};
    int word;
    return tarn_lua_opt_word(L, table, function, "impl", words, &word) ? words[word]
                                                                       : NULL;
}

static void read_words(lua_State *L, const char *function, int table, tarn_options *o)
{
    static const char *const methods[] = {"chunked", "sequential", "scan", NULL};
    static const char *const precisions[] = {"accurate", "fast", "tf32", "bf16", NULL};
    int word;
    if (tarn_lua_opt_word(L, table, function, "method", methods, &word))
        o->method = (tarn_method)word;
    if (tarn_lua_opt_word(L, table, function, "precision", precisions, &word))
        o->precision = (tarn_precision)word;
    o->impl = tarn_lua_impl(L, table, function);
}

/* ---- lengths --------------------------------------------------------------------- */

/* The value on top of the stack as the i-th length. */
static int64_t one_length(lua_State *L, const char *function, size_t i)
{
    char given[80];
    lua_Integer length;
    if (!tarn_lua_integer(L, -1, &length))
        tarn_lua_fail(L, "%s: lengths[%zu] is %s, expected a whole number of keys",
                      function, i + 1, tarn_lua_describe(L, -1, given, sizeof given));
    return length;
}

static void read_lengths(lua_State *L, const char *function, int table, tarn_options *o)
{
    char given[80];
    if (!push_option(L, table, "lengths")) return;
    const int source = lua_gettop(L);
    const tarn_tensor *t = tarn_lua_to_tensor(L, source);
    if (!lua_istable(L, source) && !(t && tarn_tensor_rank(t) == 1))
        tarn_lua_fail(L,
                      "%s: lengths is %s, expected a table or a tensor [B] of "
                      "integers, one for each batch entry",
                      function, tarn_lua_describe(L, source, given, sizeof given));

    /* Copy the integers into a userdata that stays on the stack during the call. */
    const size_t count = t ? tarn_tensor_shape(t)[0] : (size_t)lua_rawlen(L, source);
    if (count == 0)
        tarn_lua_fail(L, "%s: lengths is empty, expected B integers", function);
    int64_t *lengths = lua_newuserdatauv(L, count * sizeof *lengths, 0);
    for (size_t i = 0; i < count; i++) {
        double value = 0;
        if (t) {
            tarn_lua_check(L, tarn_tensor_get(tarn_lua_context(L), t, &i, &value));
            lua_pushnumber(L, value);
        } else {
            lua_rawgeti(L, source, (lua_Integer)i + 1);
        }
        lengths[i] = one_length(L, function, i);
        lua_pop(L, 1);
    }
    o->lengths = lengths;
    o->lengths_count = count;
}

/* ---- states ---------------------------------------------------------------------- */

/* Leaves S and z of {S=, z=} at `index` on the stack. */
static void push_sums(lua_State *L, int index, const char *function, const char *name)
{
    static const char *const keys[] = {"S", "z", NULL};
    char given[80];
    if (!lua_istable(L, index))
        tarn_lua_fail(L, "%s: %s is %s, expected %s{S=, z=}", function, name,
                      tarn_lua_describe(L, index, given, sizeof given),
                      strcmp(name, "state") == 0 ? "an rnn state or " : "");
    tarn_lua_options(L, index, function, keys);
    for (int i = 0; keys[i]; i++) {
        lua_pushstring(L, keys[i]);
        lua_rawget(L, index);
        const tarn_tensor *t = tarn_lua_to_tensor(L, -1);
        if (!t)
            tarn_lua_fail(L,
                          "%s: %s.%s is %s, expected a tensor: S and z are sums "
                          "over the same tokens, one is of no use without the "
                          "other (eqs 10, 11)",
                          function, name, keys[i],
                          tarn_lua_describe(L, -1, given, sizeof given));
        keep(L, t);
        lua_replace(L, -2);
    }
}

/* The cell that would have come to the state S, z of q, k, v: sizes are those of q and v,
 * the type is the widest of them all. */
static tarn_cell cell_of(const struct tarn_lua_attention *a, const tarn_tensor *S,
                         const tarn_tensor *z)
{
    const tarn_tensor *q = a->q, *v = a->v, *all[] = {q, a->k, v, S, z};
    bool wide = false;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        wide = wide || tarn_tensor_dtype(all[i]) == TARN_FLOAT64;
    const int r = tarn_tensor_rank(q);
    return (tarn_cell){.B = r == 4 ? tarn_tensor_shape(q)[0] : 0,
                       .H = r >= 3 ? tarn_tensor_shape(q)[r - 3] : 0,
                       .D = tarn_tensor_shape(q)[r - 1],
                       .M = tarn_tensor_shape(v)[tarn_tensor_rank(v) - 1],
                       .phi = a->options.phi,
                       .eps = a->options.eps,
                       .dtype = wide ? TARN_FLOAT64 : TARN_FLOAT32,
                       .device = tarn_tensor_device(q)};
}

/* Makes a state of {S=, z=} at `index`, which lives as long as it is on the stack.
 * Where q or v can't have one, there is none: the form itself says what is wrong
 * with them. */
static const tarn_rnn *state_from_sums(lua_State *L, const char *function, int index,
                                       const struct tarn_lua_attention *a)
{
    tarn_context *ctx = tarn_lua_context(L);
    push_sums(L, index, function, "state");
    const int rank = tarn_tensor_rank(a->q);
    if (rank < 2 || rank > 4 || tarn_tensor_rank(a->v) != rank) return NULL;

    const tarn_tensor *S = tarn_lua_to_tensor(L, -2), *z = tarn_lua_to_tensor(L, -1);
    const tarn_cell cell = cell_of(a, S, z);
    const size_t B = rank == 4 ? cell.B : 1, H = rank >= 3 ? cell.H : 1;
    struct tarn_lua_cell *st = tarn_lua_new_rnn(L, a->phi_index);
    struct tarn_lua_call call = tarn_lua_enter(L, NULL); /* phi tells its width */
    tarn_lua_leave(L, call, tarn_cell_new(ctx, function, &cell, rank, B, H, &st->rnn));
    char who[64];
    snprintf(who, sizeof who, "%s: state.", function);
    tarn_lua_check(L, tarn_cell_set_state(ctx, who, st->rnn, S, z));
    return st->rnn;
}

/* Reads state=. A cell brings its feature map and its eps with it, unless others are
 * given: a form that goes on from a cell gives what the cell would have given. */
static void read_state(lua_State *L, const char *function, int table,
                       struct tarn_lua_attention *a)
{
    tarn_options *o = &a->options;
    if (!push_option(L, table, "state")) return;
    const int index = lua_gettop(L);
    struct tarn_lua_cell *st = tarn_lua_to_rnn(L, index);
    if (!st) {
        o->state = state_from_sums(L, function, index, a);
        return;
    }
    const tarn_cell *cell = tarn_rnn_cell(st->rnn);
    if (!o->phi) {
        o->phi = cell->phi;
        lua_getiuservalue(L, index, 1);
        a->phi_index = lua_gettop(L);
    }
    if (push_option(L, table, "eps"))
        lua_pop(L, 1);
    else
        o->eps = cell->eps;
    o->state = st->rnn;
    a->cell = st;
}

static void read_dstate(lua_State *L, const char *function, int table, tarn_options *o)
{
    if (!push_option(L, table, "dstate")) return;
    push_sums(L, lua_gettop(L), function, "dstate");
    o->dS = tarn_lua_to_tensor(L, -2);
    o->dz = tarn_lua_to_tensor(L, -1);
}

/* ---- all together ---------------------------------------------------------------- */

void tarn_lua_attention(lua_State *L, const struct tarn_lua_form *form, int first,
                        int table, struct tarn_lua_attention *a)
{
    luaL_checkstack(L, 40, NULL);
    a->q = tarn_lua_keep(L, first, form->name, "q");
    a->k = tarn_lua_keep(L, first + 1, form->name, "k");
    a->v = tarn_lua_keep(L, first + 2, form->name, "v");
    tarn_lua_explain(L, table, form->name, form->options);
    tarn_lua_options(L, table, form->name, form->options);
    read_by(L, form, table, a);
    read_phi(L, form, table, a);
    read_numbers(L, form->name, table, &a->options);
    read_words(L, form->name, table, &a->options);
    read_lengths(L, form->name, table, &a->options);
    read_state(L, form->name, table, a);
    read_dstate(L, form->name, table, &a->options);
}
