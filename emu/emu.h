/* emu.h: an emulated CUDA device, seen from the kernels and from those who launch them.
 * Internal; chapter 11.
 *
 * The .cu files of cuda/ are compiled for the host with words.h, which gives CUDA's words a
 * meaning in terms of the functions below. A CUDA thread is a fiber with a stack of its own; a
 * block runs on one thread of the operating system, each of its fibers until it waits:
 *
 *     fiber.c    stacks, and the switch from one to another
 *     block.c    one block: __syncthreads, what the lanes of a warp do together, exits
 *     async.c    cp.async, copies that arrive late
 *     launch.c   limits of the emulated GPU, blocks spread over workers
 *     heap.c     device memory, a guard page behind every allocation
 *     fault.c    a wild address becomes a message, and the session goes on
 *     blame.c    messages: kernel, block, thread, file and line
 *     where.c    what memory an address lies in
 *     hooks.c    what instrumented kernels call at every access, for
 *     check.c    races, bounds, memory that was never written
 *     profile.c  bank conflicts, sectors
 *     device.c   all of it as a device of tarn's
 *
 * It runs what the source says. It does not show the timing of a GPU, its weak memory order,
 * nor the last bits of its approximations. */
#ifndef TARN_EMU_H
#define TARN_EMU_H

#include "tarn.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    TARN_EMU_WARP = 32,
    TARN_EMU_THREADS = 1024,      /* in a block, on every GPU so far */
    TARN_EMU_ARENA = 256 << 10,   /* room for the shared memory of a block */
    TARN_EMU_ARGUMENTS = 4 << 10, /* room for the arguments of a kernel */
};

/* A program that loads kernels at run time exports these names to them (-export-dynamic);
 * libtarn.so, which does not, keeps them to itself. */
#pragma GCC visibility push(default)

/* ---- Seen from a kernel ------------------------------------------------------------ */

struct tarn_emu_dim {
    unsigned x, y, z;
};

/* Where the running fiber is. */
struct tarn_emu_here {
    struct tarn_emu_dim thread, block, block_dim, grid_dim;
    void *shared; /* the dynamic shared memory of its block */
};
extern __thread struct tarn_emu_here tarn_emu_here
    __attribute__((tls_model("initial-exec")));

/* __syncthreads: every fiber of the block comes to the same line before any goes on. */
void tarn_emu_barrier(const char *file, int line);

/* What the lanes of a warp do together: the last of the lanes named in `mask` to come runs
 * `all` over what each of them brought (NULL for lanes that are not in the mask), then all go
 * on. `all` says NULL, or what the lanes did wrong. With all = NULL it is __syncwarp, and
 * alone orders memory. */
typedef const char *tarn_emu_together_fn(void **lanes);
void tarn_emu_together(void *mine, tarn_emu_together_fn *all, unsigned mask,
                       const char *file, int line);

/* Ends the launch: an assert that fails, __trap. */
void tarn_emu_stop(const char *why, const char *file, int line)
    __attribute__((noreturn));

/* An address that one instruction of a GPU can't move so many bytes from or to: ends the
 * launch, at the line that calls this. */
void tarn_emu_misaligned(const void *address, size_t bytes) __attribute__((noreturn));

/* Shared memory of a fixed size: the same place for every fiber of a block that names the
 * same key. */
void *tarn_emu_shared(const void *key, size_t bytes, const char *file, int line);

/* cp.async: the bytes arrive when the fiber waits, not before; till then they are NaN. */
void tarn_emu_copy_async(void *to, const void *from, size_t bytes);
void tarn_emu_copy_commit(void);
void tarn_emu_copy_wait(unsigned groups_left);

/* An atomic of one word of 4 or 8 bytes: change(word, data) is done to a copy, which then takes
 * the place of what was there if nobody else was faster; else it is done once more. */
void tarn_emu_atomic(void *where, size_t bytes, void (*change)(void *word, void *data),
                     void *data);

/* ---- Seen from who launches ----------------------------------------------------------- */

/* One launch: `body` runs the kernel once, with the arguments that lie at its pointer. */
struct tarn_emu_grid {
    const char *kernel;
    struct tarn_emu_dim grid, block;
    size_t shared; /* bytes of dynamic shared memory */
    void (*body)(void *arguments);
    const void *arguments;
    size_t argument_bytes;
};

/* Runs a grid to its end. An error in the kernel is TARN_EDEVICE with a message that names
 * kernel, block, thread, file, line and what is wrong; memory then holds what was written. */
tarn_status tarn_emu_launch(tarn_context *ctx, const struct tarn_emu_grid *launch);
#pragma GCC visibility pop

enum tarn_emu_order { TARN_EMU_FORWARD, TARN_EMU_REVERSED, TARN_EMU_RANDOM };

/* How the device behaves; one device, so one set of settings a process. */
struct tarn_emu_settings {
    enum tarn_emu_order order; /* of threads and blocks */
    unsigned seed;             /* of the random order */
    const char *gpu;           /* "sm_75": whose limits hold */
    bool check; /* instrumented kernels, tarn_checked_*, are checked at every access */
    /* Says whether the __syncthreads or __syncwarp at a place is passed over, as if it were not
     * there; NULL: none is. For those who ask whether a barrier is needed. */
    bool (*pass_over)(const char *file, int line);
    bool locked; /* device memory can't be touched but by kernels and copies */
    /* Of blocks that differ in x only so many are run, the last ones; 0: all. For those who
     * ask how a kernel finds its way in arrays that are too large to go through. */
    unsigned last_blocks;
};
extern struct tarn_emu_settings tarn_emu_settings;

/* The GPUs whose limits are known, by position; NULL past the last. */
const char *tarn_emu_gpu(size_t position);

/* Device memory: full of NaN, aligned to 16, its end at a guard page. NULL: no memory left.
 * The host touches it by copy and fill alone, as on a GPU. */
void *tarn_emu_alloc(size_t bytes);
void tarn_emu_free(void *memory);
void tarn_emu_copy(void *to, const void *from, size_t bytes);
void tarn_emu_fill(void *to, int byte, size_t bytes);

/* ---- The profiler ---------------------------------------------------------------------- */

/* What the warps of a kernel did at one line of its source, in all blocks that were watched.
 * actual and least: sectors of 32 bytes (global), wavefronts (shared). shifted: of what is above
 * the least, sectors of words side by side that only begin within one. */
struct tarn_emu_row {
    char kernel[64], file[100];
    int line;
    bool shared, writes;
    unsigned bytes;           /* of one lane's access */
    uint64_t requests, moved; /* by warps; bytes by all lanes */
    uint64_t actual, least, shifted;
};

/* From now on the accesses of instrumented kernels, tarn_checked_*, are counted, in each
 * `every`-th block. */
void tarn_emu_profile_start(size_t every);
bool tarn_emu_profiling(void);

/* Ends that: rows by kernel, file and line, for the caller to free; NULL: no memory left. */
struct tarn_emu_row *tarn_emu_profile_stop(size_t *count);

#ifdef __cplusplus
}
#endif
#endif
