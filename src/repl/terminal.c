/* terminal.c: what the terminal can show. See terminal.h. */
#include "repl/terminal.h"
#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

int tarn_terminal_columns(void)
{
    struct winsize window;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0)
        return window.ws_col;

    const char *columns = getenv("COLUMNS");
    long number = columns ? strtol(columns, NULL, 10) : 0;
    return number > 0 && number < 10000 ? (int)number : 80;
}

/* True if the terminal can do more than print. */
static bool is_smart(void)
{
    const char *term = getenv("TERM");
    return term && *term && strcmp(term, "dumb") != 0;
}

int tarn_terminal_lines(void)
{
    struct winsize window;
    if (!is_smart() || !isatty(STDIN_FILENO)) return 0;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 ? window.ws_row : 0;
}

bool tarn_terminal_utf8(void)
{
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

bool tarn_terminal_color(FILE *stream, enum tarn_color color)
{
    if (color != TARN_COLOR_AUTO) return color == TARN_COLOR_ALWAYS;
    const char *no_color = getenv("NO_COLOR");
    if (no_color && *no_color) return false;
    return is_smart() && isatty(fileno(stream)) == 1;
}
