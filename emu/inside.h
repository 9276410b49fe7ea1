/* inside.h: what the files of emu/ share: fibers, workers, launches. Internal. */
#ifndef TARN_EMU_INSIDE_H
#define TARN_EMU_INSIDE_H

#include "emu/emu.h"
#include <stdatomic.h>

enum tarn_fiber_state { TARN_READY, TARN_AT_BARRIER, TARN_AT_WARP, TARN_EXITED };

/* A copy of cp.async that has not arrived yet. */
struct tarn_emu_pending {
    void *to;
    const void *from;
    size_t bytes;
    unsigned group;
};

/* One CUDA thread. */
struct tarn_fiber {
    void *sp; /* its saved stack pointer while another runs */
    char *stack;
    void *fake_stack; /* AddressSanitizer's */
    struct tarn_emu_dim thread;
    unsigned index;    /* in its block */
    unsigned position; /* in the order */
    enum tarn_fiber_state state;
    const char *file; /* where it waits, or waited last */
    int line;
    /* together with the other lanes of its warp */
    unsigned mask, warp_epoch;
    tarn_emu_together_fn *all;
    void *brought;
    /* cp.async */
    struct tarn_emu_pending *pending;
    unsigned pending_count, pending_room, groups;
};

struct tarn_warp {
    unsigned waiting, exited; /* lanes */
    unsigned epoch;           /* how many __syncwarp have been */
};

struct tarn_static_shared {
    const void *key;
    void *memory;
};

enum { TARN_EMU_STACK = 64 << 10, TARN_EMU_STATICS = 32, TARN_EMU_PAGE = 4096 };

/* A thread of the operating system that runs one block after the other. */
struct tarn_emu_worker {
    struct tarn_fiber main;   /* the worker itself, while a block runs */
    struct tarn_fiber *fiber; /* [TARN_EMU_THREADS] */
    struct tarn_fiber *running;
    struct tarn_warp warp[TARN_EMU_THREADS / TARN_EMU_WARP];
    unsigned order[TARN_EMU_THREADS];
    unsigned threads, alive, at_barrier;
    unsigned generation; /* barriers passed in this block */
    const char *barrier_file;
    int barrier_line;
    uint64_t random;
    char *stacks; /* all of them, a guard page below each */
    char *arena;  /* shared memory grows down from its end, where a guard page lies */
    char *shared; /* the dynamic part of this block */
    char *arena_low; /* the lowest byte in use */
    struct tarn_static_shared statics[TARN_EMU_STATICS];
    unsigned static_count;
    struct tarn_emu_job *job;
    uint64_t serial; /* the block's number among all that this worker ran; never 0 */
    size_t block;    /* its position in the grid */
    bool in_runtime; /* not in the kernel's own code: no place for a jump away */
    char arguments[TARN_EMU_ARGUMENTS] __attribute__((aligned(64)));
    char signal_stack[TARN_EMU_STACK] __attribute__((aligned(64)));
    char landing[TARN_EMU_STACK] __attribute__((aligned(64))); /* after a fault */
};

/* One launch under way. */
struct tarn_emu_job {
    const struct tarn_emu_grid *launch;
    tarn_context *ctx;
    size_t blocks;
    atomic_size_t next;
    atomic_bool failed; /* whoever sets it first writes the message */
    atomic_bool stopped;
    char message[1000];
    uint64_t number; /* launches so far */
};

/* The worker of this thread; NULL outside of launches. */
extern __thread struct tarn_emu_worker *tarn_emu_worker
    __attribute__((tls_model("initial-exec")));

/* fiber.c */
bool tarn_fibers_new(struct tarn_emu_worker *w);
void tarn_fibers_free(struct tarn_emu_worker *w);
void tarn_fiber_prepare(struct tarn_fiber *f, void (*entry)(void));
void tarn_fiber_switch(struct tarn_fiber *from, struct tarn_fiber *to);

/* block.c */
void tarn_emu_run_block(struct tarn_emu_worker *w, size_t position);
/* Leaves the block for good, from whatever fiber runs. */
void tarn_emu_abandon(struct tarn_emu_worker *w) __attribute__((noreturn));

/* launch.c: shared memory that a block may have on the GPU of the settings. */
size_t tarn_emu_shared_limit(void);

/* blame.c: the first error of a launch; what follows does not return. The sentence comes
 * after "kernel k, block (0, 0, 0), thread (63, 0, 0), file:line: ". */
void tarn_emu_blame(struct tarn_emu_worker *w, const char *file, int line,
                    const char *format, ...)
    __attribute__((noreturn, format(printf, 4, 5)));
/* The same for a place in the machine code, whose line is looked up; `fiber` ran. */
void tarn_emu_blame_code(struct tarn_emu_worker *w, const void *code,
                         const char *format, ...)
    __attribute__((noreturn, format(printf, 3, 4)));

/* heap.c */
struct tarn_emu_allocation {
    char *memory;
    size_t bytes;
};
/* The allocation that an address lies in, or NULL. */
const struct tarn_emu_allocation *tarn_emu_find(const void *address);
bool tarn_emu_in_heap(const void *address);
void tarn_emu_unlock(bool open);

/* fault.c */
void tarn_faults_catch(void);
void tarn_faults_release(void);

#endif
