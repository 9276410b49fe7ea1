/* session.h: the Lua state of the program, and what belongs to it. Internal.
 *
 * A session is opened once: a context, a Lua state with an allocator that counts, Lua's
 * libraries, the table `tarn`, tarn's own Lua (embedded in the program) and the user's
 * environment. Lua raises errors while this happens, so the second half of opening,
 * tarn_session_load, runs inside a protected call.
 * What ^C does to it stands in interrupt.h. */
#ifndef TARN_SESSION_H
#define TARN_SESSION_H

#include "repl/options.h"
#include "tarn.h"
#include <lua.h>
#include <signal.h>

struct tarn_session {
    const struct tarn_invocation *invocation;
    tarn_context *ctx;
    lua_State *L;
    const char *device; /* where tensors are made: --device, auto resolved */
    size_t calls;       /* allocations asked for by Lua so far */
    size_t fail_call;   /* from this one on they fail (--enable-paranoid); 0: never */
    char *write_below;  /* --restricted: the folder it was started in */
    bool color_errors;
    bool prompting;                    /* ^C returns to a prompt */
    volatile sig_atomic_t out_of_time; /* --time is used up */
    bool failed;                       /* something that ran ended in an error */
    char *line;                        /* what was read last at the prompt */
    const char *unfinished; /* the lines before it of the same input; NULL: none */
    char *history;          /* the file that keeps what was typed; NULL: none */
    const char *first; /* a module that is required before --restricted closes anything,
                               and is in the registry under its name; NULL: none */
};

/* Makes context and Lua state: false after a complaint. Either way, close it. */
bool tarn_session_open(struct tarn_session *session, const struct tarn_invocation *inv);
void tarn_session_close(struct tarn_session *session);

/* Fills the state with libraries, `tarn` and the user's environment. May raise. */
void tarn_session_load(struct tarn_session *session);

/* Pushes what lua/env.lua gives the program: "env", the user's environment, "public", the
 * table of tarn's global names, "show_results", "note_locals", "help", "complete". */
void tarn_session_push(lua_State *L, const char *name);

/* Makes the user's environment that of the chunk on top of the stack. */
void tarn_session_adopt(lua_State *L);

#endif
