/* terminal.h: what the terminal can show. Internal. */
#ifndef TARN_TERMINAL_H
#define TARN_TERMINAL_H

#include "repl/options.h"
#include <stdio.h>

/* Columns of the window that stdout goes to, else of $COLUMNS, else 80. */
int tarn_terminal_columns(void);

/* Lines of the window, or 0 where nobody can turn pages: stdin or stdout is no terminal, or
 * the terminal is dumb. */
int tarn_terminal_lines(void);

/* True if the locale writes UTF-8; setlocale has been called before. */
bool tarn_terminal_utf8(void);

/* True if colours belong on this stream: --color first, then NO_COLOR, TERM, isatty. */
bool tarn_terminal_color(FILE *stream, enum tarn_color color);

#endif
