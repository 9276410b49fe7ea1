/* blame.c: what went wrong in a kernel, and where: kernel, block, thread, file and line.
 * Chapter 11.
 *
 * The first error of a launch has the word; the block that made it is abandoned, blocks not
 * yet begun are not begun. Places in machine code are looked up by addr2line, which comes
 * with every compiler; without it the message has no line. */
#include "emu/inside.h"
#include <dlfcn.h>
#include <elf.h>
#include <limits.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Places in the source ------------------------------------------------------------------ */

/* "cuda/prefix.cu": what comes before the folder is the machine's business. A user's file has
 * the name that he gave, after "./" for the folder that he was in. */
const char *tarn_emu_short_file(const char *file)
{
    while (strncmp(file, "./", 2) == 0) file += 2;
    static const char *const rooms[] = {"/cuda/", "/emu/", "/tests/"};
    for (size_t i = 0; i < sizeof rooms / sizeof rooms[0]; i++) {
        const char *room = strstr(file, rooms[i]);
        if (room) return room + 1;
    }
    return file;
}

/* The file that a piece of code was loaded from, and its address in there; NULL: unknown. */
static const char *file_of_code(const void *code, char path[PATH_MAX], size_t *address)
{
    Dl_info info;
    if (!dladdr(code, &info) || !info.dli_fname) return NULL;
    const ElfW(Ehdr) *header = info.dli_fbase;
    const bool fixed = header->e_type == ET_EXEC; /* not moved when it was loaded */
    /* One byte back: a return address lies behind the call. */
    *address = (uintptr_t)code - 1 - (fixed ? 0 : (uintptr_t)info.dli_fbase);
    /* The program itself is known by the name it was called by, not always a path. */
    if (!strchr(info.dli_fname, '/') || access(info.dli_fname, R_OK) != 0) {
        const ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);
        if (n < 0) return NULL;
        path[n] = 0;
    } else
        snprintf(path, PATH_MAX, "%s", info.dli_fname);
    return strchr(path, '\'') ? NULL : path;
}

/* addr2line's answer "file:line" or "file:line (discriminator 3)"; false if it knows none. */
static bool read_line(char *answer, struct tarn_emu_line *line)
{
    char *colon = strrchr(answer, ':');
    const int number = colon ? atoi(colon + 1) : 0;
    if (number <= 0) return false;
    *colon = 0;
    const char *file = tarn_emu_short_file(answer);
    const size_t most = sizeof line->file - 1, length = strlen(file);
    memcpy(line->file, length > most ? file + length - most : file,
           length > most ? most : length);
    line->line = number;
    return true;
}

static bool ends_in(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* A header that gives CUDA's words a meaning. */
static bool is_of_words(const char *file)
{
    static const char *const headers[] = {"emu/words.h", "emu/atomics.h",
                                          "emu/numbers.h", "emu/vectors.h"};
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++)
        if (ends_in(file, headers[i])) return true;
    return false;
}

/* One more caller of what was inlined, from the inside out: the words of CUDA are passed
 * over, and behind a header the first line in a .cu file is kept as well. */
static void add_caller(struct tarn_emu_line *line, char *answer)
{
    struct tarn_emu_line caller = {.line = 0};
    if (!read_line(answer, &caller) || is_of_words(caller.file)) return;
    if (!line->line)
        *line = caller;
    else if (!line->from_line && !ends_in(line->file, ".cu") &&
             ends_in(caller.file, ".cu")) {
        memcpy(line->from_file, caller.file, sizeof line->from_file);
        line->from_line = caller.line;
    }
}

/* Places of one file, in one run of addr2line: "0x..." begins the answer for each. */
static void ask(const char *command, size_t count, struct tarn_emu_line *lines)
{
    char answer[PATH_MAX];
    size_t at = 0;
    FILE *pipe = popen(command, "r");
    while (pipe && fgets(answer, sizeof answer, pipe)) {
        if (strncmp(answer, "0x", 2) == 0)
            at++;
        else if (at > 0 && at <= count)
            add_caller(&lines[at - 1], answer);
    }
    if (pipe) pclose(pipe);
}

enum { AT_ONCE = 64, DIGITS = 24 };

/* Too much for the stack of a fiber. */
struct question {
    char file[PATH_MAX], next[PATH_MAX];
    char command[PATH_MAX + AT_ONCE * DIGITS + 64];
};

/* Asks for as many places as lie in the file of the first; gives how many. */
static size_t ask_for_some(struct question *q, const void *const *code, size_t count,
                           struct tarn_emu_line *lines)
{
    size_t address, n = 1;
    if (!file_of_code(code[0], q->file, &address)) return 1;
    int used = snprintf(q->command, sizeof q->command, "addr2line -a -i -e '%s' %#zx",
                        q->file, address);
    while (n < AT_ONCE && n < count && file_of_code(code[n], q->next, &address) &&
           strcmp(q->file, q->next) == 0) {
        used += snprintf(q->command + used, DIGITS, " %#zx", address);
        n++;
    }
    snprintf(q->command + used, DIGITS, " 2>/dev/null");
    ask(q->command, n, lines);
    return n;
}

void tarn_emu_lines(const void *const *code, size_t count, struct tarn_emu_line *lines)
{
    struct question *q = malloc(sizeof *q);
    memset(lines, 0, count * sizeof *lines);
    for (size_t i = 0; q && i < count;)
        i += ask_for_some(q, code + i, count - i, lines + i);
    free(q);
}

/* "cuda/tile.cuh:51 (from cuda/prefix.cu:106): ", or nothing. */
static struct tarn_emu_sentence place_text(const struct tarn_emu_line *l)
{
    if (!l->line) return tarn_emu_say("%s", "");
    if (!l->from_line) return tarn_emu_say("%s:%d: ", l->file, l->line);
    return tarn_emu_say("%s:%d (from %s:%d): ", l->file, l->line, l->from_file,
                        l->from_line);
}

/* ---- The message ------------------------------------------------------------------------------ */

static struct tarn_emu_sentence say(const char *format, va_list arguments)
{
    struct tarn_emu_sentence s;
    vsnprintf(s.text, sizeof s.text, format, arguments);
    return s;
}

struct tarn_emu_sentence tarn_emu_say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const struct tarn_emu_sentence s = say(format, arguments);
    va_end(arguments);
    return s;
}

static void accuse(struct tarn_emu_worker *w, struct tarn_emu_sentence place,
                   struct tarn_emu_sentence what) __attribute__((noreturn));

static void accuse(struct tarn_emu_worker *w, struct tarn_emu_sentence place,
                   struct tarn_emu_sentence what)
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
    const struct tarn_emu_sentence what = say(format, arguments);
    va_end(arguments);
    accuse(w,
           file ? tarn_emu_say("%s:%d: ", tarn_emu_short_file(file), line)
                : tarn_emu_say("%s", ""),
           what);
}

void tarn_emu_blame_code(struct tarn_emu_worker *w, const void *code,
                         const char *format, ...)
{
    va_list arguments;
    w->in_runtime = true;
    va_start(arguments, format);
    const struct tarn_emu_sentence what = say(format, arguments);
    va_end(arguments);
    struct tarn_emu_line line;
    tarn_emu_lines(&code, 1, &line);
    accuse(w, place_text(&line), what);
}
