/* costs.c: counts what a learner's C function costs: memory it asks for and has in local
 * variables, and what it reads and writes. Chapter 3.
 *
 * The function is compiled with -fsanitize=thread, so that it calls a function before each
 * access of memory that is not in a register; these are the functions, in place of the
 * sanitizer's own (as in emu/hooks.c). The linker gives its calls of malloc to those below
 * (--wrap). A word is 4 bytes, a float. This is a part of the harness's file: what it counts in
 * has no name that the learner's file could use. */
#include <malloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static bool counting;
static size_t bytes_read, bytes_written, held, peak, deepest;
static uintptr_t stack; /* where the harness stands in it */

/* ---- Reads and writes ---------------------------------------------------------------------- */

/* Local variables lie between the harness and whoever is called at an access. */
static void look_at_stack(void)
{
    const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    if (counting && here < stack && stack - here > deepest) deepest = stack - here;
}

static void reads(size_t bytes)
{
    if (counting) bytes_read += bytes;
    look_at_stack();
}

static void writes(size_t bytes)
{
    if (counting) bytes_written += bytes;
    look_at_stack();
}

/* These names belong to the compilers, which declare them nowhere. */
#define ACCESS(name, bytes, count)                                                     \
    void __tsan_##name(void *at);                                                      \
    void __tsan_##name(void *at)                                                       \
    {                                                                                  \
        (void)at;                                                                      \
        count;                                                                         \
    }

#define SIZE(bytes)                                                                    \
    ACCESS(read##bytes, bytes, reads(bytes))                                           \
    ACCESS(write##bytes, bytes, writes(bytes))                                         \
    ACCESS(read_write##bytes, bytes, (reads(bytes), writes(bytes)))                    \
    ACCESS(unaligned_read##bytes, bytes, reads(bytes))                                 \
    ACCESS(unaligned_write##bytes, bytes, writes(bytes))                               \
    ACCESS(unaligned_read_write##bytes, bytes, (reads(bytes), writes(bytes)))          \
    ACCESS(volatile_read##bytes, bytes, reads(bytes))                                  \
    ACCESS(volatile_write##bytes, bytes, writes(bytes))                                \
    ACCESS(unaligned_volatile_read##bytes, bytes, reads(bytes))                        \
    ACCESS(unaligned_volatile_write##bytes, bytes, writes(bytes))

SIZE(1)
SIZE(2)
SIZE(4)
SIZE(8)
SIZE(16)
ACCESS(init, 0, (void)0)
ACCESS(func_entry, 0, (void)0)

void __tsan_func_exit(void);
void __tsan_func_exit(void) {}
void __tsan_read_range(void *at, size_t bytes);
void __tsan_read_range(void *at, size_t bytes)
{
    (void)at;
    reads(bytes);
}
void __tsan_write_range(void *at, size_t bytes);
void __tsan_write_range(void *at, size_t bytes)
{
    (void)at;
    writes(bytes);
}

/* Copies: clang calls the sanitizer's names, gcc those of C. */
void *__real_memcpy(void *to, const void *from, size_t bytes);
void *__real_memmove(void *to, const void *from, size_t bytes);
void *__real_memset(void *to, int byte, size_t bytes);

#define COPY(name, real, T, x, read)                                                   \
    void *name(void *to, T x, size_t bytes);                                           \
    void *name(void *to, T x, size_t bytes)                                            \
    {                                                                                  \
        reads(read);                                                                   \
        writes(bytes);                                                                 \
        return real(to, x, bytes);                                                     \
    }

COPY(__wrap_memcpy, __real_memcpy, const void *, from, bytes)
COPY(__wrap_memmove, __real_memmove, const void *, from, bytes)
COPY(__wrap_memset, __real_memset, int, byte, 0)
COPY(__tsan_memcpy, __real_memcpy, const void *, from, bytes)
COPY(__tsan_memmove, __real_memmove, const void *, from, bytes)
COPY(__tsan_memset, __real_memset, int, byte, 0)

/* ---- Memory ---------------------------------------------------------------------------------- */

static void *took(void *block)
{
    if (!counting || !block) return block;
    held += malloc_usable_size(block);
    if (held > peak) peak = held;
    return block;
}

static void gave(void *block)
{
    if (!counting || !block) return;
    const size_t size = malloc_usable_size(block);
    held -= size < held ? size : held;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
int __real_posix_memalign(void **block, size_t alignment, size_t size);
void __real_free(void *block);

void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
    return took(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size)
{
    return took(__real_calloc(count, size));
}

void *__wrap_realloc(void *block, size_t size);
void *__wrap_realloc(void *block, size_t size)
{
    gave(block);
    return took(__real_realloc(block, size));
}

void *__wrap_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return took(__real_aligned_alloc(alignment, size));
}

int __wrap_posix_memalign(void **block, size_t alignment, size_t size);
int __wrap_posix_memalign(void **block, size_t alignment, size_t size)
{
    const int problem = __real_posix_memalign(block, alignment, size);
    if (problem == 0) took(*block);
    return problem;
}

void __wrap_free(void *block);
void __wrap_free(void *block)
{
    gave(block);
    __real_free(block);
}

/* ---- The harness ------------------------------------------------------------------------------- */

/* Variables outside of functions: memory too, but for the little that the harness has. */
extern char __data_start[], _end[];
enum { HARNESS_OWN = 1 << 10 };

static size_t fixed_memory(void)
{
    const size_t all = (size_t)((uintptr_t)_end - (uintptr_t)__data_start);
    return all > HARNESS_OWN ? all - HARNESS_OWN : 0;
}

static void harness_count_begin(void)
{
    bytes_read = bytes_written = held = peak = deepest = 0;
    stack = (uintptr_t)__builtin_frame_address(0);
    counting = true;
}

static void harness_count_end(FILE *said, int number)
{
    enum { WORD = 4 };
    counting = false;
    fprintf(said, "cost %d loads %zu\n", number, bytes_read / WORD);
    fprintf(said, "cost %d stores %zu\n", number, bytes_written / WORD);
    fprintf(said, "cost %d heap %zu\n", number, peak + fixed_memory());
    fprintf(said, "cost %d stack %zu\n", number, deepest);
    fprintf(said, "cost %d left %zu\n", number, held);
}
