/* complete.h: what a word at the prompt may go on as, as Readline wants it. Internal.
 *
 * What may stand at the cursor is known to lua/complete.lua, which runs nothing of the
 * user's; here its answer becomes memory of C's. If Lua is out of memory, or is stopped,
 * there is no answer and no harm. */
#ifndef TARN_COMPLETE_H
#define TARN_COMPLETE_H

#include <lua.h>
#include <stdbool.h>

struct tarn_completion {
    char *
        *matches; /* NULL, or the common prefix, the candidates, NULL: all malloc'ed */
    char *note;   /* NULL, or how the function at hand is called */
    char append;  /* what to put after a single candidate, or '\0' */
    bool quoted;  /* the word stands in a string */
    bool files;   /* the name of a file may stand there */
    char
        breaks[64]; /* characters that end Readline's search for the word's beginning */
};

/* Completes the word before the byte `point` of a line, which may go on from the lines
 * before it (else NULL). What was in `completion` is freed;
 * it must have been filled by a call before, or be all 0. */
void tarn_complete(lua_State *L, const char *before, const char *line, int point,
                   struct tarn_completion *completion);

#endif
