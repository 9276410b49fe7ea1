/* where.c: what memory an address of a kernel lies in. Chapter 11.
 *
 * A GPU has several kinds of memory and the host another; on the emulated device all are
 * addresses of one process, so it has to be worked out: the fiber's stack, the block's shared
 * memory, the heap of the device, the program (its constants), and whatever is left, which is
 * the host's.
 *
 * `static __shared__` is a thread-local variable, for a block runs on one thread. Where a
 * kernel comes from a module of its own, its thread-local memory is nothing else, and is
 * poisoned like other shared memory. */
#include "emu/inside.h"
#include <dlfcn.h>
#include <link.h>
#include <string.h>

/* ---- The module that a kernel is in --------------------------------------------------------- */

/* The C library's: where this thread has the variables of a module. */
struct tls_index {
    size_t module, offset;
};
extern void *__tls_get_addr(struct tls_index *index);

/* What the walk over all modules looks for, and finds. */
struct search {
    uintptr_t code;
    struct tarn_emu_module *found;
};

static bool covers(const struct dl_phdr_info *module, uintptr_t address)
{
    for (int i = 0; i < module->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &module->dlpi_phdr[i];
        if (part->p_type == PT_LOAD &&
            address - (module->dlpi_addr + part->p_vaddr) < part->p_memsz)
            return true;
    }
    return false;
}

static void note_part(struct tarn_emu_module *m, const struct dl_phdr_info *module,
                      const ElfW(Phdr) * part)
{
    const char *low = (const char *)(module->dlpi_addr + part->p_vaddr);
    const char *high = low + part->p_memsz;
    if (part->p_type == PT_LOAD) {
        if (!m->low || low < m->low) m->low = low;
        if (high > m->high) m->high = high;
    }
    if (part->p_type != PT_TLS) return;
    struct tls_index index = {module->dlpi_tls_modid, 0};
    m->tls = __tls_get_addr(&index);
    m->tls_bytes = part->p_memsz;
}

static int look_at(struct dl_phdr_info *module, size_t size, void *data)
{
    struct search *s = data;
    (void)size;
    if (!covers(module, s->code)) return 0;
    for (int i = 0; i < module->dlpi_phnum; i++)
        note_part(s->found, module, &module->dlpi_phdr[i]);
    s->found->ours = covers(module, (uintptr_t)tarn_emu_launch);
    return 1;
}

/* Anew for each launch: a module may have been closed and opened since, and then has its code
 * where it was and its variables elsewhere. */
struct tarn_emu_module tarn_emu_find_module(void (*body)(void *))
{
    struct tarn_emu_module found = {0};
    struct search s = {(uintptr_t)body, &found};
    dl_iterate_phdr(look_at, &s);
    return found;
}

size_t tarn_emu_tls_shared(const struct tarn_emu_module *m)
{
    return m->ours || !m->tls ? 0 : m->tls_bytes;
}

/* ---- Addresses ------------------------------------------------------------------------------- */

/* From one stack to the next: fiber.c puts a closed page below each. */
static const size_t stride = TARN_EMU_STACK + TARN_EMU_PAGE;

static bool within(const char *a, const void *start, size_t bytes)
{
    return start && (uintptr_t)a - (uintptr_t)start < bytes;
}

/* The dynamic part, or one of the arrays of a fixed size; gaps between them belong to none. */
static struct tarn_emu_where in_arena(const struct tarn_emu_worker *w, const char *a)
{
    if (a >= w->shared && w->job->launch->shared)
        return (struct tarn_emu_where){TARN_SHARED, w->shared, w->job->launch->shared,
                                       NULL};
    struct tarn_emu_where where = {TARN_SHARED, NULL, 0, NULL};
    for (unsigned i = 0; i < w->static_count; i++) {
        const struct tarn_static_shared *s = &w->statics[i];
        if (a >= (char *)s->memory && (char *)s->memory >= where.start)
            where.start = s->memory, where.bytes = s->bytes;
    }
    return where;
}

/* The last allocation that begins below an address, if it ends at most a page before it. */
static struct tarn_emu_where in_heap(const char *a)
{
    for (size_t back = 0; back <= TARN_EMU_PAGE; back += 16) {
        struct tarn_emu_allocation *at = tarn_emu_find(a - back);
        if (at) return (struct tarn_emu_where){TARN_GLOBAL, at->memory, at->bytes, at};
    }
    return (struct tarn_emu_where){TARN_GLOBAL, NULL, 0, NULL};
}

struct tarn_emu_where tarn_emu_locate(const struct tarn_emu_worker *w,
                                      const void *address)
{
    const char *a = address, *stack = w->running ? w->running->stack : NULL;
    const struct tarn_emu_module *m = &w->module;
    if (within(a, stack, TARN_EMU_STACK))
        return (struct tarn_emu_where){TARN_LOCAL, stack, TARN_EMU_STACK, NULL};
    if (within(a, w->arena, TARN_EMU_ARENA + TARN_EMU_PAGE)) return in_arena(w, a);
    if (tarn_emu_in_heap(a)) return in_heap(a);
    if (within(a, w->stacks, TARN_EMU_THREADS * stride))
        return (struct tarn_emu_where){TARN_STACKS, NULL, 0, NULL};
    if (within(a, &tarn_emu_here, sizeof tarn_emu_here) ||
        within(a, w->arguments, sizeof w->arguments))
        return (struct tarn_emu_where){TARN_GIVEN, NULL, 0, NULL};
    if (within(a, m->tls, m->tls_bytes + (m->ours ? 0 : TARN_EMU_PAGE)))
        return (struct tarn_emu_where){TARN_THREAD_LOCAL, m->tls, m->tls_bytes, NULL};
    if (m->low && a >= m->low && a < m->high)
        return (struct tarn_emu_where){TARN_PROGRAM, NULL, 0, NULL};
    return (struct tarn_emu_where){TARN_HOST, NULL, 0, NULL};
}

bool tarn_emu_inside(const struct tarn_emu_where *where, const void *address,
                     size_t bytes)
{
    const size_t offset = (size_t)((const char *)address - where->start);
    return where->start && offset < where->bytes && bytes <= where->bytes - offset;
}

bool tarn_emu_is_variable_of_device(const struct tarn_emu_worker *w,
                                    const void *address)
{
    Dl_info info;
    const struct tarn_emu_module *m = &w->module;
    const char *a = address;
    return !m->ours && m->low && a >= m->low && a < m->high && dladdr(a, &info) &&
           info.dli_saddr;
}

static bool on_guard_page(const struct tarn_emu_worker *w, const char *address)
{
    return (size_t)(address - w->stacks) % stride < TARN_EMU_PAGE;
}

bool tarn_emu_stack_is_full(const struct tarn_emu_worker *w, const void *address)
{
    return w->running &&
           within(address, w->running->stack - TARN_EMU_PAGE, TARN_EMU_PAGE);
}

/* ---- What is wrong with an address ----------------------------------------------------------- */

/* The array of the same memory that begins next behind an address, if it does so within a
 * page. */
static struct tarn_emu_where next_in_arena(const struct tarn_emu_worker *w,
                                           const char *a)
{
    struct tarn_emu_where next = {TARN_SHARED, w->shared, w->job->launch->shared, NULL};
    if (a >= w->shared || next.bytes == 0) next.start = NULL;
    for (unsigned i = 0; i < w->static_count; i++) {
        const struct tarn_static_shared *s = &w->statics[i];
        if (a < (char *)s->memory && (!next.start || (char *)s->memory < next.start))
            next.start = s->memory, next.bytes = s->bytes;
    }
    return next;
}

static struct tarn_emu_where next_in_heap(const char *a)
{
    const char *aligned = a + (-(uintptr_t)a & 15);
    for (size_t ahead = 0; ahead <= TARN_EMU_PAGE; ahead += 16) {
        struct tarn_emu_allocation *at = tarn_emu_find(aligned + ahead);
        if (at && at->memory > a)
            return (struct tarn_emu_where){TARN_GLOBAL, at->memory, at->bytes, at};
    }
    return (struct tarn_emu_where){TARN_GLOBAL, NULL, 0, NULL};
}

/* "4 bytes before the start of", if that is nearer than the end of the array below. */
static struct tarn_emu_sentence wrong_in_array(const struct tarn_emu_worker *w,
                                               const struct tarn_emu_where *at,
                                               const char *a)
{
    const struct tarn_emu_where next =
        at->kind == TARN_GLOBAL ? next_in_heap(a) : next_in_arena(w, a);
    const char *of = at->kind == TARN_GLOBAL ? "an array of " : "";
    const char *what = at->kind == TARN_GLOBAL ? "" : " of shared memory";
    const char *end = at->start ? at->start + at->bytes : NULL;
    const bool before = at->kind != TARN_THREAD_LOCAL && next.start &&
                        (!end || (a >= end && next.start - a < a - end));
    if (before)
        return tarn_emu_say("%zu bytes before the start of %s%zu bytes%s",
                            (size_t)(next.start - a), of, next.bytes, what);
    if (at->start)
        return tarn_emu_say("byte %zu of %s%zu bytes%s: past the end",
                            (size_t)(a - at->start), of, at->bytes, what);
    if (at->kind == TARN_GLOBAL)
        return tarn_emu_say("%p is device memory, but not allocated", (const void *)a);
    return tarn_emu_say("%p is shared memory, but of no array", (const void *)a);
}

/* What is wrong with an address that a kernel may not touch. */
struct tarn_emu_sentence tarn_emu_wrong_address(const struct tarn_emu_worker *w,
                                                const void *address)
{
    const struct tarn_emu_where at = tarn_emu_locate(w, address);
    switch (at.kind) {
    case TARN_SHARED:
    case TARN_THREAD_LOCAL:
    case TARN_GLOBAL: return wrong_in_array(w, &at, address);
    case TARN_LOCAL:
    case TARN_STACKS:
        if (on_guard_page(w, address))
            return tarn_emu_say("the thread's local variables need more than %d bytes",
                                (int)TARN_EMU_LOCAL);
        return tarn_emu_say("%p is a local variable of another thread", address);
    case TARN_GIVEN: return tarn_emu_say("an argument of the kernel is changed");
    case TARN_PROGRAM:
        return tarn_emu_say("%p is a variable of the host's program: one of the device "
                            "begins with __device__",
                            address);
    case TARN_HOST: break;
    }
    if ((uintptr_t)address < TARN_EMU_PAGE)
        return tarn_emu_say("a null pointer is used");
    return tarn_emu_say("%p is no device memory but the host's", address);
}
