/* interrupt.h: what ^C does. Internal.
 *
 * - It sets the context's interrupt flag, which stops C code of tarn at its next poll and
 *   Lua code at its next hook. The flag stays until the prompt is back: code that catches
 *   the error in a loop is stopped again at once.
 * - At a prompt a second press repeats the request. Some C code of Lua's own, such as
 *   string.find, looks at nothing: three presses within two seconds that are not answered
 *   ask whether to quit. No number of presses ends a session unasked.
 * - In a script the second press ends the program. */
#ifndef TARN_INTERRUPT_H
#define TARN_INTERRUPT_H

#include "repl/session.h"

/* Lets ^C ask for a stop, from now on. */
void tarn_interrupts_catch(struct tarn_session *session, bool prompting);

/* Stops for good what runs when so many seconds of processor time are used up; 0: never.
 * False (see errno) if that can't be arranged. */
bool tarn_interrupts_limit_time(uint64_t seconds);

/* From now on ^C finds nothing to stop. */
void tarn_interrupts_end(void);

/* Watches Lua code for the request to stop, from now on and in coroutines made later. */
void tarn_interrupts_watch(struct tarn_session *session);

#endif
