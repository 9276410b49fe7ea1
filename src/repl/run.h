/* run.h: code that comes from files and from the command line. Internal. */
#ifndef TARN_RUN_H
#define TARN_RUN_H

#include "repl/session.h"

/* Each gives false after the error was reported. */

/* Runs what -e and -l ask for, in their order. */
bool tarn_run_actions(struct tarn_session *session);

/* Runs the script of the command line with its arguments; "-" is standard input. */
bool tarn_run_script(struct tarn_session *session);

/* Runs standard input as a script. */
bool tarn_run_stdin(struct tarn_session *session);

/* Runs the user's startup file if there is one. */
bool tarn_run_startup(struct tarn_session *session);

/* Sets the global table `arg` as Lua's own interpreter does: script at 0. May raise. */
void tarn_run_set_arguments(struct tarn_session *session);

#endif
