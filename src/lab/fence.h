/* fence.h: what a child process may do, decided before it begins. Internal.
 *
 * A learner's program gets limits of the system, a filter of system calls (no other processes,
 * no signals to others, no network, no memory that nobody counts), and, where no namespaces hide the rest of the machine
 * (bwrap), rules of Landlock for the files it may read and write.
 *
 * Everything here is called between fork and exec: it allocates nothing, locks nothing, and
 * gives 0 or an errno. */
#ifndef TARN_LAB_FENCE_H
#define TARN_LAB_FENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tarn_fence {
    uint64_t cpu_seconds; /* of processor time; 0: no limit, here and below */
    uint64_t space;      /* bytes of address space: not for programs with a sanitizer */
    uint64_t file_bytes; /* of the largest file it writes */
    bool running;        /* a learner's program, not a compiler */
    bool alone;          /* starts no other process */
    bool threads;        /* but threads are fine; of interest if alone */
    char *const
        *readable; /* NULL-terminated: nothing else can be read; NULL: no rules */
    char *const *writable;
};

/* Sets the limits that the system itself keeps. */
int tarn_fence_limit(const struct tarn_fence *fence);

/* Takes from a child of root what root may do beyond its own files. */
void tarn_fence_privileges(void);

/* Lets the kernel refuse all files but those named. A kernel without Landlock refuses none. */
int tarn_fence_files(const struct tarn_fence *fence);

/* Whether this kernel has Landlock. */
bool tarn_fence_has_files(void);

/* Puts the filter in force. */
int tarn_fence_filter(const struct tarn_fence *fence);

/* Writes the filter into a file in memory, from where bwrap takes it: the descriptor, or -1. */
int tarn_fence_filter_file(const struct tarn_fence *fence);

#endif
