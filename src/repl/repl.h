/* repl.h: the prompt. Internal. */
#ifndef TARN_REPL_H
#define TARN_REPL_H

#include "repl/session.h"

/* Reads, runs and shows until the input ends; false if an input from a pipe or a file ended
 * in an error. */
bool tarn_repl(struct tarn_session *session);

#endif
