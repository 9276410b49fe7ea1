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

static int transpose(lua_State *L)
{
    const tarn_tensor *t = tarn_lua_self(L, "transpose");
    int rank = tarn_tensor_rank(t);
    int a = tarn_lua_dim(L, 2, "transpose", rank),
        b = tarn_lua_dim(L, 3, "transpose", rank);
    return push_swapped(L, t, a, b);
}

/* t:t() transposes a matrix, or each matrix of a batch: the last two dimensions. */
static int matrix_transpose(lua_State *L)
{
    const tarn_tensor *t = tarn_lua_self(L, "t");
    int rank = tarn_tensor_rank(t);
    if (rank < 2)
        tarn_lua_fail(L, "t: the tensor has rank %d, expected 2 or more", rank);
    return push_swapped(L, t, rank - 2, rank - 1);
}

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

static int contiguous(lua_State *L)
{
    const tarn_tensor *t = tarn_lua_self(L, "contiguous");
    tarn_tensor **out = tarn_lua_slot(L);
    tarn_lua_check(L, tarn_contiguous(tarn_lua_context(L), t, out));
    return 1;
}

static int clone(lua_State *L)
{
    const tarn_tensor *t = tarn_lua_self(L, "clone");
    tarn_tensor **out = tarn_lua_slot(L);
    tarn_lua_check(L, tarn_clone(tarn_lua_context(L), t, tarn_tensor_dtype(t), out));
    return 1;
}

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

static int copy(lua_State *L)
{
    tarn_tensor *t = tarn_lua_self(L, "copy");
    const tarn_tensor *source = tarn_lua_tensor(L, 2, "copy", "the source");
    tarn_lua_check(L, tarn_copy(tarn_lua_context(L), t, source));
    lua_settop(L, 1);
    return 1;
}

/* t:to("float64"), t:to("cpu"): the tensor itself where there is nothing to do. */
static int to(lua_State *L)
{
    static const char *const types[] = {"float32", "float64", NULL};
    char found[80];
    const tarn_tensor *t = tarn_lua_self(L, "to");
    if (lua_type(L, 2) != LUA_TSTRING)
        tarn_lua_fail(
            L,
            "to: the target is %s, expected a type ('float32', 'float64') or a "
            "device ('cpu')",
            tarn_lua_describe(L, 2, found, sizeof found));
    const char *target = lua_tostring(L, 2);
    tarn_dtype dtype = tarn_tensor_dtype(t);
    if (strcmp(target, "float32") == 0)
        dtype = TARN_FLOAT32;
    else if (strcmp(target, "float64") == 0)
        dtype = TARN_FLOAT64;
    else if (tarn_lua_nearest(target, types))
        tarn_lua_fail(L, "to: there is no type '%s'; did you mean '%s'?", target,
                      tarn_lua_nearest(target, types));
    else
        tarn_lua_device(L, "to", target);
    lua_settop(L, 1);
    if (dtype == tarn_tensor_dtype(t)) return 1;
    tarn_tensor **out = tarn_lua_slot(L);
    tarn_lua_check(L, tarn_clone(tarn_lua_context(L), t, dtype, out));
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
