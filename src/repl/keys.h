/* keys.h: what TAB and the arrow keys do at the prompt, with Readline. Internal.
 *
 *   TAB         indents at the beginning of a line, completes elsewhere; says how a
 *               function is called when its name is complete or an argument begins
 *   Up, Down    go through the inputs that begin with what stands before the cursor
 *
 * These are defaults: what the user's inputrc binds (`$if tarn`) wins. */
#ifndef TARN_KEYS_H
#define TARN_KEYS_H

#include "repl/session.h"

/* Binds the keys, before rl_initialize reads the user's inputrc. */
void tarn_keys_bind(struct tarn_session *session);

#endif
