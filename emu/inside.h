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
    const void *code; /* who asked for it */
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
    unsigned mask;
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
    size_t bytes;
};

/* The module, program or shared library, that a kernel is in: see where.c. */
struct tarn_emu_module {
    const char *low, *high; /* its code and data */
    char *tls;              /* its thread-local memory on this thread */
    size_t tls_bytes;
    bool ours; /* the runtime's own module: not all of that is a kernel's */
};

/* A thread's stack: what its local variables may take, and room for what the device itself does
 * on it, such as writing a message. */
enum {
    TARN_EMU_LOCAL = 64 << 10,
    TARN_EMU_RESERVE = 16 << 10,
    TARN_EMU_STACK = TARN_EMU_LOCAL + TARN_EMU_RESERVE,
    TARN_EMU_STATICS = 32,
    TARN_EMU_PAGE = 4096
};

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
    size_t block;     /* its position in the grid */
    bool taking_part; /* in the job under way: launch.c's, under its lock */
    bool in_runtime;  /* not in the kernel's own code: no place for a jump away */
    /* Where the kernel asked for the copy or atomic under way, or NULL. */
    const void *volatile for_code;
    struct tarn_emu_module module;
    char arguments[TARN_EMU_ARGUMENTS] __attribute__((aligned(64)));
    char signal_stack[TARN_EMU_STACK] __attribute__((aligned(64)));
    char landing[TARN_EMU_STACK] __attribute__((aligned(64))); /* after a fault */
};

/* One launch under way. */
struct tarn_emu_job {
    const struct tarn_emu_grid *launch;
    tarn_context *ctx;
    size_t blocks;        /* that are to run, */
    unsigned row;         /* so many in each row of the grid */
    size_t start, stride; /* of the random order */
    atomic_size_t next;
    atomic_bool failed; /* whoever sets it first writes the message */
    atomic_bool stopped;
    char message[2000];
    uint64_t number; /* launches so far */
};

/* The worker of this thread; NULL outside of launches. */
extern __thread struct tarn_emu_worker *tarn_emu_worker
    __attribute__((tls_model("initial-exec")));

/* fiber.c */
bool tarn_fibers_new(struct tarn_emu_worker *w);
void tarn_fibers_free(struct tarn_emu_worker *w);
void tarn_fiber_begin(void);
void tarn_fiber_prepare(struct tarn_fiber *f, void (*entry)(void));
void tarn_fiber_switch(struct tarn_fiber *from, struct tarn_fiber *to);

/* block.c */
void tarn_emu_run_block(struct tarn_emu_worker *w, size_t position);
/* Leaves the block for good, from whatever fiber runs. */
void tarn_emu_abandon(struct tarn_emu_worker *w) __attribute__((noreturn));

/* async.c */
void tarn_async_forget(struct tarn_fiber *f);

/* Shared memory of a fixed size that a block may have, on every GPU so far. */
enum { TARN_EMU_FIXED_SHARED = 48 << 10 };
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
/* A sentence by itself, and the lines of `count` places in the machine code at once: what
 * the call that returns to each of them stands at; line 0 if nobody knows. */
struct tarn_emu_sentence {
    char text[600];
};
struct tarn_emu_sentence tarn_emu_say(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
struct tarn_emu_line {
    char file[100];
    int line;
    char from_file[100]; /* the .cu file that a header's line was inlined into */
    int from_line;
};
const char *tarn_emu_short_file(const char *file);
void tarn_emu_lines(const void *const *code, size_t count, struct tarn_emu_line *lines);

/* heap.c */
struct tarn_emu_allocation {
    char *memory;
    size_t bytes;
    struct tarn_record *records; /* check.c's, or NULL */
    bool trusted; /* its bytes may have been written while nobody looked */
};
/* The allocation that an address lies in, or NULL. */
struct tarn_emu_allocation *tarn_emu_find(const void *address);
bool tarn_emu_in_heap(const void *address);
void tarn_emu_unlock(bool open);
void tarn_emu_trust_all(void);

/* where.c: what memory an address of a kernel lies in. */
enum tarn_emu_kind {
    TARN_LOCAL,
    TARN_STACKS, /* of other threads */
    TARN_SHARED,
    TARN_THREAD_LOCAL, /* static __shared__ */
    TARN_GLOBAL,
    TARN_GIVEN, /* arguments, threadIdx and its like */
    TARN_PROGRAM,
    TARN_HOST,
};
struct tarn_emu_where {
    enum tarn_emu_kind kind;
    const char
        *start; /* of the array that begins last at or below the address, or NULL */
    size_t bytes;
    struct tarn_emu_allocation *allocation; /* on the heap */
};
struct tarn_emu_where tarn_emu_locate(const struct tarn_emu_worker *w,
                                      const void *address);
bool tarn_emu_inside(const struct tarn_emu_where *where, const void *address,
                     size_t bytes);
struct tarn_emu_sentence tarn_emu_wrong_address(const struct tarn_emu_worker *w,
                                                const void *address);
struct tarn_emu_module tarn_emu_find_module(void (*body)(void *));
/* How many bytes of its thread-local memory are static __shared__ for sure. */
size_t tarn_emu_tls_shared(const struct tarn_emu_module *m);
/* A variable with __device__ in front, of a kernel from a module of its own. */
bool tarn_emu_is_variable_of_device(const struct tarn_emu_worker *w,
                                    const void *address);
/* Is this just below the stack of the running thread, which is then full? */
bool tarn_emu_stack_is_full(const struct tarn_emu_worker *w, const void *address);

/* hooks.c: who is told of accesses, for the launch under way. */
enum { TARN_WATCH_CHECK = 1, TARN_WATCH_PROFILE = 2 };
extern unsigned tarn_emu_watch;
enum tarn_access {
    TARN_READS,
    TARN_WRITES,
    TARN_CHANGES, /* reads and writes, not atomically */
    TARN_LOOKS,   /* reads, atomically */
    TARN_ATOMIC_STORE,
    TARN_ATOMIC, /* reads and writes */
};

/* check.c */
void tarn_check_access(struct tarn_emu_worker *w, void *address, size_t bytes,
                       enum tarn_access access, const void *code);
void tarn_check_block(struct tarn_emu_worker *w);
void tarn_check_syncwarp(struct tarn_emu_worker *w, unsigned warp, unsigned mask);
/* cp.async: begun, and arrived. */
void tarn_check_copy(struct tarn_emu_worker *w, const struct tarn_emu_pending *p);
void tarn_check_arrival(struct tarn_emu_worker *w, const struct tarn_emu_pending *p);
/* Memory that the host has written. */
void tarn_check_copied(void *to, size_t bytes);
/* An allocation is no more. */
void tarn_check_forget(struct tarn_emu_allocation *a);

/* profile.c */
void tarn_profile_access(struct tarn_emu_worker *w, void *address, size_t bytes,
                         enum tarn_access access, const void *code);
void tarn_profile_block(struct tarn_emu_worker *w); /* has ended */

/* fault.c */
void tarn_faults_catch(void);
void tarn_faults_release(void);

#endif
