/* hooks.c: what instrumented kernels call at every access. Chapter 11.
 *
 * With -fsanitize=thread a compiler puts a call of __tsan_read4(address) before every read of
 * 4 bytes that may be seen by other threads, and so on. The sanitizer that comes with the
 * compiler knows nothing of blocks, barriers and shared memory, so it is not linked: these
 * functions stand in for it and hand each access to check.c and profile.c, or to nobody.
 *
 * Not seen: memcpy of gcc and of clang before 15, which copies of more than 16 bytes become in
 * clang. Kernels copy element by element. */
#include "emu/inside.h"
#include <string.h>

unsigned tarn_emu_watch;

/* What is to come needs room on the stack, too. */
static void check_stack(struct tarn_emu_worker *w, const void *code)
{
    const char *here = __builtin_frame_address(0);
    if ((size_t)(here - w->running->stack) < TARN_EMU_RESERVE)
        tarn_emu_blame_code(w, code,
                            "the thread's local variables need more than %d bytes",
                            (int)TARN_EMU_LOCAL);
}

static void tell(void *address, size_t bytes, enum tarn_access access, const void *code)
{
    struct tarn_emu_worker *w = tarn_emu_worker;
    if (!w || !w->running || w->in_runtime) return;
    w->in_runtime = true;
    check_stack(w, code);
    if (tarn_emu_watch & TARN_WATCH_CHECK)
        tarn_check_access(w, address, bytes, access, code);
    if (tarn_emu_watch & TARN_WATCH_PROFILE)
        tarn_profile_access(w, address, bytes, access, code);
    if (atomic_load_explicit(&w->job->stopped, memory_order_relaxed))
        tarn_emu_abandon(w);
    w->in_runtime = false;
}

static inline void saw(void *address, size_t bytes, enum tarn_access access,
                       const void *code)
{
    if (tarn_emu_watch) tell(address, bytes, access, code);
}

/* The same where the type promises an address that is a multiple of its size, of 8 for those
 * that are longer: a GPU ends a kernel that does not keep this. */
static inline void saw_aligned(void *address, size_t bytes, enum tarn_access access,
                               const void *code)
{
    struct tarn_emu_worker *w = tarn_emu_worker;
    const size_t unit = bytes < 8 ? bytes : 8;
    if (!tarn_emu_watch) return;
    if ((uintptr_t)address % unit && w && w->running && !w->in_runtime)
        tarn_emu_blame_code(w, code,
                            "%zu bytes at once at %p, which is no multiple of %zu",
                            bytes, address, unit);
    tell(address, bytes, access, code);
}

/* These names belong to the compilers, which declare them nowhere. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wunknown-warning-option"
#pragma GCC diagnostic ignored "-Wreserved-identifier"
#pragma GCC diagnostic ignored "-Wbuiltin-declaration-mismatch"

#define HERE __builtin_return_address(0)
#pragma GCC visibility push(default) /* as in emu.h */

/* ---- Plain accesses ---------------------------------------------------------------------- */

#define ACCESS(see, name, bytes, access)                                               \
    void __tsan_##name(void *address)                                                  \
    {                                                                                  \
        see(address, bytes, access, HERE);                                             \
    }

/* The whole family for one size; a read_write is one access that does both. */
#define SIZE(bytes)                                                                    \
    ACCESS(saw_aligned, read##bytes, bytes, TARN_READS)                                \
    ACCESS(saw_aligned, write##bytes, bytes, TARN_WRITES)                              \
    ACCESS(saw_aligned, read_write##bytes, bytes, TARN_CHANGES)                        \
    ACCESS(saw, unaligned_read##bytes, bytes, TARN_READS)                              \
    ACCESS(saw, unaligned_write##bytes, bytes, TARN_WRITES)                            \
    ACCESS(saw, unaligned_read_write##bytes, bytes, TARN_CHANGES)                      \
    ACCESS(saw_aligned, volatile_read##bytes, bytes, TARN_READS)                       \
    ACCESS(saw_aligned, volatile_write##bytes, bytes, TARN_WRITES)                     \
    ACCESS(saw, unaligned_volatile_read##bytes, bytes, TARN_READS)                     \
    ACCESS(saw, unaligned_volatile_write##bytes, bytes, TARN_WRITES)

SIZE(1)
SIZE(2)
SIZE(4)
SIZE(8)
SIZE(16)

void __tsan_read_range(void *address, size_t bytes)
{
    saw(address, bytes, TARN_READS, HERE);
}
void __tsan_write_range(void *address, size_t bytes)
{
    saw(address, bytes, TARN_WRITES, HERE);
}

void *__tsan_memcpy(void *to, const void *from, size_t bytes)
{
    saw((void *)(uintptr_t)from, bytes, TARN_READS, HERE);
    saw(to, bytes, TARN_WRITES, HERE);
    return memcpy(to, from, bytes);
}
void *__tsan_memmove(void *to, const void *from, size_t bytes)
{
    saw((void *)(uintptr_t)from, bytes, TARN_READS, HERE);
    saw(to, bytes, TARN_WRITES, HERE);
    return memmove(to, from, bytes);
}
void *__tsan_memset(void *to, int byte, size_t bytes)
{
    saw(to, bytes, TARN_WRITES, HERE);
    return memset(to, byte, bytes);
}

/* ---- Atomics: the order that is asked for does not matter, there is one thread -------------- */

#define CHANGE(bits, T, what)                                                          \
    T __tsan_atomic##bits##_##what(volatile T *at, T x, int order)                     \
    {                                                                                  \
        (void)order;                                                                   \
        saw((void *)(uintptr_t)at, sizeof(T), TARN_ATOMIC, HERE);                      \
        return __atomic_##what(at, x, __ATOMIC_SEQ_CST);                               \
    }

/* gcc wants a bool and the old value in *expected, clang the old value. */
#define COMPARE(bits, T, strength, weak)                                               \
    int __tsan_atomic##bits##_compare_exchange_##strength(                             \
        volatile T *at, T *expected, T fresh, int order, int otherwise)                \
    {                                                                                  \
        (void)order, (void)otherwise;                                                  \
        saw((void *)(uintptr_t)at, sizeof(T), TARN_ATOMIC, HERE);                      \
        return __atomic_compare_exchange_n(at, expected, fresh, weak,                  \
                                           __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);        \
    }

#define ATOMICS(bits, T)                                                               \
    T __tsan_atomic##bits##_load(const volatile T *at, int order)                      \
    {                                                                                  \
        (void)order;                                                                   \
        saw((void *)(uintptr_t)at, sizeof(T), TARN_LOOKS, HERE);                       \
        return __atomic_load_n(at, __ATOMIC_SEQ_CST);                                  \
    }                                                                                  \
    void __tsan_atomic##bits##_store(volatile T *at, T x, int order)                   \
    {                                                                                  \
        (void)order;                                                                   \
        saw((void *)(uintptr_t)at, sizeof(T), TARN_ATOMIC_STORE, HERE);                \
        __atomic_store_n(at, x, __ATOMIC_SEQ_CST);                                     \
    }                                                                                  \
    T __tsan_atomic##bits##_exchange(volatile T *at, T x, int order)                   \
    {                                                                                  \
        (void)order;                                                                   \
        saw((void *)(uintptr_t)at, sizeof(T), TARN_ATOMIC, HERE);                      \
        return __atomic_exchange_n(at, x, __ATOMIC_SEQ_CST);                           \
    }                                                                                  \
    T __tsan_atomic##bits##_compare_exchange_val(volatile T *at, T expected, T fresh,  \
                                                 int order, int otherwise)             \
    {                                                                                  \
        (void)order, (void)otherwise;                                                  \
        saw((void *)(uintptr_t)at, sizeof(T), TARN_ATOMIC, HERE);                      \
        __atomic_compare_exchange_n(at, &expected, fresh, false, __ATOMIC_SEQ_CST,     \
                                    __ATOMIC_SEQ_CST);                                 \
        return expected;                                                               \
    }                                                                                  \
    COMPARE(bits, T, strong, false)                                                    \
    COMPARE(bits, T, weak, true)                                                       \
    CHANGE(bits, T, fetch_add)                                                         \
    CHANGE(bits, T, fetch_sub)                                                         \
    CHANGE(bits, T, fetch_and)                                                         \
    CHANGE(bits, T, fetch_or)                                                          \
    CHANGE(bits, T, fetch_xor)                                                         \
    CHANGE(bits, T, fetch_nand)

ATOMICS(8, uint8_t)
ATOMICS(16, uint16_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)

/* What atomics.h calls, instrumented or not. */
void tarn_emu_atomic(void *where, size_t bytes, void (*change)(void *word, void *data),
                     void *data)
{
    struct tarn_emu_worker *w = tarn_emu_worker;
    saw(where, bytes, TARN_ATOMIC, HERE);
    w->for_code = HERE; /* a fault here is the kernel's */
    if (bytes == sizeof(uint32_t)) {
        uint32_t old = __atomic_load_n((uint32_t *)where, __ATOMIC_RELAXED), fresh;
        do {
            fresh = old;
            change(&fresh, data);
        } while (!__atomic_compare_exchange_n((uint32_t *)where, &old, fresh, false,
                                              __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    } else {
        uint64_t old = __atomic_load_n((uint64_t *)where, __ATOMIC_RELAXED), fresh;
        do {
            fresh = old;
            change(&fresh, data);
        } while (!__atomic_compare_exchange_n((uint64_t *)where, &old, fresh, false,
                                              __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    }
    w->for_code = NULL;
}

void __tsan_atomic_thread_fence(int order)
{
    (void)order;
}
void __tsan_atomic_signal_fence(int order)
{
    (void)order;
}

/* ---- What else the compilers call ------------------------------------------------------------ */

void __tsan_init(void) {}
void __tsan_func_entry(void *from)
{
    (void)from;
}
void __tsan_func_exit(void) {}
void __tsan_ignore_thread_begin(void) {}
void __tsan_ignore_thread_end(void) {}
void __tsan_vptr_read(void *vptr)
{
    (void)vptr;
}
void __tsan_vptr_update(void *vptr, void *fresh)
{
    (void)vptr, (void)fresh;
}
#pragma GCC visibility pop
