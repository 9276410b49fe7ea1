/* fence.c: limits of a child process, and the files it may use. See fence.h. */
#include "lab/fence.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined __has_include
#if __has_include(<linux/landlock.h>)
#include <linux/landlock.h>
#define HAVE_LANDLOCK 1
#endif
#endif

static int limit(__rlimit_resource_t what, uint64_t most, uint64_t hard)
{
    struct rlimit now, wanted = {most, hard};
    if (getrlimit(what, &now) != 0) return errno;
    if (wanted.rlim_max > now.rlim_max) wanted.rlim_max = now.rlim_max;
    if (wanted.rlim_cur > wanted.rlim_max) wanted.rlim_cur = wanted.rlim_max;
    return setrlimit(what, &wanted) == 0 ? 0 : errno;
}

int tarn_fence_limit(const struct tarn_fence *f)
{
    enum { DESCRIPTORS = 64, STACK = 8 << 20 };
    int problem = limit(RLIMIT_CORE, 0, 0);
    if (!problem) problem = limit(RLIMIT_NOFILE, DESCRIPTORS, DESCRIPTORS);
    if (!problem) problem = limit(RLIMIT_STACK, STACK, STACK);
    if (!problem && f->cpu_seconds)
        problem = limit(RLIMIT_CPU, f->cpu_seconds, f->cpu_seconds + 1);
    if (!problem && f->space) problem = limit(RLIMIT_AS, f->space, f->space);
    if (!problem && f->file_bytes)
        problem = limit(RLIMIT_FSIZE, f->file_bytes, f->file_bytes);
    return problem;
}

void tarn_fence_privileges(void)
{
    prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED, 0, 0, 0);
    for (int which = 0; prctl(PR_CAPBSET_DROP, which, 0, 0, 0) == 0;) which++;
}

#if HAVE_LANDLOCK

enum {
    READ = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE |
           LANDLOCK_ACCESS_FS_READ_DIR,
    EVERYTHING = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1, /* of the first version */
    TRUNCATE = 1 << 14,
    TRUNCATE_SINCE = 3,
    OF_A_FILE = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE |
                LANDLOCK_ACCESS_FS_WRITE_FILE | TRUNCATE
};

/* Allows what lies below each path. One that is not there needs no rule. */
static int allow(int rules, char *const *paths, uint64_t access)
{
    for (; paths && *paths; paths++) {
        struct stat is;
        const int at = open(*paths, O_PATH | O_CLOEXEC);
        if (at < 0) continue;
        struct landlock_path_beneath_attr rule = {access, at};
        if (fstat(at, &is) == 0 && !S_ISDIR(is.st_mode))
            rule.allowed_access &= OF_A_FILE;
        const long added =
            syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
        const int problem = added == 0 ? 0 : errno;
        close(at);
        if (problem) return problem;
    }
    return 0;
}

static long version(void)
{
    return syscall(SYS_landlock_create_ruleset, NULL, 0,
                   LANDLOCK_CREATE_RULESET_VERSION);
}

bool tarn_fence_has_files(void)
{
    return version() > 0;
}

int tarn_fence_files(const struct tarn_fence *f)
{
    const uint64_t handled = EVERYTHING | (version() >= TRUNCATE_SINCE ? TRUNCATE : 0);
    const struct landlock_ruleset_attr all = {.handled_access_fs = handled};
    if (!f->readable) return 0;
    const int rules = (int)syscall(SYS_landlock_create_ruleset, &all, sizeof all, 0);
    if (rules < 0) return errno == ENOSYS || errno == EOPNOTSUPP ? 0 : errno;
    int problem = allow(rules, f->readable, READ);
    if (!problem) problem = allow(rules, f->writable, handled);
    if (!problem && (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
                     syscall(SYS_landlock_restrict_self, rules, 0) != 0))
        problem = errno;
    close(rules);
    return problem;
}

#else

bool tarn_fence_has_files(void)
{
    return false;
}

int tarn_fence_files(const struct tarn_fence *f)
{
    (void)f;
    return 0;
}

#endif
