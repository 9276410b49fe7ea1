/* process.c: starting, watching and ending a child process. See process.h. */
#include "lab/process.h"
#include "lab/usage.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- Starting ---------------------------------------------------------------------------- */

enum { CHILD_SAID = 3, CHILD_FILTER = 4, CHILD_LAST = 4 };

/* The streams of a start, each {read here or there, write there or here}. */
struct channels {
    int input[2], streams[TARN_STREAMS][2], failure[2];
};

static void close_pair(int pair[2])
{
    for (int i = 0; i < 2; i++)
        if (pair[i] >= 0) close(pair[i]);
}

static void close_channels(struct channels *all)
{
    close_pair(all->input);
    close_pair(all->failure);
    for (int i = 0; i < TARN_STREAMS; i++) close_pair(all->streams[i]);
}

/* A stream whose ends lie above those that the child has, so that moving them harms none.
 * A socket, for a pipe can be opened once more by its name in /proc/self/fd: who reads there
 * from a pipe that is its own, as a compiler does that is told to include it, waits for ever. */
static bool open_pair(int pair[2])
{
    int low[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, low) != 0) return false;
    shutdown(low[1], SHUT_RD);
    for (int i = 0; i < 2; i++) {
        pair[i] = fcntl(low[i], F_DUPFD_CLOEXEC, CHILD_LAST + 1);
        close(low[i]);
    }
    return pair[0] >= 0 && pair[1] >= 0;
}

static bool open_channels(struct channels *all)
{
    memset(all, -1, sizeof *all);
    bool opened = open_pair(all->input) && open_pair(all->failure);
    for (int i = 0; i < TARN_STREAMS; i++)
        opened = opened && open_pair(all->streams[i]);
    return opened;
}

/* Whatever this program or who started it has open ends with the exec. */
static void close_others(unsigned first)
{
    enum { CLOEXEC = 1 << 2, MOST = 4096 }; /* CLOSE_RANGE_CLOEXEC */
#ifdef SYS_close_range
    if (syscall(SYS_close_range, first, ~0u, CLOEXEC) == 0) return;
#endif
    for (int file = (int)first; file < MOST; file++) fcntl(file, F_SETFD, FD_CLOEXEC);
}

/* Everything between fork and exec: what is called is safe there. Gives an errno. */
static int become(const struct tarn_order *order, const struct channels *all)
{
    const struct tarn_fence *fence = &order->fence;
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* whose parents have gone are still counted */
    dup2(all->input[0], STDIN_FILENO);
    dup2(all->streams[TARN_STREAM_OUT][1], STDOUT_FILENO);
    dup2(all->streams[TARN_STREAM_ERR][1], STDERR_FILENO);
    dup2(all->streams[TARN_STREAM_SAID][1], CHILD_SAID);
    close_others(CHILD_SAID + 1);
    if (chdir(order->folder) != 0) return errno;
    if (!order->bwrap) tarn_fence_privileges();
    int problem = tarn_fence_limit(fence);
    if (!problem && order->bwrap) {
        const int filter = tarn_fence_filter_file(fence);
        if (filter < 0) return errno;
        if (filter != CHILD_FILTER && dup2(filter, CHILD_FILTER) < 0) return errno;
        fcntl(CHILD_FILTER, F_SETFD, 0); /* for bwrap, which closes it */
    }
    if (!problem && !order->bwrap) problem = tarn_fence_files(fence);
    if (!problem && !order->bwrap) problem = tarn_fence_filter(fence);
    if (problem) return problem;
    execvpe(order->argv[0], order->argv, order->environment);
    return errno;
}

static void run_child(const struct tarn_order *order, const struct channels *all)
{
    const int problem = become(order, all);
    const ssize_t told = write(all->failure[1], &problem, sizeof problem);
    _exit(told == sizeof problem ? 127 : 126);
}

/* Waits for the exec: 0, or what it failed with. */
static int exec_problem(int failure)
{
    int problem = 0;
    ssize_t n;
    do n = read(failure, &problem, sizeof problem);
    while (n < 0 && errno == EINTR);
    return n == sizeof problem ? problem : 0;
}

/* Keeps our ends, which never block, and closes the child's. */
static void keep_ends(struct tarn_process *p, struct channels *all)
{
    close(all->input[0]);
    p->input = all->input[1];
    for (int i = 0; i < TARN_STREAMS; i++) {
        close(all->streams[i][1]);
        p->streams[i] = all->streams[i][0];
        fcntl(p->streams[i], F_SETFL, O_NONBLOCK);
    }
    close(all->failure[0]);
}

int tarn_process_start(struct tarn_process *p, const struct tarn_order *order)
{
    struct channels all;
    if (!open_channels(&all)) {
        const int problem = errno;
        close_channels(&all);
        return problem;
    }
    p->pid = fork();
    if (p->pid == 0) run_child(order, &all);
    if (p->pid < 0) {
        const int problem = errno;
        close_channels(&all);
        return problem;
    }
    close(all.failure[1]);
    const int problem = exec_problem(all.failure[0]);
    keep_ends(p, &all);
    p->started = now();
    p->deadline = p->started + order->wall_seconds;
    p->memory = order->memory;
    p->bwrap = order->bwrap;
    p->disk = order->disk;
    p->written = strdup(order->written);
    p->cpu_seconds = (double)order->fence.cpu_seconds;
    p->output = order->output;
    p->answer = order->answer ? strdup(order->answer) : NULL;
    if (!order->answer) {
        close(p->input);
        p->input = -1;
    }
    if (problem) tarn_process_stop(p, TARN_STOPPED);
    return problem;
}

/* ---- What it writes ------------------------------------------------------------------------ */

static bool keep(struct tarn_process *p, int stream, const char *bytes, size_t count)
{
    size_t need = p->text[stream].size + count;
    if (need > p->text[stream].room) {
        size_t room = need < 4096 ? 4096 : 2 * need;
        char *moved = realloc(p->text[stream].bytes, room);
        if (!moved) return false;
        p->text[stream].bytes = moved;
        p->text[stream].room = room;
    }
    memcpy(p->text[stream].bytes + p->text[stream].size, bytes, count);
    p->text[stream].size = need;
    return true;
}

/* Reads what is there; false if it is too much. */
static bool drain(struct tarn_process *p, int stream)
{
    char bytes[65536];
    while (p->streams[stream] >= 0) {
        const ssize_t n = read(p->streams[stream], bytes, sizeof bytes);
        if (n < 0) return true;
        if (n == 0) {
            close(p->streams[stream]);
            p->streams[stream] = -1;
            return true;
        }
        const size_t left = p->output - p->text[stream].size;
        const size_t taken = (size_t)n < left ? (size_t)n : left;
        if (!keep(p, stream, bytes, taken) || taken < (size_t)n) return false;
    }
    return true;
}

static bool drain_all(struct tarn_process *p)
{
    bool fits = true;
    for (int i = 0; i < TARN_STREAMS; i++) fits = drain(p, i) && fits;
    return fits;
}

/* The harness has said that it is loaded: now it gets the word to end with. */
static void give_answer(struct tarn_process *p)
{
    if (p->input < 0 || p->text[TARN_STREAM_SAID].size == 0) return;
    /* It may be gone, which is no reason to end ourselves. */
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct sigaction before;
    sigaction(SIGPIPE, &ignore, &before);
    const ssize_t written = write(p->input, p->answer, strlen(p->answer));
    (void)written;
    sigaction(SIGPIPE, &before, NULL);
    close(p->input);
    p->input = -1;
}

/* ---- What it uses ------------------------------------------------------------------------- */

/* A compiler has half a dozen; one that multiplies has more before it is seen. */
enum { MOST_PROCESSES = 50 };

static enum tarn_ending takes_too_much(struct tarn_process *p, double time)
{
    const double pause = 0.02;
    if (time - p->looked < pause) return TARN_RUNNING;
    p->looked = time;
    const struct tarn_usage usage = tarn_usage_of(p->pid);
    if (usage.processes > MOST_PROCESSES) return TARN_TOO_MANY;
    if (p->memory && usage.memory > p->memory) return TARN_OUT_OF_MEMORY;
    if (p->disk && usage.written > p->disk) return TARN_TOO_MUCH_OUTPUT;
    return p->disk && tarn_usage_of_folder(p->written) > p->disk ? TARN_TOO_MUCH_OUTPUT
                                                                 : TARN_RUNNING;
}

/* ---- The end --------------------------------------------------------------------------- */

/* bwrap ends as shells do when what it ran was killed, and tells nothing of its time. Who
 * ignores the signal that the processor time is used up gets another one a second later. */
static void note_end(struct tarn_process *p, int status)
{
    enum { SIGNALS_FROM = 128 };
    if (p->ending != TARN_RUNNING) return;
    p->code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    p->ending = WIFSIGNALED(status) ? TARN_SIGNALLED : TARN_EXITED;
    if (p->bwrap && p->ending == TARN_EXITED && p->code > SIGNALS_FROM) {
        p->ending = TARN_SIGNALLED;
        p->code -= SIGNALS_FROM;
    }
    if (p->ending != TARN_SIGNALLED) return;
    const bool used_up = p->cpu_seconds > 0 && now() - p->started >= p->cpu_seconds;
    if (p->code == SIGXCPU || (p->code == SIGKILL && used_up))
        p->ending = TARN_OUT_OF_TIME;
}

/* Takes the process off the system's list if it has ended, or waits for that. Until then its
 * number, which is that of its group, is nobody else's. */
static bool reap(struct tarn_process *p, int flags)
{
    int status = 0;
    struct rusage used = {0};
    siginfo_t ended = {0};
    while (waitid(P_PID, (id_t)p->pid, &ended, WEXITED | WNOWAIT | flags) != 0)
        if (errno != EINTR) return false;
    if (ended.si_pid != p->pid) return false;
    kill(-p->pid, SIGKILL);
    wait4(p->pid, &status, 0, &used);
    p->seconds = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                 1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
    note_end(p, status);
    if (!drain_all(p) && p->ending <= TARN_SIGNALLED) p->ending = TARN_TOO_MUCH_OUTPUT;
    return true;
}

static void close_all(struct tarn_process *p)
{
    if (p->input >= 0) close(p->input);
    p->input = -1;
    for (int i = 0; i < TARN_STREAMS; i++) {
        if (p->streams[i] >= 0) close(p->streams[i]);
        p->streams[i] = -1;
    }
}

void tarn_process_stop(struct tarn_process *p, enum tarn_ending why)
{
    if (p->pid <= 0 || p->ending != TARN_RUNNING) return;
    kill(-p->pid, SIGKILL);
    kill(p->pid, SIGKILL);
    p->ending = why;
    reap(p, 0);
    close_all(p);
}

void tarn_process_look(struct tarn_process *p)
{
    if (p->ending != TARN_RUNNING) return;
    const double time = now();
    const bool fits = drain_all(p);
    give_answer(p);
    const enum tarn_ending too_much =
        fits ? takes_too_much(p, time) : TARN_TOO_MUCH_OUTPUT;
    if (too_much != TARN_RUNNING)
        tarn_process_stop(p, too_much);
    else if (time > p->deadline)
        tarn_process_stop(p, TARN_OUT_OF_TIME);
    else if (reap(p, WNOHANG))
        close_all(p);
}

void tarn_process_free(struct tarn_process *p)
{
    tarn_process_stop(p, TARN_STOPPED);
    for (int i = 0; i < TARN_STREAMS; i++) {
        free(p->text[i].bytes);
        p->text[i].bytes = NULL;
        p->text[i].size = p->text[i].room = 0;
    }
    free(p->answer);
    free(p->written);
    p->answer = p->written = NULL;
}
