/* input.h: one input of the prompt: what it is, and running it. Internal.
 *
 * - An input is complete unless its syntax error is at the end of the text. It is tried
 *   as an expression first (with `return` before it), so that its values can be shown;
 *   of several lines the last one may be such an expression.
 * - It is compiled once and run once. A `;` at its end means: do not show the values.
 * - ?name is help("name"); :name and !command are those of lua/commands.lua.
 * The prompt and the transcripts of --doctest both stand on this. */
#ifndef TARN_INPUT_H
#define TARN_INPUT_H

#include <lua.h>

enum tarn_input {
    TARN_INPUT_EXPRESSION,
    TARN_INPUT_STATEMENTS,
    TARN_INPUT_HELP,
    TARN_INPUT_COMMAND,
    TARN_INPUT_INCOMPLETE,
    TARN_INPUT_WRONG
};

/* Tells what a text is, and pushes the function to run, or else Lua's message. */
enum tarn_input tarn_input_understand(lua_State *L, const char *text);

/* Takes the function that understanding the text has pushed, runs it, and shows what it
 * gives. Returns Lua's status; after an error its message, with frames, is on the stack. */
int tarn_input_run(lua_State *L, enum tarn_input input, const char *text);

#endif
