/* lua_shape.c: methods that look at the same elements in another way, and those that
 * copy or overwrite them.
 *
 * reshape, transpose, t, permute, squeeze, unsqueeze, expand give views: writing to
 * them writes to the original (reshape only where strides allow it). clone and to a
 * dtype give fresh storage. fill and copy change their tensor and return it. */
#include "repl/arguments.h"
#include <string.h>

static const char *const no_options[] = {NULL};

/* ---- Other shapes ---------------------------------------------------------------- */

/* Replaces the one -1 among the sizes by what the elements of t leave for it. */
static void infer_size(lua_State *L, const tarn_tensor *t, int rank, lua_Integer *sizes)
{
    char found[80];
    int unknown = -1;
    size_t known = 1, numel = tarn_tensor_numel(t);
    for (int i = 0; i < rank; i++) {
        if (sizes[i] == -1 && unknown >= 0)
            tarn_lua_fail(
                L, "reshape: sizes %d and %d are both -1; only one can be inferred",
                unknown + 1, i + 1);
        if (sizes[i] == -1)
            unknown = i;
        else if (sizes[i] < 0)
            tarn_lua_fail(
                L, "reshape: size %d is %lld, expected 0 or more, or -1 to infer it",
                i + 1, sizes[i]);
        else if (__builtin_mul_overflow(known, (size_t)sizes[i], &known))
            tarn_lua_fail(L, "reshape: the sizes are more than memory could hold");
    }
    if (unknown < 0) return;
    if (known == 0 || numel % known != 0)
        tarn_lua_fail(
            L,
            "reshape: size %d can't be inferred: the %zu elements of %s do not "
            "divide by %zu",
            unknown + 1, numel, tarn_lua_describe(L, 1, found, sizeof found), known);
    sizes[unknown] = (lua_Integer)(numel / known);
}

/* help: t:reshape(n, m, ...) -> tensor
 * Gives the same elements in row-major order under another shape.
 * shapes: as many elements as t has; one extent may be -1 and is inferred
 * math: none  cost: O(1) where strides allow a view, else O(numel)
 * errors: another number of elements, two extents of -1
 * example:
 *   > range(1, 6):reshape(2, -1)
 *   tensor [2, 3] float32 cpu
 *     1  2  3
 *     4  5  6
 * see: t:transpose, t:squeeze, t:contiguous */
static int reshape(lua_State *L)
{
    lua_Integer sizes[TARN_MAX_RANK];
    size_t shape[TARN_MAX_RANK];
    int next;
    const tarn_tensor *t = tarn_lua_self(L, "reshape");
    int rank = tarn_lua_integers(L, 2, "reshape", "size", sizes, &next);
    tarn_lua_options(L, next, "reshape", no_options);
    infer_size(L, t, rank, sizes);
    for (int i = 0; i < rank; i++) shape[i] = (size_t)sizes[i];
    tarn_tensor **out = tarn_lua_slot(L);
    tarn_lua_check(L, tarn_reshape(tarn_lua_context(L), t, rank, shape, out));
    return 1;
}

/* help: t:expand(n, m, ...) -> tensor
 * Repeats extents of 1, and missing leading ones; a view, many indices to one element.
 * shapes: t broadcasts to [n, m, ..]
 * math: none  cost: O(1)
 * errors: an extent that is neither 1 nor the one asked for
 * example:
 *   > tensor{1, 2}:expand(2, 2)
 *   tensor [2, 2] float32 cpu
 *     1  2
 *     1  2
 * see: t:reshape, t:unsqueeze, t:clone */
static int expand(lua_State *L)
{
    size_t shape[TARN_MAX_RANK];
    int next;
    const tarn_tensor *t = tarn_lua_self(L, "expand");
    int rank = tarn_lua_shape(L, 2, "expand", shape, &next);
    tarn_lua_options(L, next, "expand", no_options);
    tarn_tensor **out = tarn_lua_slot(L);
    tarn_lua_check(L, tarn_expand(tarn_lua_context(L), t, rank, shape, out));
    return 1;
}

/* Pushes t without dimension `dim`, or if dim is negative without any of extent 1. */
static int push_squeezed(lua_State *L, const tarn_tensor *t, int dim)
{
    size_t shape[TARN_MAX_RANK];
    int rank = 0;
    for (int i = 0; i < tarn_tensor_rank(t); i++) {
        size_t extent = tarn_tensor_shape(t)[i];
        if (i != dim && (dim >= 0 || extent != 1)) shape[rank++] = extent;
    }
    tarn_tensor **out = tarn_lua_slot(L);
    tarn_lua_check(L, tarn_reshape(tarn_lua_context(L), t, rank, shape, out));
    return 1;
}

/* help: t:squeeze(dim) -> tensor
 * Drops a dimension of extent 1, or all of them if none is named; a view.
 * shapes: [.., 1, ..] -> [.., ..]
 * math: none  cost: O(1)
 * errors: dim out of range, or of another extent
 * example:
 *   > zeros(1, 3, 1):squeeze().shape
 *   {3}
 * see: t:unsqueeze, t:reshape */
static int squeeze(lua_State *L)
{
    const tarn_tensor *t = tarn_lua_self(L, "squeeze");
    if (lua_isnoneornil(L, 2)) return push_squeezed(L, t, -1);
    int dim = tarn_lua_dim(L, 2, "squeeze", tarn_tensor_rank(t));
    if (tarn_tensor_shape(t)[dim] != 1)
        tarn_lua_fail(L, "squeeze: dimension %d has extent %zu, expected 1", dim + 1,
                      tarn_tensor_shape(t)[dim]);
    return push_squeezed(L, t, dim);
}

/* help: t:unsqueeze(dim) -> tensor
 * Puts in an extent of 1, which becomes dimension dim; a view.
 * shapes: [.., ..] -> [.., 1, ..]
 * math: none  cost: O(1)
 * errors: dim out of 1..rank + 1, a tensor of rank 8 already
 * example:
 *   > zeros(3):unsqueeze(1).shape
 *   {1, 3}
 *   > zeros(3):unsqueeze(-1).shape
 *   {3, 1}
 * see: t:squeeze, t:expand */
static int unsqueeze(lua_State *L)
{
    size_t shape[TARN_MAX_RANK];
    const tarn_tensor *t = tarn_lua_self(L, "unsqueeze");
    int rank = tarn_tensor_rank(t);
    if (rank == TARN_MAX_RANK)
        tarn_lua_fail(L, "unsqueeze: the tensor has rank %d, the highest there is",
                      rank);
    int dim = tarn_lua_dim(L, 2, "unsqueeze", rank + 1);
    for (int i = 0, from = 0; i <= rank; i++)
        shape[i] = i == dim ? 1 : tarn_tensor_shape(t)[from++];
    tarn_tensor **out = tarn_lua_slot(L);
    tarn_lua_check(L, tarn_reshape(tarn_lua_context(L), t, rank + 1, shape, out));
    return 1;
}

/* ---- Other orders ---------------------------------------------------------------- */

static int push_swapped(lua_State *L, const tarn_tensor *t, int a, int b)
{
    int order[TARN_MAX_RANK];
    for (int i = 0; i < tarn_tensor_rank(t); i++)
        order[i] = i == a ? b : i == b ? a : i;
    tarn_tensor **out = tarn_lua_slot(L);
    tarn_lua_check(L, tarn_permute(tarn_lua_context(L), t, order, out));
    return 1;
}

/* help: t:transpose(a, b) -> tensor
 * Swaps two dimensions; a view.
 * shapes: extents a and b change places
 * math: out_.. i .. j .. = t_.. j .. i ..  cost: O(1)
 * errors: a or b missing or out of range
 * example:
 *   > zeros(2, 3, 4):transpose(1, 3).shape
 *   {4, 3, 2}
 * see: t:t, t:permute */
static int transpose(lua_State *L)
{
    const tarn_tensor *t = tarn_lua_self(L, "transpose");
    int rank = tarn_tensor_rank(t);
    int a = tarn_lua_dim(L, 2, "transpose", rank),
        b = tarn_lua_dim(L, 3, "transpose", rank);
    return push_swapped(L, t, a, b);
}

/* help: t:t() -> tensor
 * Transposes a matrix, or each matrix of a batch: swaps the last two dimensions; a
 * view.
 * shapes: [.., n, m] -> [.., m, n]
 * math: out_ij = t_ji  cost: O(1)
 * errors: a rank below 2
 * example:
 *   > tensor{{1, 2}, {3, 4}}:t()
 *   tensor [2, 2] float32 cpu
 *     1  3
 *     2  4
 * see: t:transpose, t:permute, t:mm, st.t */
static int matrix_transpose(lua_State *L)
{
    const tarn_tensor *t = tarn_lua_self(L, "t");
    int rank = tarn_tensor_rank(t);
    if (rank < 2)
        tarn_lua_fail(L, "t: the tensor has rank %d, expected 2 or more", rank);
    return push_swapped(L, t, rank - 2, rank - 1);
}

/* help: t:permute(d1, d2, ...) -> tensor
 * Puts the dimensions in another order: dimension i of the view is dimension d_i of t.
 * shapes: a permutation of the extents
 * math: none  cost: O(1)
 * errors: a dimension that is missing or there twice
 * example:
 *   > zeros(2, 3, 4):permute(3, 1, 2).shape
 *   {4, 2, 3}
 * see: t:transpose, t:t */
static int permute(lua_State *L)
{
    lua_Integer dims[TARN_MAX_RANK];
    int order[TARN_MAX_RANK], next;
    bool seen[TARN_MAX_RANK] = {false};
    const tarn_tensor *t = tarn_lua_self(L, "permute");
    int rank = tarn_tensor_rank(t);
    int count = tarn_lua_integers(L, 2, "permute", "dim", dims, &next);
    tarn_lua_options(L, next, "permute", no_options);
    if (count != rank)
        tarn_lua_fail(L, "permute: %d dims for a tensor of rank %d, expected each once",
                      count, rank);
    for (int i = 0; i < rank; i++) {
        lua_pushinteger(L, dims[i]);
        order[i] = tarn_lua_dim(L, -1, "permute", rank);
        lua_pop(L, 1);
        if (seen[order[i]])
            tarn_lua_fail(L, "permute: dim %d is there twice, expected each once",
                          order[i] + 1);
        seen[order[i]] = true;
    }
    tarn_tensor **out = tarn_lua_slot(L);
    tarn_lua_check(L, tarn_permute(tarn_lua_context(L), t, order, out));
    return 1;
}

/* ---- Copies ---------------------------------------------------------------------- */

/* help: t:contiguous() -> tensor
 * Gives t if its elements lie in row-major order without gaps, else a copy that does.
 * shapes: out as t
 * math: none  cost: O(1) or O(numel)
 * errors: none
 * note: the result may share its memory with t.
 * example:
 *   > zeros(2, 3):t():contiguous().strides
 *   {2, 1}
 * see: t.strides, t:clone */
static int contiguous(lua_State *L)
{
    const tarn_tensor *t = tarn_lua_self(L, "contiguous");
    tarn_tensor **out = tarn_lua_slot(L);
    tarn_lua_check(L, tarn_contiguous(tarn_lua_context(L), t, out));
    return 1;
}

/* help: t:clone() -> tensor
 * Makes a contiguous copy with memory of its own.
 * shapes: out as t
 * math: none  cost: O(numel)
 * errors: none
 * example:
 *   > t = tensor{1, 2}
 *   > u = t:clone():fill(0)
 *   > t
 *   tensor [2] float32 cpu
 *     1  2
 * see: t:copy, t:contiguous, st:clone */
static int clone(lua_State *L)
{
    const tarn_tensor *t = tarn_lua_self(L, "clone");
    tarn_tensor **out = tarn_lua_slot(L);
    tarn_lua_check(L, tarn_clone(tarn_lua_context(L), t, tarn_tensor_dtype(t), out));
    return 1;
}

/* help: t:fill(x) -> t
 * Sets every element to the number x, in place.
 * shapes: any
 * math: none  cost: O(numel)
 * errors: x that is no number
 * note: a view writes to the tensor that it looks at.
 * example:
 *   > t = zeros(2, 2)
 *   > t[1]:fill(7);
 *   > t
 *   tensor [2, 2] float32 cpu
 *     7  7
 *     0  0
 * see: full, t:copy, t[i] */
static int fill(lua_State *L)
{
    char found[80];
    tarn_tensor *t = tarn_lua_self(L, "fill");
    if (lua_type(L, 2) != LUA_TNUMBER)
        tarn_lua_fail(L, "fill: x is %s, expected a number",
                      tarn_lua_describe(L, 2, found, sizeof found));
    tarn_lua_check(L, tarn_fill(tarn_lua_context(L), t, lua_tonumber(L, 2)));
    lua_settop(L, 1);
    return 1;
}

/* help: t:copy(u) -> t
 * Copies the elements of u into t, in place, converting their type.
 * shapes: u broadcasts to the shape of t
 * math: none  cost: O(numel)
 * errors: a shape that does not broadcast to that of t
 * note: t and u may overlap; the result is as if u had been copied first.
 * example:
 *   > zeros(2, 2):copy(tensor{1, 2})
 *   tensor [2, 2] float32 cpu
 *     1  2
 *     1  2
 * see: t:clone, t:fill, t[i] */
static int copy(lua_State *L)
{
    tarn_tensor *t = tarn_lua_self(L, "copy");
    const tarn_tensor *source = tarn_lua_tensor(L, 2, "copy", "the source");
    tarn_lua_check(L, tarn_copy(tarn_lua_context(L), t, source));
    lua_settop(L, 1);
    return 1;
}

/* The type that a word is near to, or that other libraries call so, or NULL. */
static const char *meant_type(const char *word)
{
    static const char *const types[] = {"float32", "float64", NULL};
    if (strcmp(word, "float") == 0) return types[0];
    if (strcmp(word, "double") == 0) return types[1];
    return tarn_nearest(word, types);
}

/* help: t:to("float32" | "float64" | "cpu" | "emu" | "cuda") -> tensor
 * Converts to another type, or brings to another device; t itself where nothing is to
 * be done.
 * shapes: out as t
 * math: float64 to float32 rounds to nearest  cost: O(numel)
 * errors: a type or device that is not there
 * example:
 *   > tensor{1, 2}:to("float64")
 *   tensor [2] float64 cpu
 *     1  2
 *   > tensor{1, 2}:to("emu").device
 *   "emu"
 * see: t.dtype, t.device, backends */
static int to(lua_State *L)
{
    char found[80];
    const tarn_tensor *t = tarn_lua_self(L, "to");
    if (lua_type(L, 2) != LUA_TSTRING)
        tarn_lua_fail(
            L,
            "to: the target is %s, expected a type ('float32', 'float64') or a "
            "device ('cpu', 'emu', 'cuda')",
            tarn_lua_describe(L, 2, found, sizeof found));
    if (!lua_isnoneornil(L, 3))
        tarn_lua_fail(L,
                      "to: a second target is %s, expected one; hint: "
                      "t:to(\"float64\"):to(\"emu\")",
                      tarn_lua_describe(L, 3, found, sizeof found));
    const char *target = lua_tostring(L, 2), *device = NULL;
    tarn_dtype dtype = tarn_tensor_dtype(t);
    if (strcmp(target, "float32") == 0)
        dtype = TARN_FLOAT32;
    else if (strcmp(target, "float64") == 0)
        dtype = TARN_FLOAT64;
    else if (meant_type(target))
        tarn_lua_fail(L, "to: there is no type '%s'; did you mean '%s'?", target,
                      meant_type(target));
    else
        device = tarn_lua_device(L, 2, "to");
    const bool stays = !device || strcmp(device, tarn_tensor_device(t)) == 0;
    if (stays && dtype == tarn_tensor_dtype(t)) {
        lua_settop(L, 1);
        return 1;
    }
    tarn_tensor **out = tarn_lua_slot(L);
    tarn_lua_check(L, stays ? tarn_clone(tarn_lua_context(L), t, dtype, out)
                            : tarn_to(tarn_lua_context(L), t, device, out));
    return 1;
}

static const luaL_Reg methods[] = {
    {"reshape", reshape},
    {"expand", expand},
    {"squeeze", squeeze},
    {"unsqueeze", unsqueeze},
    {"transpose", transpose},
    {"t", matrix_transpose},
    {"permute", permute},
    {"contiguous", contiguous},
    {"clone", clone},
    {"fill", fill},
    {"copy", copy},
    {"to", to},
    {NULL, NULL},
};

void tarn_open_shape(lua_State *L)
{
    tarn_lua_methods(L, methods);
}
