/* complete.h: what a word at the prompt may go on as. Internal.
 *
 * Tables are looked into without running any code: raw access, to the user's globals, to
 * fields, to `__index` tables, and to what the metatables of tarn's own values list for
 * this purpose: `__fields` (names) and `__methods` (name -> function). */
#ifndef TARN_COMPLETE_H
#define TARN_COMPLETE_H

#include <lua.h>
#include <stddef.h>

/* Gives the candidates that the word before the cursor may become ("t:sq", "math.f", "pr")
 * as a NULL-terminated array of malloc'ed strings, the first one their common prefix, as
 * Readline wants it; NULL if there are none. `last` is what to append to a single one. */
char **tarn_complete(lua_State *L, const char *word, char *last);

#endif
