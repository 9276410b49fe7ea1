/* blame.c: what went wrong in a kernel, and where: kernel, block, thread, file and line.
 * Chapter 11.
 *
 * The first error of a launch has the word; the block that made it is abandoned, blocks not
 * yet begun are not begun. Places in machine code are looked up by addr2line, which comes
 * with every compiler; without it the message has no line. */
#include "emu/inside.h"
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct place {
    char text[200];
};

/* "cuda/prefix.cu:120": what comes before the folder is the machine's business. */
static struct place short_place(const char *file, int line)
{
    static const char *const rooms[] = {"/cuda/", "/emu/"};
    for (size_t i = 0; i < sizeof rooms / sizeof rooms[0]; i++) {
        const char *room = strstr(file, rooms[i]);
        if (room) file = room + 1;
    }
    struct place p;
    snprintf(p.text, sizeof p.text, "%s:%d: ", file, line);
    return p;
}

/* Asks addr2line for the line of an address; "" if it does not know. */
static struct place place_of_code(const void *code)
{
    struct place p = {""};
    char command[400], answer[300];
    Dl_info info;
    if (!dladdr(code, &info) || !info.dli_fname || strchr(info.dli_fname, '\''))
        return p;
    /* One byte back: a return address lies behind the call. */
    snprintf(command, sizeof command, "addr2line -e '%s' %#zx 2>/dev/null",
             info.dli_fname,
             (size_t)((const char *)code - (const char *)info.dli_fbase) - 1);
    FILE *pipe = popen(command, "r");
    if (!pipe) return p;
    char *got = fgets(answer, sizeof answer, pipe);
    pclose(pipe);
    char *colon = got ? strrchr(answer, ':') : NULL;
    const int line = colon ? atoi(colon + 1) : 0;
    if (line <= 0) return p;
    *colon = 0;
    return short_place(answer, line);
}

struct sentence {
    char text[600];
};

static struct sentence say(const char *format, va_list arguments)
{
    struct sentence s;
    vsnprintf(s.text, sizeof s.text, format, arguments);
    return s;
}

static void accuse(struct tarn_emu_worker *w, struct place place, struct sentence what)
    __attribute__((noreturn));

static void accuse(struct tarn_emu_worker *w, struct place place, struct sentence what)
{
    struct tarn_emu_job *job = w->job;
    const struct tarn_emu_dim b = tarn_emu_here.block, t = tarn_emu_here.thread;
    if (!atomic_exchange(&job->failed, true))
        snprintf(job->message, sizeof job->message,
                 "%s, block (%u, %u, %u), thread (%u, %u, %u): %s%s",
                 job->launch->kernel, b.x, b.y, b.z, t.x, t.y, t.z, place.text,
                 what.text);
    tarn_emu_abandon(w);
}

void tarn_emu_blame(struct tarn_emu_worker *w, const char *file, int line,
                    const char *format, ...)
{
    va_list arguments;
    w->in_runtime = true;
    va_start(arguments, format);
    const struct sentence what = say(format, arguments);
    va_end(arguments);
    accuse(w, file ? short_place(file, line) : (struct place){""}, what);
}

void tarn_emu_blame_code(struct tarn_emu_worker *w, const void *code,
                         const char *format, ...)
{
    va_list arguments;
    w->in_runtime = true;
    va_start(arguments, format);
    const struct sentence what = say(format, arguments);
    va_end(arguments);
    accuse(w, place_of_code(code), what);
}
