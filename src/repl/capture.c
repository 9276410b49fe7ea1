/* capture.c: what is written to stdout and stderr, taken as one text. See capture.h. */
#include "repl/capture.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- The thread that reads ---- */

/* Keeps what was read; false if it does not fit. */
static bool keep(struct tarn_capture *capture, const char *bytes, size_t count)
{
    size_t wanted = capture->length + count;
    if (wanted > TARN_CAPTURE_LIMIT) return false;
    if (wanted > capture->capacity) {
        char *text = realloc(capture->text, 2 * wanted);
        if (!text) return false;
        capture->text = text;
        capture->capacity = 2 * wanted;
    }
    memcpy(capture->text + capture->length, bytes, count);
    capture->length += count;
    return true;
}

/* Stops the writer: Lua and C code of tarn by the flag, other programs by a pipe that
 * leads nowhere. */
static void overflow(struct tarn_capture *capture)
{
    capture->overflowed = true;
    tarn_interrupt(capture->ctx);
    close(capture->pipe[0]);
    capture->pipe[0] = -1;
}

/* Empties the pipe until the end is announced and nothing is left. A child process may
 * hold the pipe open for ever, so its end of file is not what we wait for. */
static void *collect(void *data)
{
    struct tarn_capture *capture = data;
    struct pollfd inputs[2] = {{.fd = capture->pipe[0], .events = POLLIN},
                               {.fd = capture->end[0], .events = POLLIN}};
    char bytes[1 << 16];
    for (;;) {
        if (poll(inputs, 2, -1) < 0) continue;
        if (!(inputs[0].revents & POLLIN)) return NULL;
        ssize_t got = read(capture->pipe[0], bytes, sizeof bytes);
        if (got > 0 && !keep(capture, bytes, (size_t)got)) {
            overflow(capture);
            return NULL;
        }
    }
}

/* Starts the thread, which leaves signals to the others. */
static bool start_reader(struct tarn_capture *capture)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    int status = pthread_create(&capture->reader, NULL, collect, capture);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = status;
    return status == 0;
}

/* ---- The file descriptors ---- */

static void close_pair(int pair[2])
{
    for (int i = 0; i < 2; i++)
        if (pair[i] >= 0) close(pair[i]);
}

static bool open_all(struct tarn_capture *capture)
{
    capture->saved[0] = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    capture->saved[1] = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    return capture->saved[0] >= 0 && capture->saved[1] >= 0 &&
           pipe2(capture->pipe, O_CLOEXEC) == 0 && pipe2(capture->end, O_CLOEXEC) == 0;
}

static void redirect(int out, int err)
{
    fflush(stdout);
    fflush(stderr);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    clearerr(stdout); /* that a full pipe was closed is no fault of what comes later */
}

bool tarn_capture_begin(struct tarn_capture *capture, tarn_context *ctx)
{
    static const int none[2] = {-1, -1};
    capture->ctx = ctx;
    capture->length = 0;
    capture->overflowed = false;
    memcpy(capture->saved, none, sizeof none);
    memcpy(capture->pipe, none, sizeof none);
    memcpy(capture->end, none, sizeof none);
    if (open_all(capture) && start_reader(capture)) {
        redirect(capture->pipe[1], capture->pipe[1]);
        capture->on_broken_pipe = signal(SIGPIPE, SIG_IGN);
        return true;
    }
    int reason = errno;
    close_pair(capture->saved);
    close_pair(capture->pipe);
    close_pair(capture->end);
    errno = reason;
    return false;
}

void tarn_capture_end(struct tarn_capture *capture)
{
    redirect(capture->saved[0], capture->saved[1]);
    signal(SIGPIPE, capture->on_broken_pipe);
    close(capture->end[1]); /* the reader sees the end of file */
    capture->end[1] = -1;
    pthread_join(capture->reader, NULL);
    close_pair(capture->saved);
    close_pair(capture->pipe);
    close_pair(capture->end);
}

void tarn_capture_free(struct tarn_capture *capture)
{
    free(capture->text);
}
