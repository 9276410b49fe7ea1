/* lua_phi.c: stage 0 in Lua: phi.elu1(t), phi("elu1")(t), phis(). Chapter 2.
 *
 * `phi` is a table of functions, one for each built-in map, that can be called with
 * a name. Such a function carries its map as an upvalue, so that phi=phi.elu1 says
 * the same as phi="elu1" wherever a feature map is asked for. */
#include "repl/lua_attention.h"
#include <string.h>

/* ---- reading a feature map ------------------------------------------------------- */

bool tarn_lua_infinite(const char *similarity)
{
    return strcmp(similarity, "softmax") == 0 || strcmp(similarity, "rbf") == 0;
}

static void refuse_infinite(lua_State *L, const char *function, const char *similarity)
{
    const char *formula =
        strcmp(similarity, "rbf") == 0 ? "exp(-|q-k|^2/2)" : "exp(q.k)";
    const char *or_else = strcmp(function, "rnn") == 0 ? ", kv{} is its cache" : "";
    tarn_lua_fail(L,
                  "%s: %s has no finite feature map, so it can't be split into "
                  "phi(q).phi(k) (eq 4); hint: sim(q, k, v, {by='%s'}) takes it%s",
                  function, formula, similarity, or_else);
}

const tarn_phi *tarn_lua_builtin_phi(lua_State *L, int index)
{
    const tarn_phi *phi = NULL;
    if (lua_type(L, index) == LUA_TSTRING) return tarn_phi_find(lua_tostring(L, index));
    if (lua_iscfunction(L, index) && lua_getupvalue(L, index, 1)) {
        for (size_t i = 0; tarn_phi_at(i); i++)
            if (lua_touserdata(L, -1) == (const void *)tarn_phi_at(i))
                phi = tarn_phi_at(i);
        lua_pop(L, 1);
    }
    return phi;
}

void tarn_lua_unknown_phi(lua_State *L, const char *function, const char *word,
                          bool any)
{
    enum { LIMIT = 32 };
    const char *names[LIMIT + 1] = {"softmax", "rbf"};
    size_t count = any ? 2 : 0;
    if (tarn_lua_infinite(word)) refuse_infinite(L, function, word);
    for (size_t i = 0; count < LIMIT && tarn_phi_at(i); i++)
        names[count++] = tarn_phi_at(i)->name;
    names[count] = NULL;

    luaL_Buffer list;
    luaL_buffinit(L, &list);
    for (size_t i = 0; i < count; i++) {
        if (i > 0) luaL_addstring(&list, ", ");
        luaL_addstring(&list, names[i]);
    }
    luaL_pushresult(&list);
    const char *kind = any ? "similarity" : "feature map", *all = lua_tostring(L, -1);
    const char *near = tarn_nearest(word, names);
    if (near)
        tarn_lua_fail(L, "%s: '%s' is no %s; did you mean '%s'? There are %s", function,
                      word, kind, near, all);
    tarn_lua_fail(L, "%s: '%s' is no %s; there are %s", function, word, kind, all);
}

/* Reads {apply=, grad=} at `index` and pushes its holder. */
static const tarn_phi *phi_table(lua_State *L, int index, const char *function)
{
    static const char *const keys[] = {"apply", "grad", NULL};
    char given[80];
    tarn_lua_options(L, index, function, keys);
    for (int i = 0; i < 2; i++) {
        lua_pushstring(L, keys[i]);
        lua_rawget(L, index);
        if (!lua_isfunction(L, -1) && !(i == 1 && lua_isnil(L, -1)))
            tarn_lua_fail(L, "%s: %s of the feature map is %s, expected a function",
                          function, keys[i],
                          tarn_lua_describe(L, -1, given, sizeof given));
    }
    const tarn_phi *phi = tarn_lua_hold_phi(L, -2, lua_isnil(L, -1) ? 0 : -1);
    lua_replace(L, -3);
    lua_pop(L, 1);
    return phi;
}

const tarn_phi *tarn_lua_phi(lua_State *L, int index, const char *function,
                             bool gradient)
{
    char given[80];
    luaL_checkstack(L, 8, NULL);
    index = lua_absindex(L, index);
    const tarn_phi *phi = tarn_lua_builtin_phi(L, index);
    if (phi)
        lua_pushnil(L);
    else if (lua_istable(L, index))
        phi = phi_table(L, index, function);
    else if (lua_isfunction(L, index))
        phi = tarn_lua_hold_phi(L, index, 0);
    else if (lua_type(L, index) == LUA_TSTRING)
        tarn_lua_unknown_phi(L, function, lua_tostring(L, index), false);
    else
        tarn_lua_fail(L,
                      "%s: the feature map is %s, expected a name, a function or "
                      "{apply=, grad=}",
                      function, tarn_lua_describe(L, index, given, sizeof given));
    if (gradient && phi->builtin < 0 && !phi->grad)
        tarn_lua_fail(L,
                      "%s: the feature map is a function without its derivative; "
                      "hint: give {apply=function(t) .. end, grad=function(t, "
                      "dfeatures) .. end}",
                      function);
    return phi;
}

/* ---- phi and phis ---------------------------------------------------------------- */

static int apply(lua_State *L)
{
    const tarn_phi *phi = lua_touserdata(L, lua_upvalueindex(1));
    const tarn_tensor *x = tarn_lua_tensor(L, 1, phi->name, "t");
    tarn_tensor **features = tarn_lua_slot(L);
    tarn_lua_check(L, tarn_phi_apply(tarn_lua_context(L), phi, x, features));
    return 1;
}

/* help: phi("elu1")(t) | phi.elu1(t) -> tensor
 * Stage 0: applies a feature map to each row; phi.elu1 also says phi="elu1" as an
 * option.
 * shapes: t [.., D] -> [.., C]; C = D, but for poly2 D (D + 1) / 2
 * math: eq 7 for elu1: x + 1 if x > 0, exp(x) otherwise; phis() tells all
 * cost: O(numel of out)
 * errors: a tensor of rank 0, an unknown name
 * example:
 *   > phi.elu1(tensor{-1, 0, 1})
 *   tensor [3] float32 cpu
 *     0.3679  1.0000  2.0000
 *   > phi("poly2")(tensor{1, 2})
 *   tensor [3] float32 cpu
 *     1.0000  2.8284  4.0000
 * see: phis, assoc, prefix */
/* phi(name): a name that is not there raises the error of tarn_lua_phi. */
static int by_name(lua_State *L)
{
    char given[80];
    if (lua_type(L, 2) != LUA_TSTRING)
        return tarn_lua_fail(L, "phi: the name is %s, expected a string such as 'elu1'",
                             tarn_lua_describe(L, 2, given, sizeof given));
    const tarn_phi *phi = tarn_lua_phi(L, 2, "phi", false);
    lua_pushstring(L, phi->name);
    lua_rawget(L, 1);
    return 1;
}

static int missing(lua_State *L)
{
    if (lua_type(L, 2) == LUA_TSTRING) tarn_lua_phi(L, 2, "phi", false);
    return 0;
}

/* help: phis() -> table
 * Gives a table of the feature maps: name, equation, width, positivity, derivative.
 * shapes: none
 * math: none  cost: O(1)
 * errors: none
 * example:
 *   > phis()[1].name, phis()[1].width
 *   "elu1"	"D"
 *   > phis()[1].equation
 *   "x + 1 if x > 0, exp(x) otherwise"
 * see: phi */
static int phis(lua_State *L)
{
    lua_newtable(L);
    for (size_t i = 0; tarn_phi_at(i); i++) {
        const tarn_phi *phi = tarn_phi_at(i);
        const char *const fields[][2] = {{"name", phi->name},
                                         {"equation", phi->equation},
                                         {"width", phi->width},
                                         {"positivity", phi->positivity},
                                         {"derivative", phi->derivative}};
        lua_createtable(L, 0, 5);
        for (size_t f = 0; f < sizeof fields / sizeof *fields; f++) {
            lua_pushstring(L, fields[f][1]);
            lua_setfield(L, -2, fields[f][0]);
        }
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

static void push_phi(lua_State *L)
{
    static const luaL_Reg meta[] = {
        {"__call", by_name}, {"__index", missing}, {NULL, NULL}};
    lua_newtable(L);
    for (size_t i = 0; tarn_phi_at(i); i++) {
        lua_pushlightuserdata(L, (void *)tarn_phi_at(i));
        lua_pushcclosure(L, apply, 1);
        lua_setfield(L, -2, tarn_phi_at(i)->name);
    }
    luaL_newlib(L, meta);
    lua_setmetatable(L, -2);
}

void tarn_open_phi(lua_State *L)
{
    tarn_lua_open_callbacks(L);
    push_phi(L);
    lua_setfield(L, -2, "phi");
    lua_pushcfunction(L, phis);
    lua_setfield(L, -2, "phis");
}
