/* context.c: status, messages, interrupts and memory. Appendix on the library's core.
 *
 * - Nothing here is global: two contexts know nothing of each other.
 * - tarn_alloc is the one way to memory. In front of each block lies a header that
 *   tells its context and size, so that tarn_release can count it out again:
 *
 *       | header, 64 bytes | what the caller asked for |
 *                          ^ aligned to 64: a cache line, and any vector of the machine
 *
 *   The end is not padded: a sanitizer sees the first byte that is read too far.
 * - Built with --enable-paranoid, fresh memory is filled with bytes 0xff, which is NaN
 *   in both element types, and one allocation can be made to fail: the n-th after
 *   tarn_fail_alloc_at(n), or with TARN_FAIL_AT=n in the environment the n-th after the
 *   context was made. A test that walks n upwards visits every error path. */
#include "core/context.h"
#include "core/parallel.h"
#include <stdalign.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* ---- Memory ---------------------------------------------------------------------- */

struct block {
    alignas(64) tarn_context *ctx;
    size_t bytes;
};

#ifdef TARN_PARANOID
static atomic_size_t fail_at; /* allocations until the one that fails; 0: none fails */

void tarn_fail_alloc_at(size_t n)
{
    atomic_store(&fail_at, n);
}

static void prepare_faults(void)
{
    const char *n = getenv("TARN_FAIL_AT");
    if (n != NULL) tarn_fail_alloc_at(strtoull(n, NULL, 10));
}

static bool is_denied(void)
{
    size_t left = atomic_load(&fail_at);
    if (left > 0) atomic_store(&fail_at, left - 1);
    return left == 1;
}

static void poison(void *memory, size_t bytes)
{
    memset(memory, 0xff, bytes);
}
#else
static void prepare_faults(void) {}

static bool is_denied(void)
{
    return false;
}

static void poison(void *memory, size_t bytes)
{
    (void)memory;
    (void)bytes;
}
#endif

bool tarn_product(size_t a, size_t b, size_t *product)
{
    return !__builtin_mul_overflow(a, b, product);
}

/* Memory of the system. Of large blocks it is asked for pages of 2 MiB: they are faster to
 * walk through, and giving back a gigabyte takes 1 ms, not 50, in which ^C would wait. */
static void *from_system(size_t bytes)
{
    enum { HUGE_PAGE = 2 << 20 };
    const bool large = bytes >= 2 * HUGE_PAGE;
    void *memory = NULL;
    if (posix_memalign(&memory, large ? HUGE_PAGE : alignof(struct block), bytes) != 0)
        return NULL;
#ifdef MADV_HUGEPAGE
    if (large) madvise(memory, bytes, MADV_HUGEPAGE); /* no more than a wish */
#endif
    return memory;
}

static struct block *obtain(const tarn_context *ctx, size_t bytes)
{
    const size_t held = tarn_bytes(ctx) + ctx->outside;
    if (ctx->limit && (held > ctx->limit || bytes > ctx->limit - held)) return NULL;
    return from_system(sizeof(struct block) + bytes);
}

void *tarn_alloc(tarn_context *ctx, size_t count, size_t size)
{
    size_t bytes = 0;
    if (!tarn_product(count, size, &bytes) ||
        bytes > (size_t)PTRDIFF_MAX - sizeof(struct block)) {
        tarn_fail(ctx, TARN_ENOMEM,
                  "out of memory: %zu elements of %zu bytes are more than any memory",
                  count, size);
        return NULL;
    }

    /* Ask once, then once more after others have been asked to give memory back. */
    bool denied = is_denied();
    struct block *block = denied ? NULL : obtain(ctx, bytes);
    if (block == NULL && ctx->collect != NULL) {
        ctx->collect(ctx->collect_data);
        block = denied ? NULL : obtain(ctx, bytes);
    }
    if (block == NULL) {
        tarn_fail(ctx, TARN_ENOMEM, "out of memory: %zu bytes asked for, %zu held%s",
                  bytes, tarn_bytes(ctx),
                  ctx->limit ? ", as much as the limit allows" : "");
        return NULL;
    }

    block->ctx = ctx;
    block->bytes = bytes;
    const size_t held = atomic_fetch_add(&ctx->bytes, bytes) + bytes;
    if (held > ctx->most) ctx->most = held;
    poison(block + 1, bytes);
    return block + 1;
}

void tarn_release(void *memory)
{
    if (memory == NULL) return;
    struct block *block = (struct block *)memory - 1;
    atomic_fetch_sub(&block->ctx->bytes, block->bytes);
    free(block);
}

size_t tarn_bytes(const tarn_context *ctx)
{
    return atomic_load(&ctx->bytes);
}

void tarn_on_pressure(tarn_context *ctx, void (*collect)(void *), void *data)
{
    ctx->collect = collect;
    ctx->collect_data = data;
}

/* ---- Contexts -------------------------------------------------------------------- */

tarn_status tarn_context_new(tarn_context **ctx)
{
    tarn_context *fresh = calloc(1, sizeof *fresh);
    if (fresh == NULL) return TARN_ENOMEM;
    atomic_init(&fresh->interrupted, false);
    atomic_init(&fresh->bytes, 0);
    int processors = tarn_processors();
    fresh->threads = processors < TARN_MAX_THREADS ? processors : TARN_MAX_THREADS;
    tarn_seed(fresh, 1);
    prepare_faults();
    *ctx = fresh;
    return TARN_OK;
}

void tarn_context_free(tarn_context *ctx)
{
    if (ctx != NULL) tarn_pool_free(ctx);
    free(ctx);
}

tarn_status tarn_set_threads(tarn_context *ctx, int threads)
{
    if (threads < 1 || threads > TARN_MAX_THREADS)
        return tarn_fail(ctx, TARN_EINVAL,
                         "set_threads: threads is %d, expected 1 to %d", threads,
                         TARN_MAX_THREADS);
    ctx->threads = threads;
    return TARN_OK;
}

int tarn_threads(const tarn_context *ctx)
{
    return ctx->threads;
}

void tarn_seed(tarn_context *ctx, uint64_t seed)
{
    ctx->seed = seed;
    ctx->drawn = 0;
}

/* ---- Errors ---------------------------------------------------------------------- */

tarn_status tarn_fail(tarn_context *ctx, tarn_status status, const char *format, ...)
{
    /* Format aside first: an argument may be the message that is being replaced. */
    char message[sizeof ctx->message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    memcpy(ctx->message, message, sizeof message);
    return status;
}

tarn_status tarn_raise(tarn_context *ctx, tarn_status status, const char *message)
{
    return tarn_fail(ctx, status, "%s", message);
}

const char *tarn_error(const tarn_context *ctx)
{
    return ctx->message;
}

/* ---- Notes ----------------------------------------------------------------------- */

void tarn_on_note(tarn_context *ctx, void (*note)(void *data, const char *text),
                  void *data)
{
    ctx->note = note;
    ctx->note_data = data;
}

/* False if there was a note about it, or there have been too many. */
static bool is_news(tarn_context *ctx, const void *subject)
{
    const size_t most = sizeof ctx->noted / sizeof ctx->noted[0];
    size_t i = 0;
    while (i < most && ctx->noted[i] && ctx->noted[i] != subject) i++;
    if (i == most || ctx->noted[i]) return false;
    ctx->noted[i] = subject;
    return true;
}

void tarn_note_once(tarn_context *ctx, const void *subject, const char *format, ...)
{
    char text[sizeof ctx->message];
    if (!ctx->note || !is_news(ctx, subject)) return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    ctx->note(ctx->note_data, text);
}

/* ---- Statuses -------------------------------------------------------------------- */

const char *tarn_status_text(tarn_status status)
{
    switch (status) {
    case TARN_OK: return "no error";
    case TARN_EINVAL: return "an argument is out of its range";
    case TARN_ESHAPE: return "shapes do not fit together";
    case TARN_EDTYPE: return "an element type that is not taken here";
    case TARN_ENOMEM: return "out of memory";
    case TARN_EIO: return "a file could not be opened, read or written";
    case TARN_EFORMAT: return "a file's content is not what its format promises";
    case TARN_EDEVICE: return "a device that is not there or cannot do this";
    case TARN_ERANGE: return "the result is beyond the element type";
    case TARN_EINTR: return "interrupted";
    case TARN_EUSER: return "a function of the user's failed";
    }
    return "unknown status";
}

const char *tarn_version(void)
{
    return PACKAGE_VERSION;
}

/* ---- Interrupts ------------------------------------------------------------------ */

void tarn_interrupt(tarn_context *ctx)
{
    atomic_store(&ctx->interrupted, true);
}

void tarn_clear_interrupt(tarn_context *ctx)
{
    atomic_store(&ctx->interrupted, false);
}

/* Relaxed: the flag announces nothing but itself, and inner loops ask often. */
bool tarn_interrupted(const tarn_context *ctx)
{
    return atomic_load_explicit(&ctx->interrupted, memory_order_relaxed);
}

tarn_status tarn_poll(tarn_context *ctx, const char *function)
{
    if (!tarn_interrupted(ctx)) return TARN_OK;
    return tarn_fail(ctx, TARN_EINTR, "%s: interrupted", function);
}

void tarn_count(tarn_context *ctx, double flops, double bytes)
{
    ctx->flops += flops;
    ctx->moved += bytes;
}
