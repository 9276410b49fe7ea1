/* bind.h: how C values of tarn stand in Lua. Internal.
 *
 * Rules of every binding: check the arguments, call one C function, hand the result over.
 * No mathematics here. One file per module, one luaL_Reg table per file, one opener
 * declared below.
 *
 * Lua leaves a C function by longjmp, so nothing may be held in a C variable while Lua can
 * raise: results go into a userdata that was pushed BEFORE the C call (tarn_lua_slot).
 *
 * Error messages carry no position: the text is the same at the prompt, in a script and in
 * pcall; the traceback tells where. */
#ifndef TARN_BIND_H
#define TARN_BIND_H

#include "core/nearest.h"
#include "tarn.h"
#include <lua.h>
#include <lauxlib.h>

/* The name of the metatable of tensors in the registry. */
#define TARN_LUA_TENSOR "tarn.tensor"

/* Ties a context to a Lua state: once, before the first opener. The context then asks
 * this state to collect garbage when memory runs out, until the state is closed. */
void tarn_lua_attach(lua_State *L, tarn_context *ctx);

/* The context of this Lua state (kept in the registry). */
tarn_context *tarn_lua_context(lua_State *L);

/* Where this session makes tensors and states unless it is told otherwise: "cpu" until it
 * is set. The name is kept by pointer. */
const char *tarn_lua_default_device(lua_State *L);
void tarn_lua_set_default_device(lua_State *L, const char *device);

/* Raises the context's message if status is an error; otherwise returns. */
void tarn_lua_check(lua_State *L, tarn_status status);

/* Raises "function: ..." with a message of the binding's own. */
int tarn_lua_fail(lua_State *L, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Pushes a new tensor userdata that is still empty and gives the place for the C call to
 * put its result in. Also runs Lua's collector when tensors have grown by more than
 * max(64 MiB, half of what lived after the last collection). */
tarn_tensor **tarn_lua_slot(lua_State *L);

/* The tensor itself if it lies on the host, or a copy there, pushed. */
tarn_tensor *tarn_lua_on_host(lua_State *L, tarn_tensor *t);

/* The tensor at a stack index, or NULL if there is none. */
tarn_tensor *tarn_lua_to_tensor(lua_State *L, int index);

/* The tensor at a stack index, or an error: "prefix: q is a string, expected a tensor". */
tarn_tensor *tarn_lua_tensor(lua_State *L, int index, const char *function,
                             const char *argument);

/* True if the value at a stack index is a number without a fraction; then also its value. */
bool tarn_lua_integer(lua_State *L, int index, lua_Integer *value);

/* The number at a stack index. Any NaN becomes the one that is printed without a sign:
 * 0/0 has one on x86. */
double tarn_lua_real(lua_State *L, int index);

/* Checks that the table at `index` (or none, or nil) has only the named options (a
 * NULL-terminated list); an unknown one is an error with a suggestion. A number or any
 * other type than a table is an error too. Positive: there is a table. */
bool tarn_lua_options(lua_State *L, int index, const char *function,
                      const char *const *names);

/* Read one option of the table at `index` if it is there: of the right type or an error
 * "prefix: chunk is a string, expected a positive integer". True if it was there. */
bool tarn_lua_opt_number(lua_State *L, int index, const char *function,
                         const char *name, double *value);
bool tarn_lua_opt_integer(lua_State *L, int index, const char *function,
                          const char *name, lua_Integer *value);
bool tarn_lua_opt_boolean(lua_State *L, int index, const char *function,
                          const char *name, bool *value);
/* One of a NULL-terminated list of words, as its position; else an error with the list and
 * a suggestion. */
bool tarn_lua_opt_word(lua_State *L, int index, const char *function, const char *name,
                       const char *const *words, int *position);

/* The key of the table at a stack index nearest to `word` if it is near enough to be meant,
 * else NULL (core/nearest.h). */
const char *tarn_lua_nearest_key(lua_State *L, int index, const char *word);

/* A string of at most `limit` characters that shows the value at an index in an error
 * message: "a string", "the number 3", "tensor [3, 4] float32". Pushes nothing. */
const char *tarn_lua_describe(lua_State *L, int index, char *buffer, size_t limit);

/* Pushes the metatable of a type of userdata: `get` is its __index, whose upvalue is the
 * table of methods, still empty; completion reads __methods and __fields, and runs nothing. */
void tarn_lua_type(lua_State *L, const char *type, const char *name,
                   const luaL_Reg *metamethods, lua_CFunction get,
                   const char *const *fields);

/* Pops a function and makes it `name` in the table under it, which is `tarn`, and among
 * the methods of tensors; and the same for a list of functions. */
void tarn_lua_method(lua_State *L, const char *name);
void tarn_lua_methods(lua_State *L, const luaL_Reg *functions);

/* Openers: each adds its functions to the table `tarn` on top of the stack. That of
 * tensors comes first: the others need its metatable. */
void tarn_open_tensor(lua_State *L); /* the userdata: indexing, shapes, methods */
void tarn_open_create(lua_State *L); /* tensor, zeros, rand, ... */
void tarn_open_math(lua_State *L);   /* operators, exp, sum, mm, cat, ... */
void tarn_open_files(lua_State *L);  /* read, imwrite, mnist, t:save */
void tarn_open_phi(lua_State *L);    /* phi, phis */
void tarn_open_stages(lua_State *L); /* sim, assoc, prefix and the gradients */
void tarn_open_rnn(lua_State *L);    /* rnn, kv */
void tarn_open_check(lua_State *L);  /* equiv, gradcheck, backends */
void tarn_open_kernel(lua_State *L); /* tarn.loader: a user's kernel */
void tarn_open_emu(lua_State *L);    /* emu, tarn.profiler: start, stop */
void tarn_open_bench(lua_State *L);  /* tarn.machine: clock, threads, work, measure */

#endif
