/*
 * Runs a program as if all its private anonymous memory were backed by a file: what it frees with
 * madvise(MADV_DONTNEED), and what mremap adds, reads as old bytes instead of zeros.
 *
 *   stale-memory PROGRAM [ARGUMENT...]
 *
 * The last line on standard error says how many pages were freed and how many were added.
 * Exits as the program does; 128 + its number after a signal.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096UL
#define STALE 0xdb
#define MOST_TASKS 4096

/* A task between the entry and the end of a system call that we follow. */
struct call {
    pid_t tid;
    long number;
    unsigned long args[6];
    unsigned char *present; /* one byte per page of what is freed */
};

static struct call calls[MOST_TASKS];
static unsigned long pages_discarded, pages_added, calls_failed;

static void fail(const char *what)
{
    perror(what);
    exit(99);
}

static struct call *call_of(pid_t tid)
{
    struct call *empty = NULL;
    for (int i = 0; i < MOST_TASKS; i++) {
        if (calls[i].tid == tid)
            return &calls[i];
        if (!empty && calls[i].tid == 0)
            empty = &calls[i];
    }
    if (!empty)
        fail("too many tasks");
    empty->tid = tid;
    return empty;
}

static void trace_calls(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mremap, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { sizeof filter / sizeof *filter, filter };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        fail("no_new_privs");
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        fail("seccomp");
}

static int open_of(pid_t tid, const char *name, int flags)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", tid, name);
    return open(path, flags | O_CLOEXEC);
}

/*
 * The end of the stretch of private anonymous memory (also the heap and named areas) that contains
 * the address; 0 if something else does.
 */
static unsigned long anonymous_until(pid_t tid, unsigned long address)
{
    char path[64], line[8192];
    snprintf(path, sizeof path, "/proc/%d/maps", tid);
    FILE *maps = fopen(path, "re");
    unsigned long until = 0;
    while (maps && fgets(line, sizeof line, maps)) {
        unsigned long start, end, inode = 1;
        char mode[8] = "";
        if (sscanf(line, "%lx-%lx %7s %*s %*s %lu", &start, &end, mode, &inode) != 4)
            continue;
        if (start <= address && address < end) {
            until = inode == 0 && mode[3] == 'p' && !strstr(line, "[stack]") ? end : 0;
            break;
        }
    }
    if (maps)
        fclose(maps);
    return until;
}

static void remember_present(struct call *call)
{
    unsigned long pages = (call->args[1] + PAGE - 1) / PAGE;
    call->present = calloc(pages ? pages : 1, 1);
    int file = open_of(call->tid, "pagemap", O_RDONLY);
    if (!call->present || file < 0)
        fail("pagemap");
    for (unsigned long i = 0; i < pages;) {
        uint64_t entries[512];
        unsigned long want = pages - i < 512 ? pages - i : 512;
        if (pread(file, entries, want * 8, (call->args[0] / PAGE + i) * 8) != (ssize_t)(want * 8))
            break;
        for (unsigned long k = 0; k < want; k++)
            call->present[i + k] = entries[k] >> 63;
        i += want;
    }
    close(file);
}

static int make_stale(int memory, unsigned long address, unsigned long length)
{
    static unsigned char stale[64 * 1024];
    memset(stale, STALE, sizeof stale);
    for (unsigned long done = 0; done < length;) {
        unsigned long part = length - done < sizeof stale ? length - done : sizeof stale;
        ssize_t n = pwrite(memory, stale, part, address + done);
        if (n <= 0)
            return -1;
        done += n;
    }
    return 0;
}

static void discarded(struct call *call)
{
    int memory = open_of(call->tid, "mem", O_RDWR);
    unsigned long pages = (call->args[1] + PAGE - 1) / PAGE, until = 0;
    for (unsigned long i = 0; i < pages; i++) {
        unsigned long address = call->args[0] + i * PAGE;
        if (!call->present[i])
            continue;
        if (address >= until && !(until = anonymous_until(call->tid, address)))
            continue;
        if (make_stale(memory, address, PAGE))
            calls_failed++;
        else
            pages_discarded++;
    }
    close(memory);
}

static void grown(struct call *call, unsigned long to)
{
    unsigned long before = call->args[1], after = call->args[2];
    if (after <= before || !anonymous_until(call->tid, to + before))
        return;
    int memory = open_of(call->tid, "mem", O_RDWR);
    unsigned long bytes = after - before < (64UL << 20) ? after - before : 64UL << 20;
    if (make_stale(memory, to + before, bytes))
        calls_failed++;
    else
        pages_added += bytes / PAGE;
    close(memory);
}

static void entered(pid_t tid)
{
    struct call *call = call_of(tid);
    struct user_regs_struct r;
    if (ptrace(PTRACE_GETREGS, tid, 0, &r))
        return;
    call->number = r.orig_rax;
    memcpy(call->args, (unsigned long[]){ r.rdi, r.rsi, r.rdx, r.r10, r.r8, r.r9 },
           sizeof call->args);
    if (call->number == SYS_madvise && call->args[2] == MADV_DONTNEED)
        remember_present(call);
}

static void left(pid_t tid)
{
    struct call *call = call_of(tid);
    struct user_regs_struct r;
    if (ptrace(PTRACE_GETREGS, tid, 0, &r) == 0) {
        if (call->present && r.rax == 0)
            discarded(call);
        if (call->number == SYS_mremap && (long)r.rax > 0)
            grown(call, r.rax);
    }
    free(call->present);
    memset(call, 0, sizeof *call);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 98;
    pid_t first = fork();
    if (first < 0)
        fail("fork");
    if (first == 0) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        raise(SIGSTOP);
        trace_calls();
        execvp(argv[1], argv + 1);
        fail(argv[1]);
    }
    int status, result = 97;
    waitpid(first, &status, 0);
    ptrace(PTRACE_SETOPTIONS, first, 0,
           PTRACE_O_TRACESECCOMP | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
               PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
    ptrace(PTRACE_CONT, first, 0, 0);
    for (;;) {
        pid_t tid = waitpid(-1, &status, __WALL);
        if (tid < 0)
            break;
        if (WIFEXITED(status) || WIFSIGNALED(status)) {
            if (tid == first)
                result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            struct call *c = call_of(tid);
            free(c->present);
            memset(c, 0, sizeof *c);
            continue;
        }
        int signal = WSTOPSIG(status), event = status >> 16;
        if (event == PTRACE_EVENT_SECCOMP) {
            entered(tid);
            ptrace(PTRACE_SYSCALL, tid, 0, 0);
        } else if (signal == (SIGTRAP | 0x80)) {
            left(tid);
            ptrace(PTRACE_CONT, tid, 0, 0);
        } else if (event) {
            ptrace(PTRACE_CONT, tid, 0, 0);
        } else {
            ptrace(PTRACE_CONT, tid, 0, signal == SIGSTOP ? 0 : signal);
        }
    }
    fprintf(stderr, "stale: %lu pages freed, %lu added, %lu writes failed\n", pages_discarded,
            pages_added, calls_failed);
    return result;
}
