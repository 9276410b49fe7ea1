/* fiber.c: stacks, and the switch from one to another. Chapter 11.
 *
 * A fiber that waits is nothing but its stack and the registers that a function must keep for
 * its caller, which the switch leaves on that stack. x86-64 and aarch64 do it in a dozen
 * instructions; elsewhere the C library's ucontext does, with two system calls a switch. The
 * x86-64 one ends in a jump and not in ret: the processor predicts where ret goes from the
 * calls it has seen, and would be wrong each time.
 *
 * Fibers never move to another thread of the system: compilers keep the addresses of
 * thread-local variables in registers. */
#include "emu/inside.h"
#include "core/context.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifdef HAVE_VALGRIND
#include <valgrind/valgrind.h>
#else
#define VALGRIND_STACK_REGISTER(low, high) 0
#endif

#if defined __SANITIZE_ADDRESS__
#define ADDRESS_SANITIZER
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define ADDRESS_SANITIZER
#endif
#endif
#ifdef ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

/* ---- The switch --------------------------------------------------------------------- */

#if defined __x86_64__

void tarn_fiber_swap(void **save, void *to);
__asm__(".text\n"
        ".globl tarn_fiber_swap\n"
        ".hidden tarn_fiber_swap\n"
        ".type tarn_fiber_swap, @function\n"
        "tarn_fiber_swap:\n"
        "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq "
        "%r15\n"
        "  movq %rsp, (%rdi)\n"
        "  movq %rsi, %rsp\n"
        "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
        "  popq %rcx\n"
        "  jmpq *%rcx\n"
        ".size tarn_fiber_swap, . - tarn_fiber_swap\n");

/* The stack of a fiber that was switched away from just before its first instruction. */
static void first_frame(struct tarn_fiber *f, char *top, void (*entry)(void))
{
    enum { REGISTERS = 6 };
    void **sp = (void **)(void *)top;
    *--sp = NULL; /* the entry's return address: it never returns */
    *--sp = (void *)entry;
    for (int i = 0; i < REGISTERS; i++) *--sp = NULL;
    f->sp = sp;
}

#elif defined __aarch64__

void tarn_fiber_swap(void **save, void *to);
__asm__(
    ".text\n"
    ".globl tarn_fiber_swap\n"
    ".hidden tarn_fiber_swap\n"
    ".type tarn_fiber_swap, %function\n"
    "tarn_fiber_swap:\n"
    "  sub sp, sp, #160\n"
    "  stp x19, x20, [sp]\n  stp x21, x22, [sp, #16]\n  stp x23, x24, [sp, #32]\n"
    "  stp x25, x26, [sp, #48]\n  stp x27, x28, [sp, #64]\n  stp x29, x30, [sp, #80]\n"
    "  stp d8, d9, [sp, #96]\n  stp d10, d11, [sp, #112]\n  stp d12, d13, [sp, #128]\n"
    "  stp d14, d15, [sp, #144]\n"
    "  mov x9, sp\n  str x9, [x0]\n  mov sp, x1\n"
    "  ldp x19, x20, [sp]\n  ldp x21, x22, [sp, #16]\n  ldp x23, x24, [sp, #32]\n"
    "  ldp x25, x26, [sp, #48]\n  ldp x27, x28, [sp, #64]\n  ldp x29, x30, [sp, #80]\n"
    "  ldp d8, d9, [sp, #96]\n  ldp d10, d11, [sp, #112]\n  ldp d12, d13, [sp, #128]\n"
    "  ldp d14, d15, [sp, #144]\n"
    "  add sp, sp, #160\n"
    "  ret\n"
    ".size tarn_fiber_swap, . - tarn_fiber_swap\n");

static void first_frame(struct tarn_fiber *f, char *top, void (*entry)(void))
{
    enum { SAVED = 160, LINK = 11 };
    void **sp = (void **)(void *)(top - SAVED);
    memset(sp, 0, SAVED);
    sp[LINK] = (void *)entry;
    f->sp = sp;
}

#else

#include <ucontext.h>

static void tarn_fiber_swap(void **save, void *to)
{
    ucontext_t here;
    *save = &here;
    swapcontext(&here, to);
}

static void first_frame(struct tarn_fiber *f, char *top, void (*entry)(void))
{
    ucontext_t *context = (void *)(top - sizeof *context);
    getcontext(context);
    context->uc_stack.ss_sp = f->stack;
    context->uc_stack.ss_size = (size_t)((char *)context - f->stack);
    context->uc_link = NULL;
    makecontext(context, entry, 0);
    f->sp = context;
}

#endif

/* Runs `to` until something switches back. AddressSanitizer must know whose stack it is on;
 * what a block that was abandoned left on a stack is forgotten in tarn_fiber_prepare. */
void tarn_fiber_switch(struct tarn_fiber *from, struct tarn_fiber *to)
{
#ifdef ADDRESS_SANITIZER
    void **keep = from->state == TARN_EXITED ? NULL : &from->fake_stack;
    __sanitizer_start_switch_fiber(keep, to->stack, to->stack ? TARN_EMU_STACK : 0);
#endif
    tarn_fiber_swap(&from->sp, to->sp);
#ifdef ADDRESS_SANITIZER
    __sanitizer_finish_switch_fiber(from->fake_stack, NULL, NULL);
#endif
}

/* The first thing a fiber does: the switch that brought it here ends here. */
void tarn_fiber_begin(void)
{
#ifdef ADDRESS_SANITIZER
    __sanitizer_finish_switch_fiber(NULL, NULL, NULL);
#endif
}

void tarn_fiber_prepare(struct tarn_fiber *f, void (*entry)(void))
{
#ifdef ADDRESS_SANITIZER
    __asan_unpoison_memory_region(f->stack, TARN_EMU_STACK);
    f->fake_stack = NULL;
#endif
    /* 192 bytes further down for each lane: else all stacks meet in the same cache lines. */
    const uintptr_t lane = f->index % TARN_EMU_WARP;
    const uintptr_t top = (uintptr_t)f->stack + TARN_EMU_STACK - 64 - 192 * lane;
    first_frame(f, (char *)(top & ~(uintptr_t)63), entry);
}

/* ---- The stacks ----------------------------------------------------------------------- */

static const size_t stack_stride = TARN_EMU_STACK + TARN_EMU_PAGE;

/* Reserves the stacks of a block; the page below each stays closed. */
static bool reserve_stacks(struct tarn_emu_worker *w)
{
    const size_t bytes = TARN_EMU_THREADS * stack_stride;
    char *stacks = mmap(NULL, bytes, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stacks == MAP_FAILED) return false;
    w->stacks = stacks;
    for (unsigned i = 0; i < TARN_EMU_THREADS; i++) {
        struct tarn_fiber *f = &w->fiber[i];
        f->stack = stacks + i * stack_stride + TARN_EMU_PAGE;
        if (mprotect(f->stack, TARN_EMU_STACK, PROT_READ | PROT_WRITE) != 0)
            return false;
        (void)VALGRIND_STACK_REGISTER(f->stack, f->stack + TARN_EMU_STACK);
    }
    return true;
}

/* Shared memory: its end is the end of a page, behind which nothing may be touched. */
static bool reserve_arena(struct tarn_emu_worker *w)
{
    char *arena = mmap(NULL, TARN_EMU_ARENA + TARN_EMU_PAGE, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (arena == MAP_FAILED) return false;
    w->arena = arena;
    return mprotect(arena + TARN_EMU_ARENA, TARN_EMU_PAGE, PROT_NONE) == 0;
}

bool tarn_fibers_new(struct tarn_emu_worker *w)
{
    w->fiber = calloc(TARN_EMU_THREADS, sizeof *w->fiber);
    return w->fiber && reserve_stacks(w) && reserve_arena(w);
}

void tarn_fibers_free(struct tarn_emu_worker *w)
{
    if (w->stacks) munmap(w->stacks, TARN_EMU_THREADS * stack_stride);
    if (w->arena) munmap(w->arena, TARN_EMU_ARENA + TARN_EMU_PAGE);
    for (unsigned i = 0; w->fiber && i < TARN_EMU_THREADS; i++)
        free(w->fiber[i].pending);
    free(w->fiber);
}
