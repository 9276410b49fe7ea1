/* lua_create.c: functions that make tensors: from tables, of one number, of numbers
 * evenly spaced, of random numbers.
 *
 * Sizes are numbers or one table; a table of options may end the call. */
#include "repl/arguments.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Options --------------------------------------------------------------------- */

/* What the table of options asks for. */
struct wish {
    const char *function, *device;
    tarn_dtype dtype;
    bool seeded;
    uint64_t seed;
};

static struct wish read_options(lua_State *L, int index, const char *function,
                                bool random)
{
    static const char *const names[] = {"dtype", "device", "seed", NULL};
    static const char *const unseeded_names[] = {"dtype", "device", NULL};
    static const char *const dtypes[] = {"float32", "float64", NULL};
    struct wish wish = {function, tarn_lua_default_device(L), TARN_FLOAT32, false, 0};
    int dtype = 0;
    lua_Integer seed = 0;
    if (!tarn_lua_options(L, index, function, random ? names : unseeded_names))
        return wish;
    tarn_lua_opt_word(L, index, function, "dtype", dtypes, &dtype);
    if (dtype == 1) wish.dtype = TARN_FLOAT64;
    wish.seeded = random && tarn_lua_opt_integer(L, index, function, "seed", &seed);
    wish.seed = (uint64_t)seed;
    wish.device = tarn_lua_opt_device(L, index, function);
    return wish;
}

/* Moves the tensor on top of the stack to where it was wished. */
static int deliver(lua_State *L, struct wish wish)
{
    tarn_lua_place(L, wish.function, wish.device);
    return 1;
}

/* Pushes a tensor whose elements are not set. */
static tarn_tensor *push_new(lua_State *L, tarn_dtype dtype, int rank,
                             const size_t *shape)
{
    tarn_tensor **slot = tarn_lua_slot(L);
    tarn_lua_check(L, tarn_tensor_new(tarn_lua_context(L), dtype, rank, shape, slot));
    return *slot;
}

/* Reads the number in argument `index`. */
static double read_number(lua_State *L, int index, const char *function,
                          const char *name)
{
    char found[80];
    if (lua_type(L, index) != LUA_TNUMBER)
        tarn_lua_fail(L, "%s: %s is %s, expected a number", function, name,
                      tarn_lua_describe(L, index, found, sizeof found));
    double value = tarn_lua_real(L, index);
    if (!isfinite(value))
        tarn_lua_fail(L, "%s: %s is %g, expected a finite number", function, name,
                      value);
    return value;
}

/* Reads the count in argument `index`. */
static size_t read_count(lua_State *L, int index, const char *function,
                         const char *name)
{
    char found[80];
    lua_Integer count;
    if (!tarn_lua_integer(L, index, &count) || count < 0)
        tarn_lua_fail(L, "%s: %s is %s, expected an integer of 0 or more", function,
                      name, tarn_lua_describe(L, index, found, sizeof found));
    return (size_t)count;
}

/* ---- From nested tables ---------------------------------------------------------- */

/* The walk through nested tables: the shape, and where we are (0-based). */
struct walk {
    tarn_context *ctx;
    tarn_tensor *t;
    int rank;
    size_t shape[TARN_MAX_RANK], index[TARN_MAX_RANK];
};

/* The place of the walk in words: "element [2][1]", or "the table" at the top. */
static const char *place(const struct walk *w, int depth, char *buffer, size_t limit)
{
    size_t used = (size_t)snprintf(buffer, limit, depth ? "element " : "the table");
    for (int i = 0; i < depth && used < limit; i++)
        used += (size_t)snprintf(buffer + used, limit - used, "[%zu]", w->index[i] + 1);
    return buffer;
}

/* Takes the shape from the first table of each depth. */
static void measure(lua_State *L, struct walk *w)
{
    int top = lua_gettop(L);
    lua_pushvalue(L, 1);
    while (lua_istable(L, -1)) {
        if (w->rank == TARN_MAX_RANK)
            tarn_lua_fail(
                L, "tensor: tables are nested more than %d deep, the highest rank",
                (int)TARN_MAX_RANK);
        w->shape[w->rank++] = lua_rawlen(L, -1);
        lua_rawgeti(L, -1, 1);
    }
    lua_settop(L, top);
}

/* Checks that the value on top of the stack is a list as long as the shape says. */
static void check_list(lua_State *L, const struct walk *w, int depth)
{
    char where[200], found[80];
    size_t expected = w->shape[depth];
    lua_Integer key;
    place(w, depth, where, sizeof where);
    if (!lua_istable(L, -1))
        tarn_lua_fail(L, "tensor: %s is %s, expected a table of %zu", where,
                      tarn_lua_describe(L, -1, found, sizeof found), expected);
    if (lua_rawlen(L, -1) != expected)
        tarn_lua_fail(L, "tensor: %s has length %zu, expected %zu like those before it",
                      where, (size_t)lua_rawlen(L, -1), expected);
    lua_pushnil(L);
    while (lua_next(L, -2)) {
        lua_pop(L, 1);
        if (tarn_lua_integer(L, -1, &key) && key >= 1 && (size_t)key <= expected)
            continue;
        if (lua_type(L, -1) == LUA_TSTRING)
            tarn_lua_fail(L,
                          "tensor: %s has the key '%s', expected a list; options are "
                          "a table of their own",
                          where, lua_tostring(L, -1));
        tarn_lua_fail(L, "tensor: %s has a gap, or the key %s outside the list", where,
                      tarn_lua_describe(L, -1, found, sizeof found));
    }
}

/* Writes the value on top of the stack into the tensor, below the current place. */
static void write_nested(lua_State *L, struct walk *w, int depth)
{
    char where[200], found[80];
    if (depth == w->rank) {
        if (lua_type(L, -1) != LUA_TNUMBER)
            tarn_lua_fail(L, "tensor: %s is %s, expected a number",
                          place(w, depth, where, sizeof where),
                          tarn_lua_describe(L, -1, found, sizeof found));
        tarn_lua_check(L, tarn_tensor_set(w->ctx, w->t, w->index, lua_tonumber(L, -1)));
        return;
    }
    check_list(L, w, depth);
    for (size_t i = 0; i < w->shape[depth]; i++) {
        tarn_lua_poll(L, "tensor", i);
        w->index[depth] = i;
        lua_rawgeti(L, -1, (lua_Integer)i + 1);
        write_nested(L, w, depth + 1);
        lua_pop(L, 1);
    }
}

/* help: tensor(nested | number, {dtype=, device=}) -> tensor
 * Makes a tensor from nested tables of numbers, or from a number.
 * shapes: a number -> [], {..} -> [n], {{..}, ..} -> [n, m], up to rank 8
 * math: none  cost: O(numel)
 * errors: rows of different lengths, an entry that is no number
 * options: dtype   "float32" (default) | "float64"
 *          device  "cpu" | "emu" | "cuda"; unless given, that of --device
 * example:
 *   > tensor{{1, 2}, {3, 4.5}}
 *   tensor [2, 2] float32 cpu
 *     1.0  2.0
 *     3.0  4.5
 *   > tensor(7):rank()
 *   0
 * see: t:totable, zeros, read, t[i] */
static int tensor(lua_State *L)
{
    char found[80];
    struct walk w = {.ctx = tarn_lua_context(L)};
    if (lua_type(L, 1) != LUA_TNUMBER && !lua_istable(L, 1))
        tarn_lua_fail(L,
                      "tensor: argument 1 is %s, expected a number or nested tables of "
                      "numbers",
                      tarn_lua_describe(L, 1, found, sizeof found));
    const struct wish wish = read_options(L, 2, "tensor", false);
    luaL_checkstack(L, 3 * TARN_MAX_RANK, "tensor: no stack for nested tables");
    measure(L, &w);
    w.t = push_new(L, wish.dtype, w.rank, w.shape);
    lua_pushvalue(L, 1);
    write_nested(L, &w, 0);
    lua_pop(L, 1);
    return deliver(L, wish);
}

/* ---- Of one number --------------------------------------------------------------- */

/* Pushes a tensor full of one number, of the shape in the arguments from 1 on. */
static int push_constant(lua_State *L, const char *function, double value)
{
    size_t shape[TARN_MAX_RANK];
    int next, rank = tarn_lua_shape(L, 1, function, shape, &next);
    const struct wish wish = read_options(L, next, function, false);
    tarn_tensor *t = push_new(L, wish.dtype, rank, shape);
    tarn_lua_check(L, tarn_fill(tarn_lua_context(L), t, value));
    return deliver(L, wish);
}

/* help: zeros(n, m, ..., {dtype=, device=}) -> tensor
 * Makes a tensor of zeros; also zeros({n, m}).
 * shapes: [n, m, ..], up to rank 8
 * math: none  cost: O(numel)
 * errors: an extent that is no whole number of 0 or more, more than memory could hold
 * options: dtype   "float32" (default) | "float64"
 *          device  "cpu" | "emu" | "cuda"; unless given, that of --device
 * example:
 *   > zeros(2, 3)
 *   tensor [2, 3] float32 cpu
 *     0  0  0
 *     0  0  0
 * see: ones, full, t:fill */
static int zeros(lua_State *L)
{
    return push_constant(L, "zeros", 0);
}
/* help: ones(n, m, ..., {dtype=, device=}) -> tensor
 * Makes a tensor of ones; also ones({n, m}).
 * shapes: [n, m, ..], up to rank 8
 * math: none  cost: O(numel)
 * errors: an extent that is no whole number of 0 or more, more than memory could hold
 * options: dtype   "float32" (default) | "float64"
 *          device  "cpu" | "emu" | "cuda"; unless given, that of --device
 * example:
 *   > ones(3, {dtype="float64"})
 *   tensor [3] float64 cpu
 *     1  1  1
 * see: zeros, full */
static int ones(lua_State *L)
{
    return push_constant(L, "ones", 1);
}

/* help: full({n, m, ...}, x, {dtype=, device=}) -> tensor
 * Makes a tensor filled with the number x; the shape is a table, or one number.
 * shapes: [n, m, ..], up to rank 8
 * math: none  cost: O(numel)
 * errors: x missing or no number, an extent that is no whole number of 0 or more
 * options: dtype   "float32" (default) | "float64"
 *          device  "cpu" | "emu" | "cuda"; unless given, that of --device
 * example:
 *   > full({2, 2}, 0.5)
 *   tensor [2, 2] float32 cpu
 *     0.5  0.5
 *     0.5  0.5
 * see: zeros, ones, t:fill */
static int full(lua_State *L)
{
    size_t shape[TARN_MAX_RANK];
    char found[80];
    int next;
    if (lua_type(L, 2) != LUA_TNUMBER)
        tarn_lua_fail(L, "full: x is %s, expected a number after the shape",
                      tarn_lua_describe(L, 2, found, sizeof found));
    double value = lua_tonumber(L, 2);
    const struct wish wish = read_options(L, 3, "full", false);
    lua_settop(L, 1);
    int rank = tarn_lua_shape(L, 1, "full", shape, &next);
    tarn_tensor *t = push_new(L, wish.dtype, rank, shape);
    tarn_lua_check(L, tarn_fill(tarn_lua_context(L), t, value));
    return deliver(L, wish);
}

/* help: eye(n, {dtype=, device=}) -> tensor
 * Makes the n by n identity matrix.
 * shapes: [n, n]
 * math: out_ij = 1 if i = j, 0 otherwise  cost: O(n^2)
 * errors: n that is no whole number of 0 or more
 * options: dtype   "float32" (default) | "float64"
 *          device  "cpu" | "emu" | "cuda"; unless given, that of --device
 * example:
 *   > eye(2)
 *   tensor [2, 2] float32 cpu
 *     1  0
 *     0  1
 * see: zeros, t:mm */
static int eye(lua_State *L)
{
    tarn_context *ctx = tarn_lua_context(L);
    size_t n = read_count(L, 1, "eye", "n");
    const struct wish wish = read_options(L, 2, "eye", false);
    tarn_tensor *t = push_new(L, wish.dtype, 2, (size_t[]){n, n});
    tarn_lua_check(L, tarn_fill(ctx, t, 0));
    for (size_t i = 0; i < n; i++)
        tarn_lua_check(L, tarn_tensor_set(ctx, t, (size_t[]){i, i}, 1));
    return deliver(L, wish);
}

/* ---- Evenly spaced --------------------------------------------------------------- */

/* Pushes the n numbers first, first + step, ..; the last one is exactly `last`. */
static int push_spaced(lua_State *L, const char *function, struct wish wish, size_t n,
                       double first, double step, double last)
{
    tarn_context *ctx = tarn_lua_context(L);
    tarn_tensor *t = push_new(L, wish.dtype, 1, &n);
    for (size_t i = 0; i < n; i++) {
        tarn_lua_poll(L, function, i);
        double value = i + 1 < n ? first + (double)i * step : last;
        tarn_lua_check(L, tarn_tensor_set(ctx, t, &i, value));
    }
    return deliver(L, wish);
}

/* help: range(a, b, step, {dtype=, device=}) -> tensor
 * Counts from a to b, the end included as in Lua's for.
 * shapes: [n], n = floor((b - a) / step) + 1; step is 1 unless given
 * math: out_i = a + (i - 1) step  cost: O(n)
 * errors: step 0, NaN or Inf anywhere
 * options: dtype   "float32" (default) | "float64"
 *          device  "cpu" | "emu" | "cuda"; unless given, that of --device
 * note: b is the last number, exactly, also where (b - a) / step misses a whole number
 *       by rounding alone.
 * example:
 *   > range(1, 5)
 *   tensor [5] float32 cpu
 *     1  2  3  4  5
 *   > range(0, 1, 0.25)
 *   tensor [5] float32 cpu
 *     0.00  0.25  0.50  0.75  1.00
 * see: linspace, t:reshape */
/* range(a, b, step): the end counts as reached if it is missed by rounding alone, which
 * is at most a few units in the last place of a and b, seen in steps. */
static int range(lua_State *L)
{
    bool has_step = lua_type(L, 3) == LUA_TNUMBER;
    double a = read_number(L, 1, "range", "a"), b = read_number(L, 2, "range", "b");
    double step = has_step ? read_number(L, 3, "range", "step") : 1;
    const struct wish wish = read_options(L, has_step ? 4 : 3, "range", false);
    if (step == 0) tarn_lua_fail(L, "range: step is 0");
    double steps = (b - a) / step, whole = nearbyint(steps);
    double rounding = 4 * DBL_EPSILON * (fabs(a) + fabs(b)) / fabs(step);
    bool reached = fabs(steps - whole) <= fmin(rounding, 0.25);
    if (!reached) whole = floor(steps);
    if (!(whole < 0x1p53))
        tarn_lua_fail(
            L, "range: from %g to %g by %g are more numbers than memory could hold", a,
            b, step);
    if (whole < 0) return push_spaced(L, "range", wish, 0, a, step, a);
    return push_spaced(L, "range", wish, (size_t)whole + 1, a, step,
                       reached ? b : a + whole * step);
}

/* help: linspace(a, b, n, {dtype=, device=}) -> tensor
 * Makes n numbers evenly spaced from a to b, both included.
 * shapes: [n]
 * math: out_i = a + (i - 1) (b - a) / (n - 1)  cost: O(n)
 * errors: n that is no whole number of 0 or more, NaN or Inf
 * options: dtype   "float32" (default) | "float64"
 *          device  "cpu" | "emu" | "cuda"; unless given, that of --device
 * example:
 *   > linspace(-1, 1, 5)
 *   tensor [5] float32 cpu
 *     -1.0  -0.5   0.0   0.5   1.0
 * see: range */
static int linspace(lua_State *L)
{
    double a = read_number(L, 1, "linspace", "a"),
           b = read_number(L, 2, "linspace", "b");
    size_t n = read_count(L, 3, "linspace", "n");
    const struct wish wish = read_options(L, 4, "linspace", false);
    double intervals = n > 1 ? (double)(n - 1) : 1;
    return push_spaced(L, "linspace", wish, n, a, b / intervals - a / intervals,
                       n > 1 ? b : a);
}

/* ---- Random ---------------------------------------------------------------------- */

static int push_random(lua_State *L, const char *function,
                       tarn_distribution distribution)
{
    size_t shape[TARN_MAX_RANK];
    int next, rank = tarn_lua_shape(L, 1, function, shape, &next);
    const struct wish wish = read_options(L, next, function, true);
    tarn_tensor **out = tarn_lua_slot(L);
    tarn_lua_check(L, tarn_random(tarn_lua_context(L), distribution,
                                  wish.seeded ? &wish.seed : NULL, wish.dtype, rank,
                                  shape, out));
    return deliver(L, wish);
}

/* help: rand(n, m, ..., {seed=, dtype=, device=}) -> tensor
 * Draws uniform random numbers from [0, 1).
 * shapes: [n, m, ..], up to rank 8
 * math: Philox 4x32-10 in counter mode  cost: O(numel)
 * errors: an extent that is no whole number of 0 or more, seed that is no whole number
 * options: seed    a whole number: the same numbers on every machine and for every
 *                   number
 *                  of threads; without it the session's own stream goes on
 *          dtype   "float32" (default) | "float64"
 *          device  "cpu" | "emu" | "cuda"; unless given, that of --device
 * example:
 *   > rand(3, {seed=1})
 *   tensor [3] float32 cpu
 *     0.8903  0.5857  0.6720
 *   > maxdiff(rand(3, {seed=1}), rand(3, {seed=1}))
 *   0.0
 * see: randn, seed */
static int uniform(lua_State *L)
{
    return push_random(L, "rand", TARN_UNIFORM);
}
/* help: randn(n, m, ..., {seed=, dtype=, device=}) -> tensor
 * Draws normal random numbers, mean 0 and deviation 1.
 * shapes: [n, m, ..], up to rank 8
 * math: Philox 4x32-10, then Box-Muller in double  cost: O(numel)
 * errors: an extent that is no whole number of 0 or more, seed that is no whole number
 * options: seed    a whole number: the same numbers on every machine and for every
 *                   number
 *                  of threads; without it the session's own stream goes on
 *          dtype   "float32" (default) | "float64"
 *          device  "cpu" | "emu" | "cuda"; unless given, that of --device
 * example:
 *   > q = randn(16, 8, {seed=1})
 *   > q.shape
 *   {16, 8}
 * see: rand, seed */
static int normal(lua_State *L)
{
    return push_random(L, "randn", TARN_NORMAL);
}

/* help: seed(n)
 * Restarts the session's random numbers from the whole number n.
 * shapes: none
 * math: Philox 4x32-10 in counter mode  cost: O(1)
 * errors: n that is no whole number
 * example:
 *   > seed(7)
 *   > a = rand(3)
 *   > seed(7)
 *   > maxdiff(a, rand(3))
 *   0.0
 * see: rand, randn */
static int seed(lua_State *L)
{
    char found[80];
    lua_Integer n;
    if (!tarn_lua_integer(L, 1, &n))
        tarn_lua_fail(L, "seed: n is %s, expected an integer",
                      tarn_lua_describe(L, 1, found, sizeof found));
    tarn_seed(tarn_lua_context(L), (uint64_t)n);
    return 0;
}

static const luaL_Reg functions[] = {
    {"tensor", tensor}, {"zeros", zeros}, {"ones", ones},         {"full", full},
    {"eye", eye},       {"range", range}, {"linspace", linspace}, {"rand", uniform},
    {"randn", normal},  {"seed", seed},   {NULL, NULL},
};

void tarn_open_create(lua_State *L)
{
    luaL_setfuncs(L, functions, 0);
}
