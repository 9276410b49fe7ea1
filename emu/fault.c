/* fault.c: a wild address in a kernel becomes a message. Chapter 11.
 *
 * While a launch runs, SIGSEGV, SIGBUS, SIGFPE and SIGILL of its workers are ours. The handler
 * can't do much where it is, so it lets the worker wake up elsewhere: on a stack of its own, in
 * land(), which says what happened and leaves the block. Faults of other threads, and of the
 * runtime itself, go to whoever had the signals before; but a stack that is full when a kernel
 * calls the runtime is the kernel's doing.
 *
 * The same way a kernel that never waits is stopped: launch.c sends the worker SIGSEGV. */
#include "emu/inside.h"
#include <pthread.h>
#include <signal.h>
#include <ucontext.h>

enum { CAUGHT = 4 };
static const int caught[CAUGHT] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
static struct sigaction before[CAUGHT];

/* What the handler leaves for land(). */
static __thread struct {
    const void *address, *code;
    int signal;
    bool asked; /* by launch.c: no fault at all */
} fault;

static void land(void)
{
    struct tarn_emu_worker *w = tarn_emu_worker;
    if (fault.asked) tarn_emu_abandon(w);
    const void *code = w->for_code ? w->for_code : fault.code;
    if (fault.signal == SIGFPE)
        tarn_emu_blame_code(w, code,
                            "an integer is divided by 0, or the least one by -1");
    if (fault.signal == SIGILL)
        tarn_emu_blame_code(w, code,
                            "the kernel is stopped by __builtin_trap, its own or where "
                            "the compiler saw that what comes is undefined");
    tarn_emu_blame_code(w, code, "%s", tarn_emu_wrong_address(w, fault.address).text);
}

/* Lets the thread go on in land(), on the landing stack; false where we don't know how. */
static bool go_to_land(struct tarn_emu_worker *w, ucontext_t *u)
{
    const uintptr_t top =
        ((uintptr_t)w->landing + sizeof w->landing - 128) & ~(uintptr_t)63;
#if defined __x86_64__
    fault.code = (const void *)(u->uc_mcontext.gregs[REG_RIP] + 1);
    u->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)land;
    u->uc_mcontext.gregs[REG_RSP] = (greg_t)(top - 8); /* as after a call */
    return true;
#elif defined __aarch64__
    fault.code = (const void *)(u->uc_mcontext.pc + 1);
    u->uc_mcontext.pc = (uintptr_t)land;
    u->uc_mcontext.sp = top;
    return true;
#else
    (void)top, (void)u;
    return false;
#endif
}

static void pass_on(int signal, siginfo_t *info, void *context)
{
    for (int i = 0; i < CAUGHT; i++) {
        if (caught[i] != signal) continue;
        if (before[i].sa_flags & SA_SIGINFO)
            before[i].sa_sigaction(signal, info, context);
        else if (before[i].sa_handler != SIG_DFL && before[i].sa_handler != SIG_IGN)
            before[i].sa_handler(signal);
        else
            sigaction(signal, &before[i], NULL); /* the same fault again, and the end */
    }
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
    struct tarn_emu_worker *w = tarn_emu_worker;
    const bool asked = info->si_code == SI_TKILL;
    const bool in_kernel = w && w->running && !w->in_runtime;
    if (asked && !in_kernel) return; /* it will see by itself that it has to stop */
    if (!in_kernel && !(w && tarn_emu_stack_is_full(w, info->si_addr))) {
        pass_on(signal, info, context);
        return;
    }
    fault.address = info->si_addr, fault.signal = signal, fault.asked = asked;
    w->in_runtime = true;
    if (!go_to_land(w, context)) pass_on(signal, info, context);
}

void tarn_faults_catch(void)
{
    struct sigaction action = {.sa_sigaction = on_fault,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < CAUGHT; i++) sigaction(caught[i], &action, &before[i]);
}

void tarn_faults_release(void)
{
    for (int i = 0; i < CAUGHT; i++) sigaction(caught[i], &before[i], NULL);
}
