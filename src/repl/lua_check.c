/* lua_check.c: equiv, gradcheck and backends in Lua, and what measuring needs.
 *
 * The tables are plain; lua/report.lua gives them their looks. Positions that C
 * counts from 0 are counted from 1 here. */
#include "check/report.h"
#include "core/context.h"
#include "repl/arguments.h"
#include "repl/lua_attention.h"
#include <math.h>
#include <string.h>

#define REPORT "tarn.report"

static const char *dtype_name(tarn_dtype dtype)
{
    return dtype == TARN_FLOAT64 ? "float64" : "float32";
}

/* ---- reports --------------------------------------------------------------------- */

/* Pushes an empty report of C's, to be ended by the collector if nobody else does. */
static tarn_report *push_c_report(lua_State *L)
{
    tarn_report *report = lua_newuserdatauv(L, sizeof *report, 0);
    *report = (tarn_report){0};
    luaL_setmetatable(L, REPORT);
    return report;
}

static int free_report(lua_State *L)
{
    tarn_report *report = luaL_checkudata(L, 1, REPORT);
    tarn_report_free(report);
    *report = (tarn_report){0};
    return 0;
}

static void set_string(lua_State *L, const char *name, const char *value)
{
    lua_pushstring(L, value);
    lua_setfield(L, -2, name);
}

static void set_number(lua_State *L, const char *name, double value)
{
    lua_pushnumber(L, value);
    lua_setfield(L, -2, name);
}

static void set_boolean(lua_State *L, const char *name, bool value)
{
    lua_pushboolean(L, value);
    lua_setfield(L, -2, name);
}

static void push_worst(lua_State *L, const tarn_row *row)
{
    lua_createtable(L, 0, 3);
    lua_createtable(L, row->worst.rank, 0);
    for (int i = 0; i < row->worst.rank; i++) {
        lua_pushinteger(L, (lua_Integer)row->worst.index[i] + 1);
        lua_rawseti(L, -2, i + 1);
    }
    lua_setfield(L, -2, "index");
    set_number(L, "got", row->worst.got);
    set_number(L, "expected", row->worst.expected);
}

static void push_row(lua_State *L, const tarn_row *row)
{
    lua_createtable(L, 0, 13);
    set_string(L, "form", row->form);
    set_string(L, "impl", row->impl);
    set_string(L, "device", row->device);
    set_string(L, "dtype", dtype_name(row->dtype));
    set_string(L, "what", row->what);
    set_number(L, "max_abs", row->max_abs);
    set_number(L, "max_rel", row->max_rel);
    set_number(L, "tol", row->tol);
    set_boolean(L, "ok", row->ok);
    set_number(L, "seconds", row->seconds);
    lua_pushinteger(L, (lua_Integer)row->state_bytes);
    lua_setfield(L, -2, "state_bytes");
    lua_pushinteger(L, (lua_Integer)row->workspace_bytes);
    lua_setfield(L, -2, "workspace_bytes");
    push_worst(L, row);
    lua_setfield(L, -2, "worst");
}

/* Pushes {ok =, rows = {}}. */
static void push_report(lua_State *L)
{
    lua_createtable(L, 0, 2);
    set_boolean(L, "ok", true);
    lua_newtable(L);
    lua_setfield(L, -2, "rows");
}

/* Adds what C reports to the table at `target`, and frees it. */
static void add_report(lua_State *L, int target, tarn_report *report)
{
    lua_getfield(L, target, "rows");
    lua_Integer count = (lua_Integer)lua_rawlen(L, -1);
    for (size_t i = 0; i < report->count; i++) {
        push_row(L, &report->rows[i]);
        lua_rawseti(L, -2, ++count);
    }
    lua_pop(L, 1);
    if (!report->ok) {
        lua_pushboolean(L, false);
        lua_setfield(L, target, "ok");
    }
    tarn_report_free(report);
    *report = (tarn_report){0};
}

enum { BACKENDS_MAX = 8 };

/* ---- lists of words -------------------------------------------------------------- */

/* Pushes the list of strings that an option is, and gives its length; -1 if it is not
 * there. */
static int push_list(lua_State *L, int table, const char *function, const char *name)
{
    char given[80];
    if (!lua_istable(L, table)) return -1;
    lua_pushstring(L, name);
    if (lua_rawget(L, table) == LUA_TNIL) return -1;
    if (!lua_istable(L, -1) || lua_rawlen(L, -1) == 0)
        tarn_lua_fail(L, "%s: %s is %s, expected a list of names", function, name,
                      lua_istable(L, -1)
                          ? "an empty table"
                          : tarn_lua_describe(L, -1, given, sizeof given));
    return (int)lua_rawlen(L, -1);
}

/* Entry i of the list on top of the stack, 1-based. */
static const char *list_entry(lua_State *L, const char *function, const char *name,
                              int i)
{
    char given[80];
    lua_rawgeti(L, -1, i);
    if (lua_type(L, -1) != LUA_TSTRING)
        tarn_lua_fail(L, "%s: %s[%d] is %s, expected a name", function, name, i,
                      tarn_lua_describe(L, -1, given, sizeof given));
    const char *word = lua_tostring(L, -1); /* the list keeps it alive */
    lua_pop(L, 1);
    return word;
}

/* Pushes "; did you mean 'x'?" if a word is near one of the names, or nothing. */
static const char *suggestion(lua_State *L, const char *word, const char *const *names)
{
    const char *near = tarn_nearest(word, names);
    return near ? lua_pushfstring(L, "; did you mean '%s'?", near)
                : lua_pushliteral(L, "");
}

static void read_dtypes(lua_State *L, int table, tarn_equiv_options *o)
{
    static const char *const words[] = {"float32", "float64", NULL};
    const int count = push_list(L, table, "equiv", "dtypes");
    if (count >= 0) o->float32 = o->float64 = false;
    for (int i = 1; i <= count; i++) {
        const char *word = list_entry(L, "equiv", "dtypes", i);
        const bool narrow = strcmp(word, words[0]) == 0;
        if (!narrow && strcmp(word, words[1]) != 0)
            tarn_lua_fail(L, "equiv: dtypes[%d] is '%s', expected float32 or float64%s",
                          i, word, suggestion(L, word, words));
        *(narrow ? &o->float32 : &o->float64) = true;
    }
}

/* Finds a backend by name or, with by_device, by device. */
static bool find_backend(const char *word, bool by_device, tarn_backend_info *info)
{
    for (size_t i = 0; tarn_backend_at(i, info); i++)
        if (strcmp(by_device ? info->device : info->name, word) == 0) return true;
    return false;
}

/* Refuses a backend or device that no build, or not this one, has. */
static void no_backend(lua_State *L, const char *name, int i, const char *word,
                       bool by_device)
{
    const char *known[BACKENDS_MAX + 1] = {0};
    tarn_backend_info info;
    for (size_t b = 0; b < BACKENDS_MAX && tarn_backend_at(b, &info); b++)
        known[b] = by_device ? info.device : info.name;
    const char *near = suggestion(L, word, known);
    tarn_lua_fail(L, "equiv: %s[%d] is '%s', which is not in this build%s", name, i,
                  word, *near ? near : "; hint: backends() lists what is");
}

/* Names of kernels, "k1" .. "k9": equiv finds out which a form has. */
static bool is_kernel(const char *word)
{
    return word[0] == 'k' && word[1] >= '1' && word[1] <= '9' && !word[2];
}

/* Refuses what this build, or this machine, does not have. */
static void check_backends(lua_State *L, int table, const char *name, bool by_device)
{
    tarn_backend_info info;
    const int count = push_list(L, table, "equiv", name);
    for (int i = 1; i <= count; i++) {
        const char *word = list_entry(L, "equiv", name, i);
        if (!by_device && is_kernel(word)) continue;
        if (!find_backend(word, by_device, &info))
            no_backend(L, name, i, word, by_device);
        if (!info.usable)
            tarn_lua_fail(L, "equiv: %s[%d] is '%s', which can't be used: %s", name, i,
                          word, info.why_not);
    }
    if (count >= 0) lua_pop(L, 1);
}

enum { DEVICES_MAX = 8 };

/* The devices in the list that was checked; none: the one that q lies on. */
static size_t read_devices(lua_State *L, int table, const char **devices)
{
    const int count = push_list(L, table, "equiv", "devices");
    for (int i = 1; i <= count && i <= DEVICES_MAX; i++)
        devices[i - 1] = list_entry(L, "equiv", "devices", i);
    if (count >= 0) lua_pop(L, 1);
    return count > DEVICES_MAX ? DEVICES_MAX : count > 0 ? (size_t)count : 0;
}

/* ---- the functions --------------------------------------------------------------- */

/* help: equiv(q, k, v, {phi=, by=, eps=, scale=, lengths=, state=, causal=true,
 *       devices=, impls=, dtypes=, grad=false, tol=}) -> report
 * Runs every form that computes the same thing and compares it with the oracle.
 * shapes: q, k, v as prefix (causal) or assoc
 * math: the oracle is eq 3 as a double sum in float64; max_rel is relative to
 *       (sum_j |sim_ij v_j| / |den_i|) (sum_j |sim_ij| + eps) / |den_i|; the bound is
 *       the rounding of the type times n, n = C + min(N, 64) + N / 64 + a + 8,
 *       a the largest |x| that phi exponentiates
 * cost: that of all the forms, and O(N^2 (C + M)) for the oracle
 * errors: as the forms; a form that disagrees is a row with ok = false, not an error
 * options: phi      feature map of the forms: "elu1" unless given
 *          by       instead of phi: "softmax" | "rbf" | a feature map | a function
 *          eps      added to the denominator
 *          scale    of softmax or rbf
 *          lengths  numbers of keys, with causal=false
 *          state    an rnn cell or {S=, z=}, in causal forms
 *          causal   true: sim, prefix, rnn | false: sim, assoc
 *          devices  a list such as {"cpu", "emu"}; where q lies unless given
 *          impls    a list such as {"plain"}, on devices {"k1"}; unless given all that
 *                   are there on the cpu, the best on devices
 *          dtypes   a list of "float32", "float64"; both unless given
 *          grad     true: compares gradients as well
 *          tol      a bound on max_rel, instead of the derived one
 * note: report.ok tells whether all rows hold; report.rows[i] has form, impl, device,
 *       dtype, what, max_abs, max_rel, tol, ok, seconds, state_bytes,
 *       workspace_bytes, worst.
 * example:
 *   > q = randn(20, 4, {seed=1})
 *   > report = equiv(q, q, q, {dtypes={"float64"}})
 *   > report.ok
 *   true
 *   > report.rows[1].form
 *   "sim"
 * see: gradcheck, maxdiff, prefix, tour */
static int equiv(lua_State *L)
{
    static const char *const names[] = {
        "phi",     "by",    "eps",    "scale", "lengths", "state", "causal",
        "devices", "impls", "dtypes", "grad",  "tol",     NULL};
    struct tarn_lua_form form = {"equiv", names, false};
    tarn_equiv_options o = tarn_equiv_defaults();
    struct tarn_lua_attention a = {.options = o.attention};
    lua_settop(L, 4);
    tarn_lua_options(L, 4, form.name, names);
    tarn_lua_opt_boolean(L, 4, form.name, "grad", &o.grad);
    tarn_lua_opt_number(L, 4, form.name, "tol", &o.tol);
    form.gradient = o.grad;
    tarn_lua_attention(L, &form, 1, 4, &a);
    o.attention = a.options;
    read_dtypes(L, 4, &o);
    check_backends(L, 4, "devices", true);
    check_backends(L, 4, "impls", false);
    const char *devices[DEVICES_MAX];
    o.device_count = read_devices(L, 4, devices);
    o.devices = devices;

    /* Run, and gather the rows in one table. */
    tarn_report *report = push_c_report(L);
    push_report(L);
    const int target = lua_gettop(L);
    const int impls = push_list(L, 4, form.name, "impls");
    for (int i = 1; i <= (impls < 1 ? 1 : impls); i++) {
        if (impls > 0) o.impl = list_entry(L, form.name, "impls", i);
        struct tarn_lua_call call = tarn_lua_enter(L, a.cell);
        tarn_lua_leave(L, call,
                       tarn_equiv(tarn_lua_context(L), a.q, a.k, a.v, &o, report));
        add_report(L, target, report);
    }
    lua_pushvalue(L, target);
    return 1;
}

static const char *const check_sim[] = {"by",      "causal", "eps", "scale",
                                        "lengths", "impl",   "tol", NULL};
static const char *const check_assoc[] = {"phi", "eps", "lengths", "impl", "tol", NULL};
static const char *const check_prefix[] = {
    "phi", "eps", "state", "chunk", "method", "precision", "impl", "tol", NULL};
static const char *const check_rnn[] = {"phi", "eps", "state", "impl", "tol", NULL};

/* help: gradcheck("prefix", q, k, v, {phi=, by=, causal=, eps=, scale=, lengths=,
 *       state=, chunk=, method=, precision=, impl=, tol=1e-5}) -> report
 * Checks the gradient of a form, sim, assoc, prefix or rnn, against central
 * differences.
 * shapes: as the form
 * math: (f(x + h) - f(x - h)) / 2h in float64, with f = sum of out times fixed weights;
 *       max_rel is relative to the largest entry of the gradient
 * cost: two runs of the form for each of at most 256 entries a tensor
 * errors: as the form, which also says what options there are; a gradient that
 *         disagrees is a row with ok = false
 * options: phi      feature map of assoc, prefix and rnn
 *          by       sim alone: any similarity but a function of two tokens
 *          causal   sim alone
 *          eps      added to the denominator
 *          scale    sim alone
 *          lengths  sim and assoc
 *          state    prefix and rnn
 *          chunk    prefix alone
 *          method   prefix alone
 *          precision  prefix alone
 *          impl     "fast" (default) | "plain"; "k1", .. on a device
 *          tol      a bound on max_rel
 * note: runs where q, k and v lie, on a device in its kernels for float64. At a kink, such
 *       as that of relu at 0, a difference is no judge.
 * example:
 *   > q = randn(5, 3, {seed=1})
 *   > gradcheck("prefix", q, q, q).ok
 *   true
 * see: prefix_grad, rnn_grad, equiv */
static int gradcheck(lua_State *L)
{
    static const char *const names[] = {"sim", "assoc", "prefix", "rnn", NULL};
    static const char *const *const options[] = {check_sim, check_assoc, check_prefix,
                                                 check_rnn};
    struct tarn_lua_form form = {"gradcheck", NULL, true};
    struct tarn_lua_attention a = {.options = tarn_defaults()};
    double tol = (double)NAN;
    int which = 0;
    lua_settop(L, 5);

    /* Read the form's name as if it were an option: the same errors, the same help. */
    lua_createtable(L, 0, 1);
    lua_pushvalue(L, 1);
    lua_setfield(L, -2, "form");
    if (!tarn_lua_opt_word(L, 6, form.name, "form", names, &which))
        tarn_lua_fail(L, "gradcheck: form is missing, expected sim, assoc, prefix or "
                         "rnn");
    form.options = options[which];
    tarn_lua_attention(L, &form, 2, 5, &a);
    tarn_lua_opt_number(L, 5, form.name, "tol", &tol);

    tarn_report *report = push_c_report(L);
    push_report(L);
    const int target = lua_gettop(L);
    struct tarn_lua_call call = tarn_lua_enter(L, a.cell);
    tarn_lua_leave(L, call,
                   tarn_gradcheck(tarn_lua_context(L), names[which], a.q, a.k, a.v,
                                  &a.options, tol, report));
    add_report(L, target, report);
    return 1;
}

static int backends(lua_State *L)
{
    tarn_backend_info info;
    lua_newtable(L);
    for (size_t i = 0; tarn_backend_at(i, &info); i++) {
        lua_createtable(L, 0, 6);
        set_string(L, "name", info.name);
        set_string(L, "device", info.device);
        set_string(L, "isa", info.isa);
        set_boolean(L, "compiled", info.compiled);
        set_boolean(L, "usable", info.usable);
        set_string(L, "why", info.why_not);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

void tarn_open_check(lua_State *L)
{
    static const luaL_Reg functions[] = {{"equiv", equiv},
                                         {"gradcheck", gradcheck},
                                         {"backends", backends},
                                         {NULL, NULL}};
    luaL_newmetatable(L, REPORT);
    lua_pushcfunction(L, free_report);
    lua_setfield(L, -2, "__gc");
    lua_pop(L, 1);
    luaL_setfuncs(L, functions, 0);
}
