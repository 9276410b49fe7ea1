/* history.h: the file that keeps what was typed. Internal.
 *
 * - --history or TARN_HISTORY names it, else it is $XDG_STATE_HOME/tarn/history; its mode
 *   is 0600.
 * - Each input is appended by one write under a lock, so that several sessions can share
 *   the file and nothing is lost when one dies.
 * - The format is Readline's with time stamps: "#1700000000", then the lines of the input. */
#ifndef TARN_HISTORY_H
#define TARN_HISTORY_H

#include <stdbool.h>

/* Inputs kept: the file is cut to so many when it has twice as many. */
enum { TARN_HISTORY_CAP = 2000 };

/* The file's path, to be freed: `file`, or without one where the environment says, with
 * its folders made. NULL if there is to be none. */
char *tarn_history_path(const char *file);

/* Appends one input; false (see errno) if that did not work. */
bool tarn_history_append(const char *path, const char *input);

/* Cuts the file to its last TARN_HISTORY_CAP inputs if it has grown too long. */
void tarn_history_trim(const char *path);

#endif
