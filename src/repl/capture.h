/* capture.h: what is written to stdout and stderr, taken as one text. Internal.
 *
 * The file descriptors themselves lead into a pipe, so that what C code and child processes
 * write is taken too, in the order of writing. A thread empties the pipe. Beyond
 * TARN_CAPTURE_LIMIT bytes the pipe is closed, and the writer is asked to stop. */
#ifndef TARN_CAPTURE_H
#define TARN_CAPTURE_H

#include "tarn.h"
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

enum { TARN_CAPTURE_LIMIT = 1 << 20 };

struct tarn_capture {
    tarn_context *ctx; /* whose interrupt flag stops the writer */
    char *text;        /* length bytes; kept until the next begin, or free */
    size_t length, capacity;
    bool overflowed;
    int saved[2]; /* where stdout and stderr led before */
    int pipe[2], end[2];
    void (*on_broken_pipe)(int); /* what SIGPIPE did before */
    pthread_t reader;
};

/* Begins to take what is written; false (errno says why) leaves everything as it was. */
bool tarn_capture_begin(struct tarn_capture *capture, tarn_context *ctx);

/* Ends it, with everything written so far in the text. */
void tarn_capture_end(struct tarn_capture *capture);

void tarn_capture_free(struct tarn_capture *capture);

#endif
