/* context.h: what lasts between calls, and how an error is said. Internal.
 *
 * - Every function that can fail takes a context, returns a tarn_status and, if it
 *   fails, has called tarn_fail once with a message such as "function: argument is X,
 *   expected Y".
 * - All memory of the library comes from tarn_alloc and goes through tarn_release: one
 *   place that checks for overflow, counts bytes, asks for memory back under pressure,
 *   and (--enable-paranoid) fails at the n-th call or fills fresh memory with NaN. */
#ifndef TARN_CONTEXT_H
#define TARN_CONTEXT_H

#include "tarn.h"
#include <stdatomic.h>

#ifdef __FINITE_MATH_ONLY__
#if __FINITE_MATH_ONLY__
#error "tarn's NaN and Inf are data: build without -ffast-math or -ffinite-math-only"
#endif
#endif

struct tarn_context {
    atomic_bool interrupted;
    int threads;
    struct tarn_pool *pool; /* the other threads, once there are any: parallel.c */
    uint64_t seed;
    uint64_t drawn;          /* random blocks used of the session's stream */
    atomic_size_t bytes;     /* held by live tensors and states */
    size_t most;             /* of them at a time, since somebody set it: see equiv */
    size_t limit;            /* of our bytes and those outside together; 0: none */
    size_t outside;          /* held by the program around us */
    const char *write_below; /* files are written below this folder; NULL: anywhere */
    const char
        *ran; /* the kernels that ran last on a device; NULL: it had none of the name */
    double flops, moved; /* arithmetic done, bytes read and written: see tarn_count */
    void (*collect)(void *);
    void *collect_data;
    void (*note)(void *, const char *); /* who hears notes, and what it is given */
    void *note_data;
    const void *noted[32]; /* what notes were about; each subject has one */
    char message[1024];
};

/* Formats the message of ctx and returns `status`, as in return tarn_fail(..). */
tarn_status tarn_fail(tarn_context *ctx, tarn_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Tells who listens (tarn_on_note) something that is no error, once for each subject, which
 * is any address: that of the static that it is about. */
void tarn_note_once(tarn_context *ctx, const void *subject, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Fails with TARN_EINTR if a stop was asked for; `function` is named in the message. */
tarn_status tarn_poll(tarn_context *ctx, const char *function);

/* Adds an operation's own count of its work to the context's, for who measures speed: its
 * arithmetic, and the bytes of its inputs and outputs, each of them once. */
void tarn_count(tarn_context *ctx, double flops, double bytes);

/* Allocates count * size bytes aligned to 64, zero bytes included (never NULL on
 * success). On failure NULL, with the message set; the caller returns TARN_ENOMEM. */
void *tarn_alloc(tarn_context *ctx, size_t count, size_t size);
void tarn_release(void *memory);

/* a * b, false on overflow. */
bool tarn_product(size_t a, size_t b, size_t *product);

#ifdef TARN_PARANOID
/* Lets the n-th allocation from now fail (0: none); see context.c for TARN_FAIL_AT. */
void tarn_fail_alloc_at(size_t n);
#endif

#endif
