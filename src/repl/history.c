/* history.c: the file that keeps what was typed. See history.h. */
#include "repl/history.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Gives "prefix" "suffix" in fresh memory. */
static char *join(const char *prefix, const char *suffix)
{
    size_t size = strlen(prefix) + strlen(suffix) + 1;
    char *joined = malloc(size);
    if (joined) snprintf(joined, size, "%s%s", prefix, suffix);
    return joined;
}

/* Makes the folders above a file, private to the user. */
static void make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700); /* if this fails, so will opening the file */
        *slash = '/';
    }
}

char *tarn_history_path(const char *file)
{
    if (!file) file = getenv("TARN_HISTORY");
    const char *state = getenv("XDG_STATE_HOME");
    const char *home = getenv("HOME");
    char *path = NULL;
    if (file) return *file ? join(file, "") : NULL;
    if (state && *state == '/')
        path = join(state, "/tarn/history");
    else if (home)
        path = join(home, "/.local/state/tarn/history");
    if (path) make_folders(path);
    return path;
}

/* Opens and locks the file. Another session may have put a new one in its place while we
 * waited for the lock: then again. */
static int open_locked(const char *path)
{
    for (;;) {
        int fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
        struct stat opened, named;
        if (fd < 0) return -1;
        if (flock(fd, LOCK_EX) == 0 && fstat(fd, &opened) == 0 &&
            stat(path, &named) == 0 && opened.st_ino == named.st_ino &&
            opened.st_dev == named.st_dev)
            return fd;
        close(fd);
        if (errno != 0 && errno != ENOENT && errno != EINTR) return -1;
    }
}

static bool write_all(int fd, const char *bytes, size_t count)
{
    while (count > 0) {
        ssize_t written = write(fd, bytes, count);
        if (written < 0 && errno != EINTR) return false;
        if (written < 0) continue;
        bytes += written;
        count -= (size_t)written;
    }
    return true;
}

bool tarn_history_append(const char *path, const char *input)
{
    size_t size = strlen(input) + 32;
    char *entry = malloc(size);
    if (!entry) return false;
    int length = snprintf(entry, size, "#%lld\n%s\n", (long long)time(NULL), input);
    int fd = open_locked(path);
    bool ok = fd >= 0 && write_all(fd, entry, (size_t)length);
    if (fd >= 0 && close(fd) != 0) ok = false;
    free(entry);
    return ok;
}

/* True if an input begins at this line: a time stamp. */
static bool is_stamp(const char *line)
{
    return line[0] == '#' && line[1] >= '0' && line[1] <= '9';
}

/* Counts the inputs in a history, and finds where the last `keep` of them begin. */
static size_t count_inputs(const char *text, size_t keep, const char **tail)
{
    size_t count = 0, passed = 0;
    for (const char *line = text; line; line = strchr(line, '\n')) {
        if (*line == '\n') line++;
        if (is_stamp(line)) count++;
    }
    *tail = text;
    for (const char *line = text; line && count > keep; line = strchr(line, '\n')) {
        if (*line == '\n') line++;
        if (is_stamp(line) && passed++ == count - keep) {
            *tail = line;
            break;
        }
    }
    return count;
}

/* Reads all of an open file as a string. */
static char *read_all(int fd)
{
    struct stat status;
    if (fstat(fd, &status) != 0) return NULL;
    size_t size = (size_t)status.st_size;
    char *text = malloc(size + 1);
    ssize_t got = text ? pread(fd, text, size, 0) : -1;
    if (got < 0) {
        free(text);
        return NULL;
    }
    text[got] = '\0';
    return text;
}

/* Puts `tail` in the place of the file, all or nothing. */
static void replace(const char *path, const char *tail)
{
    char *temporary = join(path, ".new");
    if (!temporary) return;
    int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd >= 0) {
        bool ok = write_all(fd, tail, strlen(tail));
        if (close(fd) != 0 || !ok || rename(temporary, path) != 0) unlink(temporary);
    }
    free(temporary);
}

void tarn_history_trim(const char *path)
{
    if (access(path, F_OK) != 0) return;
    int fd = open_locked(path);
    if (fd < 0) return;
    const char *tail;
    char *text = read_all(fd);
    if (text && count_inputs(text, TARN_HISTORY_CAP, &tail) > 2 * TARN_HISTORY_CAP)
        replace(path, tail);
    free(text);
    close(fd);
}
