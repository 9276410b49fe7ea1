/* arguments.h: the arguments that functions of tensors share: the tensor itself,
 * dimensions, shapes, numbers in place of tensors. Internal to the bindings of tensors.
 *
 * Lua counts dimensions and positions from 1, or from -1 at the end; C from 0. The two
 * meet here and in lua_index.c, so that every message a Lua user sees is 1-based. */
#ifndef TARN_ARGUMENTS_H
#define TARN_ARGUMENTS_H

#include "repl/bind.h"

/* The tensor that a method is called on: argument 1, with a hint at the colon. */
tarn_tensor *tarn_lua_self(lua_State *L, const char *function);

/* The dimension in argument `index` of a tensor of that rank, 0-based. */
int tarn_lua_dim(lua_State *L, int index, const char *function, int rank);

/* 0-based position of the 1-based or negative one at a stack index among `extent`; else
 * an error that calls it `what`. */
size_t tarn_lua_position(lua_State *L, int index, const char *function,
                         const char *what, size_t extent);

/* Up to TARN_MAX_RANK integers, as arguments from `first` on or in one table there;
 * gives their count, and in *next the argument after them, where a table of options may
 * be. */
int tarn_lua_integers(lua_State *L, int first, const char *function, const char *what,
                      lua_Integer *list, int *next);

/* The same for a shape: nothing negative. */
int tarn_lua_shape(lua_State *L, int first, const char *function, size_t *shape,
                   int *next);

/* The name of a device at a stack index, which is a string; a word that names none is
 * refused with a suggestion. Whether it can be used is for the library to say. The name
 * is a constant. */
const char *tarn_lua_device(lua_State *L, int index, const char *function);

/* The option device of the table at an index, if there is one; else the session's. */
const char *tarn_lua_opt_device(lua_State *L, int index, const char *function);

/* Puts the tensor on top of the stack on a device: a copy in its place, unless it lies
 * there already. */
void tarn_lua_place(lua_State *L, const char *function, const char *device);

/* The path at a stack index: a string, not empty, without a zero byte. */
const char *tarn_lua_path(lua_State *L, int index, const char *function);

/* The tensor at a stack index; a number there is first replaced by a tensor of rank 0,
 * of the type of the tensor `beside` it, on its device (float32 on the cpu if that is
 * NULL). */
tarn_tensor *tarn_lua_operand(lua_State *L, int index, const char *function,
                              const char *argument, const tarn_tensor *beside);

/* Pushes the only element of a tensor of one element. */
int tarn_lua_push_item(lua_State *L, const tarn_tensor *t);

/* Raises if a stop was asked for: for loops over many values, at their step i. */
void tarn_lua_poll(lua_State *L, const char *function, size_t i);

/* __index and __newindex of tensors (lua_index.c); the former falls back to
 * tarn_lua_member for names, with the table of methods as its upvalue. */
int tarn_lua_get(lua_State *L);
int tarn_lua_set(lua_State *L);
int tarn_lua_member(lua_State *L);

/* Openers of parts, called by tarn_open_tensor and tarn_open_math. */
void tarn_open_shape(lua_State *L);   /* reshape, transpose, clone, to, ... */
void tarn_open_reduce(lua_State *L);  /* sum, max, softmax, cumsum, ... */
void tarn_open_arrange(lua_State *L); /* cat, index, flip, where, ... */

#endif
