/* process.h: a child process that is watched while it runs. Internal.
 *
 * - It runs in a session and process group of its own, with nothing open but the four
 *   descriptors below, and dies with this program.
 * - What it writes is read up to a limit; more ends it. So do the clock, and memory in use.
 * - At the end the whole group is killed, whatever of it is left.
 * Nothing waits here: tarn_process_look does what can be done now. */
#ifndef TARN_LAB_PROCESS_H
#define TARN_LAB_PROCESS_H

#include "lab/fence.h"
#include <sys/types.h>

/* What it writes: standard output, standard error, and what its harness says on descriptor 3;
 * bwrap finds the filter on descriptor 4. */
enum tarn_stream { TARN_STREAM_OUT, TARN_STREAM_ERR, TARN_STREAM_SAID, TARN_STREAMS };

struct tarn_order {
    char *const *argv;        /* NULL-terminated; argv[0] is looked for on PATH */
    char *const *environment; /* the whole of it */
    const char *folder;       /* where it runs */
    const char
        *answer; /* given on its standard input when it has said something; or NULL */
    double wall_seconds; /* the clock: for those that sleep */
    uint64_t memory;     /* bytes in use by it and its descendants together */
    uint64_t output;     /* bytes of each stream */
    uint64_t disk;       /* bytes of the files in the next; 0: not looked at */
    const char *written; /* the folder that it may write to */
    bool bwrap;          /* argv is bwrap, which takes the filter */
    struct tarn_fence fence;
};

enum tarn_ending {
    TARN_RUNNING,
    TARN_EXITED,    /* code */
    TARN_SIGNALLED, /* code is the signal */
    TARN_OUT_OF_TIME,
    TARN_OUT_OF_MEMORY,
    TARN_TOO_MUCH_OUTPUT,
    TARN_TOO_MANY, /* processes */
    TARN_STOPPED   /* by us */
};

struct tarn_process {
    pid_t pid;
    enum tarn_ending ending;
    int code;
    double seconds; /* of processor time */
    int input;
    int streams[TARN_STREAMS]; /* to read from; -1: closed */
    struct {
        char *bytes;
        size_t size, room;
    } text[TARN_STREAMS];
    char *answer, *written;
    double started, deadline, looked, cpu_seconds;
    uint64_t memory, output, disk;
    bool bwrap;
};

/* Starts it; all zero before. 0, or an errno, also that of the exec. */
int tarn_process_start(struct tarn_process *p, const struct tarn_order *order);

/* Reads, answers, checks limits; after the end `ending` says how it was. */
void tarn_process_look(struct tarn_process *p);

/* Ends it and everything in its group. */
void tarn_process_stop(struct tarn_process *p, enum tarn_ending why);

void tarn_process_free(struct tarn_process *p);

#endif
