/* doctest.h: tarn --doctest FILE...: transcripts in Markdown, run again. Internal. */
#ifndef TARN_DOCTEST_H
#define TARN_DOCTEST_H

#include "repl/session.h"

/* Changes what the command line asks for into what a transcript is made under: no startup
 * file, no history, no colours, UTF-8, a window of 80 columns, nothing to read. */
void tarn_doctest_prepare(struct tarn_invocation *inv);

/* Runs the files of the command line; false after a failure or a reported error. Stands in
 * a loaded session, in which nothing of the files is run: each has its own. May raise. */
bool tarn_doctest(struct tarn_session *session);

#endif
