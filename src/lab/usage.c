/* usage.c: what a child uses, as the system tells it. See usage.h. */
#include "lab/usage.h"
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Processes ---------------------------------------------------------------------------- */

static size_t read_small(const char *path, char *text, size_t room)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    const ssize_t n = read(file, text, room - 1);
    close(file);
    text[n > 0 ? n : 0] = '\0';
    return n > 0 ? (size_t)n : 0;
}

static void add_usage(struct tarn_usage *usage, long pid, int depth);

/* The children that one of a process's threads has started. */
static void add_children(struct tarn_usage *usage, long pid, const char *thread,
                         int depth)
{
    enum { MOST_CHILDREN = 4096 };
    char path[300], text[MOST_CHILDREN];
    snprintf(path, sizeof path, "/proc/%ld/task/%s/children", pid, thread);
    if (!read_small(path, text, sizeof text)) return;
    char *at = text, *end;
    for (long child = strtol(at, &end, 10); end != at; child = strtol(at, &end, 10)) {
        add_usage(usage, child, depth);
        at = end;
    }
}

/* What a process holds and has written, also into files that have no name any more. */
static void add_process(struct tarn_usage *usage, long pid)
{
    char path[64], text[400];
    unsigned long resident = 0;
    unsigned long long written = 0;
    snprintf(path, sizeof path, "/proc/%ld/statm", pid);
    if (read_small(path, text, sizeof text)) sscanf(text, "%*s %lu", &resident);
    snprintf(path, sizeof path, "/proc/%ld/io", pid);
    if (read_small(path, text, sizeof text))
        sscanf(text, "rchar: %*u wchar: %llu", &written);
    usage->memory += resident * (uint64_t)sysconf(_SC_PAGESIZE);
    usage->written += written;
    usage->processes++;
}

static void add_usage(struct tarn_usage *usage, long pid, int depth)
{
    enum { TOO_DEEP = 1000 }; /* processes: no compiler goes there */
    char path[64];
    add_process(usage, pid);
    if (depth == 0) usage->processes += TOO_DEEP;
    snprintf(path, sizeof path, "/proc/%ld/task", pid);
    DIR *threads = depth > 0 ? opendir(path) : NULL;
    for (const struct dirent *e; threads && (e = readdir(threads));)
        if (e->d_name[0] != '.') add_children(usage, pid, e->d_name, depth - 1);
    if (threads) closedir(threads);
}

struct tarn_usage tarn_usage_of(long pid)
{
    enum { GENERATIONS = 16 };
    struct tarn_usage usage = {0};
    add_usage(&usage, pid, GENERATIONS);
    return usage;
}

/* ---- Files --------------------------------------------------------------------------------- */

struct walk {
    uint64_t bytes;
    unsigned left; /* entries that may still come */
};

/* Adds a folder to what was found; false if there is too much to look at. */
static bool add_folder(struct walk *walk, int at, const char *name, int depth)
{
    const int here = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *folder = here >= 0 ? fdopendir(here) : NULL;
    if (!folder && here >= 0) close(here);
    bool fits = depth > 0;
    for (const struct dirent *e; fits && folder && (e = readdir(folder));) {
        struct stat is;
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
        if (fstatat(here, e->d_name, &is, AT_SYMLINK_NOFOLLOW) != 0) continue;
        enum { BLOCK = 512 };
        walk->bytes += (uint64_t)is.st_blocks * BLOCK;
        fits = walk->left-- > 0 &&
               (!S_ISDIR(is.st_mode) || add_folder(walk, here, e->d_name, depth - 1));
    }
    if (folder) closedir(folder);
    return fits;
}

uint64_t tarn_usage_of_folder(const char *path)
{
    enum { DEEPEST = 8, ENTRIES = 2000 };
    struct walk walk = {0, ENTRIES};
    return add_folder(&walk, AT_FDCWD, path, DEEPEST) ? walk.bytes : UINT64_MAX;
}
