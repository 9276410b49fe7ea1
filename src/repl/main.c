/* main.c: the program tarn: reads the command line, runs what it asks for, prompts.
 *
 * Exit status: 0 success, 1 an error (also of a script on standard input, and of writing
 * to stdout), 2 a wrong command line, 130 a script stopped by ^C. The Lua state is closed
 * on every way out but os.exit without its second argument. */
#include "repl/doctest.h"
#include "repl/options.h"
#include "repl/repl.h"
#include "repl/report.h"
#include "repl/run.h"
#include "repl/interrupt.h"
#include "repl/session.h"
#include "repl/terminal.h"
#include <locale.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdlib.h>
#include <unistd.h>

/* Runs everything the command line asks for; false after a reported error. With -i the
 * prompt comes after an error too: that is when one wants to look. */
static bool run_all(struct tarn_session *session)
{
    const struct tarn_invocation *inv = session->invocation;
    bool has_script = inv->script < inv->argc;
    bool idle = !has_script && inv->action_count == 0;
    bool prompt = inv->interactive || (idle && isatty(STDIN_FILENO));

    tarn_session_load(session);
    tarn_run_set_arguments(session);
    tarn_interrupts_watch(session);
    tarn_interrupts_catch(session, false);
    if (inv->doctest) return tarn_doctest(session);
    session->failed =
        !tarn_run_actions(session) || (has_script && !tarn_run_script(session));
    if (prompt && !session->out_of_time) return tarn_repl(session);
    if (session->failed) return false;
    return idle ? tarn_run_stdin(session) : true;
}

/* The first protected call: whatever is raised in here has somewhere to go. */
static int protected_main(lua_State *L)
{
    struct tarn_session *session = lua_touserdata(L, 1);
    lua_settop(L, 0);
    lua_pushboolean(L, run_all(session));
    return 1;
}

/* Opens a session, runs everything in it, closes it. Gives the exit status. */
static int run_session(const struct tarn_invocation *inv)
{
    struct tarn_session session;
    int exit_status = EXIT_FAILURE;
    if (tarn_session_open(&session, inv)) {
        session.color_errors = tarn_terminal_color(stderr, inv->color);
        lua_pushcfunction(session.L, protected_main);
        lua_pushlightuserdata(session.L, &session);
        if (lua_pcall(session.L, 1, 1, 0) != LUA_OK)
            tarn_show_error(session.L, session.color_errors);
        else if (lua_toboolean(session.L, -1))
            exit_status = EXIT_SUCCESS;
        else if (!session.prompting && !session.out_of_time &&
                 tarn_interrupted(session.ctx))
            exit_status = 130; /* 128 + SIGINT, as shells say it */
    }
    if (session.out_of_time) {
        tarn_complain("the time limit of %llu s is used up",
                      (unsigned long long)inv->time);
        exit_status = EXIT_FAILURE;
    }
    tarn_session_close(&session);
    return exit_status;
}

/* Keeps memory that results come and go in: getting a page back from the system costs more
 * than many a result. Larger blocks than these go back to it all the same. */
static void keep_memory(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 256 << 20);
#endif
}

int main(int argc, char **argv)
{
    keep_memory();

    /* Take the locale's characters, but C's numbers: 0.5 must stay 0.5. */
    setlocale(LC_CTYPE, "");
    atexit(tarn_close_stdout);

    struct tarn_invocation inv;
    int status = tarn_options_read(argc, argv, &inv);
    if (inv.doctest) tarn_doctest_prepare(&inv);
    if (status == 0 && inv.help)
        tarn_options_help();
    else if (status == 0 && inv.version)
        tarn_options_version();
    else if (status == 0)
        status = run_session(&inv);
    tarn_options_free(&inv);
    return status;
}
