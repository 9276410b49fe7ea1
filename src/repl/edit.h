/* edit.h: reading lines at the prompt, with or without Readline. Internal.
 *
 * ^C while a line is being typed shows up as the context's interrupt flag: the line that
 * comes back is then to be dropped. Typed-ahead keys are kept. */
#ifndef TARN_EDIT_H
#define TARN_EDIT_H

#include "repl/session.h"

/* Makes ready to read, and reads the history file in. */
void tarn_edit_open(struct tarn_session *session);

/* Reads one line without its newline, or a pasted block with its inner ones; it is valid
 * until the next call. NULL: the input has ended, or ^C without Readline. */
const char *tarn_edit_line(struct tarn_session *session, const char *prompt);

/* Keeps a whole input, of one or more lines, as one entry of the history. */
void tarn_edit_remember(struct tarn_session *session, const char *input);

#endif
