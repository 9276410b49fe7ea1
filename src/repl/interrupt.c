/* interrupt.c: what ^C does. See interrupt.h. */
#include "repl/interrupt.h"
#include "repl/bind.h"
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

/* Instructions between two looks at the interrupt flag: some 10 microseconds. */
enum { WATCH_PERIOD = 1000 };

/* Looks at the flag. Once it is set, every instruction is watched, so that also
 * `while true do pcall(f) end` ends: the loop's own next instruction raises. */
static void watch(lua_State *L, lua_Debug *ar)
{
    (void)ar;
    bool stop = tarn_interrupted(tarn_lua_context(L));
    int period = stop ? 1 : WATCH_PERIOD;
    if (lua_gethookcount(L) != period) lua_sethook(L, watch, LUA_MASKCOUNT, period);
    if (!stop) return;
    lua_pushliteral(L, "interrupted");
    lua_error(L);
}

/* ---- Asking whether to quit ----
 * All of this runs in the signal handler: only calls that POSIX allows there. */

/* The question comes with the third press in so long, in milliseconds; but presses that
 * come faster than any code could answer are one. */
enum { WINDOW = 2000, BURST = 100 };

/* The times of the last two presses that are not answered; 0: none. */
static long long pressed[2];

static long long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000LL + t.tv_nsec / 1000000 + 1;
}

/* Counts a press, and tells whether the last three are unanswered and in the window. */
static bool is_third(bool unanswered)
{
    long long time = now(), first = pressed[0];
    if (!unanswered) pressed[1] = first = 0;
    pressed[0] = pressed[1];
    pressed[1] = time;
    return first && time - first >= BURST && time - first <= WINDOW;
}

static void say(const char *text)
{
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written; /* there is nobody else to tell */
}

/* Asks on the terminal, which Readline has given back while code runs. What was typed
 * before the question is no answer to it. The inputs are in the history file already. */
static void ask_to_quit(void)
{
    char answer[64] = "";
    tcflush(STDIN_FILENO, TCIFLUSH);
    say("\nThis call does not look at ^C. Quit tarn? y or n, and Enter: ");
    if (read(STDIN_FILENO, answer, sizeof answer) > 0 && (*answer | 0x20) == 'y')
        _exit(128 + SIGINT);
    pressed[0] = pressed[1] = 0;
}

/* ---- The signal ---- */

/* A signal handler has no argument to find the session by. */
static struct tarn_session *volatile interrupted_session;

/* There is a terminal to ask on. */
static volatile sig_atomic_t may_ask;

/* Sets the flag, and lets the hook look at it at the next instruction: lua_sethook may be
 * called from a signal handler. */
static void stop(struct tarn_session *session)
{
    tarn_interrupt(session->ctx);
    lua_sethook(session->L, watch, LUA_MASKCOUNT, 1);
}

static void on_interrupt(int signal_number)
{
    (void)signal_number;
    struct tarn_session *session = interrupted_session;
    if (!session) return;
    int outside = errno;
    bool unanswered = tarn_interrupted(session->ctx);
    stop(session);
    if (may_ask && is_third(unanswered)) ask_to_quit();
    errno = outside;
}

void tarn_interrupts_catch(struct tarn_session *session, bool prompting)
{
    interrupted_session = session;
    session->prompting = prompting;
    may_ask = prompting && isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
    /* Without SA_RESTART a blocking read returns, and the hook gets its turn. */
    struct sigaction action = {.sa_handler = on_interrupt};
    sigemptyset(&action.sa_mask);
    if (!prompting) action.sa_flags = (int)SA_RESETHAND;
    sigaction(SIGINT, &action, NULL);
}

/* The processor time is used up: as ^C, but for good. Code that can't be stopped is ended
 * by the system a little later. */
static void on_time_out(int signal_number)
{
    (void)signal_number;
    struct tarn_session *session = interrupted_session;
    if (!session) return;
    session->out_of_time = 1;
    stop(session);
}

bool tarn_interrupts_limit_time(uint64_t seconds)
{
    enum { GRACE = 2 };
    struct rlimit limit = {.rlim_cur = seconds, .rlim_max = seconds + GRACE};
    struct sigaction action = {.sa_handler = on_time_out};
    sigemptyset(&action.sa_mask);
    return seconds == 0 || (sigaction(SIGXCPU, &action, NULL) == 0 &&
                            setrlimit(RLIMIT_CPU, &limit) == 0);
}

void tarn_interrupts_end(void)
{
    interrupted_session = NULL;
}

void tarn_interrupts_watch(struct tarn_session *session)
{
    lua_sethook(session->L, watch, LUA_MASKCOUNT, WATCH_PERIOD);
}
