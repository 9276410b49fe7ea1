/* filter.c: the filter of system calls, a program for the kernel's packet filter machine. See
 * fence.h.
 *
 * Each rule looks at the number of the call, some at an argument, and answers with an error
 * number, which a program can say something about, or with nothing. Where the architecture is
 * not known here there is no filter. */
#include "lab/fence.h"
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined __x86_64__
#define NATIVE AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define NATIVE AUDIT_ARCH_AARCH64
#endif

enum { ROOM = 400 };

struct program {
    struct sock_filter code[ROOM];
    unsigned short length;
};

#ifdef NATIVE

/* What neither a learner's program nor a compiler needs. */
static const int refused[] = {
    /* other processes, and ways to leave their group */
    SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_pidfd_open,
    SYS_pidfd_getfd, SYS_pidfd_send_signal, SYS_tkill, SYS_rt_sigqueueinfo,
    SYS_rt_tgsigqueueinfo, SYS_setpgid, SYS_setsid, SYS_setrlimit,
    /* the network; memory and messages that stay when a process has ended */
    SYS_socket, SYS_socketpair, SYS_bind, SYS_connect, SYS_sendmsg, SYS_sendmmsg,
    SYS_shmget, SYS_msgget, SYS_semget, SYS_mq_open,
    /* the machine */
    SYS_mount, SYS_umount2, SYS_move_mount, SYS_open_tree, SYS_fsopen, SYS_unshare,
    SYS_setns, SYS_chroot, SYS_pivot_root, SYS_keyctl, SYS_add_key, SYS_request_key,
    SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_io_uring_setup,
    SYS_open_by_handle_at, SYS_fanotify_init, SYS_init_module, SYS_finit_module,
    SYS_delete_module, SYS_kexec_load, SYS_reboot, SYS_swapon, SYS_swapoff, SYS_acct,
    SYS_syslog, SYS_sethostname, SYS_setdomainname, SYS_settimeofday, SYS_clock_settime,
    SYS_adjtimex, SYS_clock_adjtime};

/* What a learner's program does not need though a compiler may: to change what is known of
 * files, which rules of Landlock do not cover, and to hold memory or space on a disk that is
 * counted as nobody's. */
static const int refused_running[] = {
#ifdef SYS_chmod
    SYS_chmod,        SYS_chown,        SYS_lchown,       SYS_utime,
    SYS_utimes,       SYS_futimesat,    SYS_mknod,        SYS_link,
    SYS_symlink,      SYS_unlink,       SYS_rmdir,
#endif
    SYS_fchmod,       SYS_fchmodat,     SYS_fchown,       SYS_fchownat,
    SYS_utimensat,    SYS_setxattr,     SYS_lsetxattr,    SYS_fsetxattr,
    SYS_removexattr,  SYS_lremovexattr, SYS_fremovexattr, SYS_truncate,
    SYS_mknodat,      SYS_linkat,       SYS_symlinkat,    SYS_unlinkat,
    SYS_memfd_create, SYS_fallocate};

/* Calls from here on are younger than this list. */
enum { FIRST_UNKNOWN = 450 };

static void add(struct program *p, uint16_t code, uint32_t k, uint8_t yes, uint8_t no)
{
    if (p->length < ROOM) p->code[p->length++] = (struct sock_filter){code, yes, no, k};
}

static void load(struct program *p, size_t offset)
{
    add(p, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

/* Ends with an answer if what was loaded is, or is not, this value. */
static void answer_if(struct program *p, uint32_t value, bool equal, uint32_t answer)
{
    add(p, BPF_JMP | BPF_JEQ | BPF_K, value, equal ? 0 : 1, equal ? 1 : 0);
    add(p, BPF_RET | BPF_K, answer, 0, 0);
}

static uint32_t refusal(int problem)
{
    return SECCOMP_RET_ERRNO | (uint32_t)problem;
}

static void refuse(struct program *p, const int *calls, size_t count)
{
    for (size_t i = 0; i < count; i++)
        answer_if(p, (uint32_t)calls[i], true, refusal(EPERM));
}

static size_t low_half(int argument)
{
    return offsetof(struct seccomp_data, args) + 8 * (size_t)argument;
}

/* The rules behind one call's number: `count` instructions that are left out for any other. */
static size_t begin_call(struct program *p, int number)
{
    load(p, offsetof(struct seccomp_data, nr));
    add(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 0);
    return p->length;
}

static void end_call(struct program *p, size_t from)
{
    add(p, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
    p->code[from - 1].jf = (uint8_t)(p->length - from);
}

/* A signal goes to the process itself or nowhere. Behind bwrap the number is another one, and
 * there is nobody else: no rule is needed. */
static void own_signals(struct program *p, int number, pid_t self)
{
    const size_t from = begin_call(p, number);
    load(p, low_half(0));
    answer_if(p, (uint32_t)self, false, refusal(EPERM));
    end_call(p, from);
}

/* For those that are to stay alone. */
static void no_processes(struct program *p, bool threads)
{
#ifdef SYS_fork
    load(p, offsetof(struct seccomp_data, nr));
    answer_if(p, SYS_fork, true, refusal(EAGAIN));
    answer_if(p, SYS_vfork, true, refusal(EAGAIN));
#endif
    const size_t from = begin_call(p, SYS_clone);
    load(p, low_half(0));
    add(p, BPF_ALU | BPF_AND | BPF_K, CLONE_THREAD, 0, 0);
    answer_if(p, CLONE_THREAD, !threads, refusal(EAGAIN));
    if (!threads) add(p, BPF_RET | BPF_K, refusal(EAGAIN), 0, 0);
    end_call(p, from);
}

/* What it may need is there: who makes a folder to be sure of it hears just that. */
static void no_folders(struct program *p)
{
#ifdef SYS_mkdir
    answer_if(p, SYS_mkdir, true, refusal(EEXIST));
#endif
    answer_if(p, SYS_mkdirat, true, refusal(EEXIST));
}

/* Memory that is shared may stay when it is no longer mapped, and so is not counted. */
static void own_memory(struct program *p)
{
    const size_t from = begin_call(p, SYS_mmap);
    load(p, low_half(3));
    add(p, BPF_ALU | BPF_AND | BPF_K, MAP_SHARED, 0, 0);
    answer_if(p, MAP_SHARED, true, refusal(EPERM));
    end_call(p, from);
}

/* Who dies with this program, is counted as its child and can be looked at stays so. */
static void own_state(struct program *p)
{
    static const uint32_t kept[] = {PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER,
                                    PR_SET_DUMPABLE};
    const size_t from = begin_call(p, SYS_prctl);
    load(p, low_half(0));
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        answer_if(p, kept[i], true, refusal(EPERM));
    end_call(p, from);
}

/* A child is that of who made it, and so is counted. */
static void own_children(struct program *p)
{
    const size_t from = begin_call(p, SYS_clone);
    load(p, low_half(0));
    add(p, BPF_ALU | BPF_AND | BPF_K, CLONE_PARENT, 0, 0);
    answer_if(p, CLONE_PARENT, true, refusal(EPERM));
    end_call(p, from);
}

/* Limits may be asked for, but not changed. */
static void own_limits(struct program *p)
{
    const size_t from = begin_call(p, SYS_prlimit64);
    load(p, low_half(2));
    answer_if(p, 0, false, refusal(EPERM));
    load(p, low_half(2) + 4);
    answer_if(p, 0, false, refusal(EPERM));
    end_call(p, from);
}

static void write_program(struct program *p, const struct tarn_fence *fence, pid_t self)
{
    p->length = 0;
    load(p, offsetof(struct seccomp_data, arch));
    answer_if(p, NATIVE, false, SECCOMP_RET_KILL_PROCESS);
    load(p, offsetof(struct seccomp_data, nr));
#ifdef __x86_64__
    enum { X32 = 0x40000000 }; /* the same calls under other numbers */
    add(p, BPF_JMP | BPF_JGE | BPF_K, X32, 0, 1);
    add(p, BPF_RET | BPF_K, refusal(ENOSYS), 0, 0);
#endif
    add(p, BPF_JMP | BPF_JGE | BPF_K, FIRST_UNKNOWN, 0, 1);
    add(p, BPF_RET | BPF_K, refusal(ENOSYS), 0, 0);
    answer_if(p, SYS_clone3, true, refusal(ENOSYS)); /* its flags lie in memory */
    refuse(p, refused, sizeof refused / sizeof *refused);
    if (fence->running) {
        refuse(p, refused_running, sizeof refused_running / sizeof *refused_running);
        no_folders(p);
        own_memory(p);
    }
    own_state(p);
    if (fence->alone)
        no_processes(p, fence->threads);
    else
        own_children(p);
    own_limits(p);
    if (self) own_signals(p, SYS_kill, self);
    if (self) own_signals(p, SYS_tgkill, self);
    add(p, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
}

int tarn_fence_filter(const struct tarn_fence *fence)
{
    struct program program;
    write_program(&program, fence, getpid());
    struct sock_fprog given = {program.length, program.code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
    /* A kernel without seccomp refuses nothing. */
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &given) != 0 && errno != EINVAL)
        return errno;
    return 0;
}

int tarn_fence_filter_file(const struct tarn_fence *fence)
{
    struct program program;
    write_program(&program, fence, 0);
    const size_t bytes = program.length * sizeof *program.code;
    const int file = memfd_create("filter", MFD_CLOEXEC);
    if (file < 0) return -1;
    if (write(file, program.code, bytes) == (ssize_t)bytes &&
        lseek(file, 0, SEEK_SET) == 0)
        return file;
    close(file);
    return -1;
}

#else

int tarn_fence_filter(const struct tarn_fence *fence)
{
    (void)fence;
    return 0;
}

int tarn_fence_filter_file(const struct tarn_fence *fence)
{
    (void)fence;
    return -1;
}

#endif
