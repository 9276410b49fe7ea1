/* edit.c: reading lines at the prompt. See edit.h.
 *
 * Two versions: Readline's, and a plain one for a build without it or for input that is
 * no terminal. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "repl/edit.h"
#include "repl/history.h"
#include "repl/keys.h"
#include "repl/report.h"
#include "repl/terminal.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

/* ---- Without Readline ---- */

static const char *plain_line(struct tarn_session *session, const char *prompt)
{
    size_t capacity = 0;
    free(session->line);
    session->line = NULL;
    fputs(prompt, stdout);
    fflush(stdout);
    clearerr(stdin); /* ^D ends one input, and so does ^C: also one of io.read */
    ssize_t length = getline(&session->line, &capacity, stdin);
    if (length < 0) {
        if (tarn_interrupted(session->ctx)) {
            putchar('\n');
            tcflush(STDIN_FILENO, TCIFLUSH); /* the beginning of a line */
        }
        return NULL;
    }
    if (length > 0 && session->line[length - 1] == '\n')
        session->line[length - 1] = '\0';
    return session->line;
}

#ifdef HAVE_READLINE
#include <readline/history.h>
#include <readline/readline.h>

/* ---- With Readline ---- */

/* Readline's callbacks have no argument to find the session by. */
static struct tarn_session *editing;

/* How many keys ^C has made up since it was pressed. */
static int keys_made_up;

/* The key that ^C stands for: first of all the end of the line (which is then dropped),
 * but within a search, a question or a key sequence the one that aborts it. */
static int key_for_interrupt(void)
{
    bool busy = RL_ISSTATE(RL_STATE_ISEARCH | RL_STATE_NSEARCH | RL_STATE_COMPLETING |
                           RL_STATE_NUMERICARG | RL_STATE_MULTIKEY | RL_STATE_METANEXT |
                           RL_STATE_VIMOTION | RL_STATE_CHARSEARCH);
    int parity = busy ? 0 : 1;
    if (keys_made_up++ % 2 != parity) return NEWLINE;
    /* Readline's questions about long lists take a no, and lose memory when aborted. */
    return RL_ISSTATE(RL_STATE_COMPLETING) ? 'n' : ABORT_CHAR;
}

/* Reads one key. SIGINT is let in only while we wait, so that none slips in between a
 * look at the flag and the wait. */
static int read_key(FILE *stream)
{
    sigset_t interrupt, outside;
    struct pollfd input = {.fd = fileno(stream), .events = POLLIN};
    unsigned char key;
    int result = EOF;
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    sigprocmask(SIG_BLOCK, &interrupt, &outside);
    for (;;) {
        if (tarn_interrupted(editing->ctx)) {
            result = key_for_interrupt();
            break;
        }
        if (ppoll(&input, 1, NULL, &outside) < 0) {
            if (errno != EINTR) break;
            rl_check_signals(); /* the window may have changed */
            continue;
        }
        ssize_t got = read(input.fd, &key, 1);
        if (got < 0 && errno == EINTR) continue;
        if (got == 1) result = key;
        break;
    }
    sigprocmask(SIG_SETMASK, &outside, NULL);
    return result;
}

static void load_history(struct tarn_session *session)
{
    history_comment_char = '#';
    history_write_timestamps = 1;
    stifle_history(TARN_HISTORY_CAP);
    if (!session->invocation->history) return;
    session->history = tarn_history_path(session->invocation->history_file);
    if (!session->history) return;
    tarn_history_trim(session->history);
    read_history(session->history);
}

static void open_readline(struct tarn_session *session)
{
    editing = session;
    rl_readline_name = "tarn";
    rl_catch_signals = 0;
    rl_getc_function = read_key;
    if (!isatty(STDOUT_FILENO)) rl_outstream = stderr;
    tarn_keys_bind(session);
    rl_initialize();
}

static const char *readline_line(struct tarn_session *session, const char *prompt)
{
    free(session->line);
    keys_made_up = 0;
    fflush(stdout);
    session->line = readline(prompt);
    return session->line;
}

/* True if this input is the one before it once more. */
static bool is_repeated(const char *input)
{
    const HIST_ENTRY *last =
        history_length ? history_get(history_base + history_length - 1) : NULL;
    return last && strcmp(last->line, input) == 0;
}

void tarn_edit_remember(struct tarn_session *session, const char *input)
{
    if (editing != session || is_repeated(input)) return;
    add_history(input);
    if (!session->history || tarn_history_append(session->history, input)) return;
    tarn_note("the history is not kept: %s: %s", session->history, strerror(errno));
    free(session->history);
    session->history = NULL;
}

void tarn_edit_open(struct tarn_session *session)
{
    if (!isatty(STDIN_FILENO)) return;
    open_readline(session);
    load_history(session);
}

const char *tarn_edit_line(struct tarn_session *session, const char *prompt)
{
    return editing == session ? readline_line(session, prompt)
                              : plain_line(session, prompt);
}

#else

void tarn_edit_open(struct tarn_session *session)
{
    (void)session;
    if (isatty(STDIN_FILENO))
        tarn_note("built without Readline: no editing and no history; install "
                  "libreadline-dev and run configure again to have them");
}

const char *tarn_edit_line(struct tarn_session *session, const char *prompt)
{
    return plain_line(session, prompt);
}

void tarn_edit_remember(struct tarn_session *session, const char *input)
{
    (void)session;
    (void)input;
}

#endif
