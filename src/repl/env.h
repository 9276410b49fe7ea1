/* env.h: what tarn's own Lua needs from C to give the user an environment. Internal. */
#ifndef TARN_ENV_H
#define TARN_ENV_H

#include "repl/session.h"

/* Makes the module "tarn.host": facts about program and terminal, notes, suggestions, and
 * those functions of Lua's that have to know the user's environment. May raise. */
void tarn_env_open(struct tarn_session *session);

#endif
