/* lua_index.c: t[i], t[{i, j}], t[{ {a, b}, {}, j }], to read and to assign.
 *
 * Each entry of an index picks from one dimension:
 *
 *     i                the position i; the dimension goes away
 *     {a, b}           the positions a to b, both included; {a} is {a, a}
 *     {a, b, step}     every step-th of them; a negative step goes backwards
 *     {}               all of it
 *
 * Positions count from 1, negative ones from the end. Dimensions without an entry stay
 * whole. What is picked is a view; a single element is a number. */
#include "repl/arguments.h"
#include <stdio.h>

/* What one entry picks of its dimension, 0-based: `length` positions from `start` on. */
struct pick {
    bool stays; /* a range: the dimension does not go away */
    size_t start, length;
    ptrdiff_t step;
};

/* ---- Reading an index ------------------------------------------------------------ */

/* Number i of the range on top of the stack; the second and third may be missing. */
static lua_Integer bound(lua_State *L, int i, lua_Integer missing)
{
    static const char *const names[] = {"start", "end", "step"};
    char found[80];
    lua_Integer value = missing;
    bool given = lua_rawgeti(L, -1, i) != LUA_TNIL || i == 1;
    if (given && !tarn_lua_integer(L, -1, &value))
        tarn_lua_fail(L, "t[{..}]: the %s of a range is %s, expected an integer",
                      names[i - 1], tarn_lua_describe(L, -1, found, sizeof found));
    lua_pop(L, 1);
    return value;
}

/* Refuses a range {a, b, step}, 1-based, that leaves 1..n or runs the other way. */
static void check_range(lua_State *L, lua_Integer a, lua_Integer b, lua_Integer step,
                        lua_Integer n)
{
    if (step == 0) tarn_lua_fail(L, "t[{..}]: the step of a range is 0");
    if (a < 1 || a > n || b < 1 || b > n)
        tarn_lua_fail(
            L, "t[{..}]: range %lld to %lld is out of range for an extent of %lld", a,
            b, n);
    if (b < a && step > 0)
        tarn_lua_fail(
            L,
            "t[{..}]: range %lld to %lld goes backwards; say so with a negative "
            "step, {%lld, %lld, -1}",
            a, b, a, b);
    if (b > a && step < 0)
        tarn_lua_fail(L,
                      "t[{..}]: range %lld to %lld goes forwards, but its step is %lld",
                      a, b, step);
}

/* Picks the range on top of the stack from a dimension of n positions. */
static struct pick pick_range(lua_State *L, lua_Integer n)
{
    struct pick pick = {.stays = true, .start = 0, .length = (size_t)n, .step = 1};
    if (lua_rawlen(L, -1) == 0) return pick;
    lua_Integer a = bound(L, 1, 1), b = bound(L, 2, a), step = bound(L, 3, 1);
    if (a < 0) a += n + 1;
    if (b < 0) b += n + 1;

    /* Allow the empty range that ends just before it starts, as {4, 3}. */
    if (step == 1 && b == a - 1 && a >= 1 && a <= n + 1) {
        pick.length = 0;
        return pick;
    }
    check_range(L, a, b, step, n);
    pick.start = (size_t)(a - 1);
    pick.length = (size_t)((b - a) / step + 1);
    pick.step = step;
    return pick;
}

/* Reads the key at index 2, a number or a table, into picks and gives their count. */
static int read_key(lua_State *L, const tarn_tensor *t, struct pick *picks)
{
    char what[80];
    const size_t *shape = tarn_tensor_shape(t);
    int rank = tarn_tensor_rank(t);
    if (lua_type(L, 2) == LUA_TNUMBER) {
        if (rank == 0)
            tarn_lua_fail(L, "t[i]: a tensor of rank 0 has no index; use t:item()");
        size_t position = tarn_lua_position(L, 2, "t[i]", "i", shape[0]);
        picks[0] = (struct pick){false, position, 1, 1};
        return 1;
    }
    if (!lua_istable(L, 2))
        tarn_lua_fail(L,
                      "t[i]: i is %s, expected an integer or a table such as "
                      "{i, {first, last}, {}}",
                      tarn_lua_describe(L, 2, what, sizeof what));
    if (lua_rawlen(L, 2) > (size_t)rank)
        tarn_lua_fail(L, "t[{..}]: %zu indices for a tensor of rank %d",
                      (size_t)lua_rawlen(L, 2), rank);
    int count = (int)lua_rawlen(L, 2);
    for (int i = 0; i < count; i++) {
        snprintf(what, sizeof what, "index %d", i + 1);
        if (lua_rawgeti(L, 2, i + 1) == LUA_TTABLE)
            picks[i] = pick_range(L, (lua_Integer)shape[i]);
        else
            picks[i] = (struct pick){
                false, tarn_lua_position(L, -1, "t[{..}]", what, shape[i]), 1, 1};
        lua_pop(L, 1);
    }
    return count;
}

/* If the picks choose one element, tells where it is. */
static bool is_element(const tarn_tensor *t, const struct pick *picks, int count,
                       size_t *index)
{
    if (count < tarn_tensor_rank(t)) return false;
    for (int i = 0; i < count; i++) {
        if (picks[i].stays) return false;
        index[i] = picks[i].start;
    }
    return true;
}

/* Pushes the view of t that the picks choose. */
static tarn_tensor *push_view(lua_State *L, const tarn_tensor *t,
                              const struct pick *picks, int count)
{
    tarn_context *ctx = tarn_lua_context(L);
    tarn_tensor **view = tarn_lua_slot(L), **next = tarn_lua_slot(L);
    tarn_lua_check(
        L, tarn_expand(ctx, t, tarn_tensor_rank(t), tarn_tensor_shape(t), view));
    int dim = 0;
    for (int i = 0; i < count; i++) {
        struct pick p = picks[i];
        tarn_lua_check(
            L, p.stays ? tarn_narrow(ctx, *view, dim, p.start, p.length, p.step, next)
                       : tarn_select(ctx, *view, dim, p.start, next));
        tarn_tensor_free(*view);
        *view = *next;
        *next = NULL;
        if (p.stays) dim++;
    }
    lua_pop(L, 1);
    return *view;
}

/* ---- __index and __newindex ------------------------------------------------------ */

/* Tells whether the key is one past the end, where ipairs stops. */
static bool is_past_end(lua_State *L, const tarn_tensor *t)
{
    lua_Integer i;
    return tarn_tensor_rank(t) > 0 && tarn_lua_integer(L, 2, &i) && i > 0 &&
           (size_t)i == tarn_tensor_shape(t)[0] + 1;
}

/* help: t[i] | t[{i, {a, b, step}, {}}] | t[..] = x -> number | tensor
 * Picks one element, or a view: a position, a range, or {} for all, one for each
 * dimension.
 * shapes: a position takes its dimension away, a range keeps it; dimensions without an
 *         index stay whole; x is a number or broadcasts to the view
 * math: positions count from 1, negative ones from the end
 * cost: O(rank), = x O(numel of view)
 * errors: a position out of range; t[#t + 1] is nil, so that ipairs stops
 * note: writing to a view writes to t. A range may go backwards with a negative step.
 * example:
 *   > t = tensor{{1, 2, 3}, {4, 5, 6}}
 *   > t[{2, -1}]
 *   6.0
 *   > t[2][1]
 *   4.0
 *   > t[{{}, {2, 3}}] = 0
 *   > t
 *   tensor [2, 3] float32 cpu
 *     1  0  0
 *     4  0  0
 * see: index, t:totable, t.shape */
int tarn_lua_get(lua_State *L)
{
    struct pick picks[TARN_MAX_RANK];
    size_t index[TARN_MAX_RANK];
    double value = 0;
    if (lua_type(L, 2) == LUA_TSTRING) return tarn_lua_member(L);
    const tarn_tensor *t = tarn_lua_tensor(L, 1, "t[i]", "t");
    if (is_past_end(L, t)) {
        lua_pushnil(L);
        return 1;
    }
    int count = read_key(L, t, picks);
    if (!is_element(t, picks, count, index)) {
        push_view(L, t, picks, count);
        return 1;
    }
    tarn_lua_check(L, tarn_tensor_get(tarn_lua_context(L), t, index, &value));
    lua_pushnumber(L, value);
    return 1;
}

int tarn_lua_set(lua_State *L)
{
    struct pick picks[TARN_MAX_RANK];
    size_t index[TARN_MAX_RANK];
    char found[80];
    tarn_context *ctx = tarn_lua_context(L);
    tarn_tensor *t = tarn_lua_tensor(L, 1, "t[i]", "t");
    if (lua_type(L, 2) == LUA_TSTRING)
        tarn_lua_fail(L, "t.%s: the fields of a tensor can only be read",
                      lua_tostring(L, 2));
    int count = read_key(L, t, picks);
    bool number = lua_type(L, 3) == LUA_TNUMBER;
    const tarn_tensor *source = tarn_lua_to_tensor(L, 3);
    if (!number && !source)
        tarn_lua_fail(L, "t[i] = x: x is %s, expected a number or a tensor",
                      tarn_lua_describe(L, 3, found, sizeof found));

    /* Write one number to one element, or to all of a view, or copy a tensor there. */
    if (number && is_element(t, picks, count, index)) {
        tarn_lua_check(L, tarn_tensor_set(ctx, t, index, lua_tonumber(L, 3)));
        return 0;
    }
    tarn_tensor *view = push_view(L, t, picks, count);
    tarn_lua_check(L, number ? tarn_fill(ctx, view, lua_tonumber(L, 3))
                             : tarn_copy(ctx, view, source));
    return 0;
}
