/* report.h: calls that may fail, and how their errors are shown. Internal.
 *
 * An error is shown as its message, exactly as it was raised, then the user's own frames,
 * innermost first; frames in C and in tarn's own Lua are left out. All on stderr. */
#ifndef TARN_REPORT_H
#define TARN_REPORT_H

#include <lua.h>
#include <stdbool.h>

/* What every chunk of tarn's own Lua is named after: "@tarn:show". */
#define TARN_CHUNK_PREFIX "@tarn:"

/* What the chunk typed at the prompt is called: "stdin:1: ...". */
#define TARN_PROMPT_CHUNK "=stdin"

/* The registry's key of all frames of the last error: what :bt shows. */
#define TARN_LAST_TRACEBACK "tarn.traceback"

/* Calls the function under `arguments` values like lua_pcall, with a handler that turns
 * the error into one string of message and frames. Returns Lua's status. */
int tarn_protected_call(lua_State *L, int arguments, int results);

/* Adds to Lua's message on wrong syntax, on top of the stack, what may have been meant;
 * `text` is what was typed, or NULL. */
void tarn_explain_syntax(lua_State *L, const char *text);

/* Writes the error on top of the stack to stderr, and pops it. Needs no memory. */
void tarn_show_error(lua_State *L, bool color);

/* Writes "tarn: ..." to stderr. */
void tarn_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* For atexit: makes a full disk or a closed pipe behind stdout an error, also after os.exit.
 * A stdout that was closed from the beginning is none if nothing was written. The reason of
 * an error before, in a print, is not known any more. */
void tarn_close_stdout(void);

/* Writes "note: ..." to stderr. */
void tarn_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
