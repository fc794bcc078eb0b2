/* What is taken away inside: capabilities and system calls. */
#define _GNU_SOURCE
#include "cell.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What container runtimes leave to root, without CAP_MKNOD. */
static const int kept_capabilities[] = {
    CAP_CHOWN,   CAP_DAC_OVERRIDE, CAP_FOWNER,           CAP_FSETID,  CAP_KILL,
    CAP_SETGID,  CAP_SETUID,       CAP_SETPCAP,          CAP_SETFCAP, CAP_NET_BIND_SERVICE,
    CAP_NET_RAW, CAP_SYS_CHROOT,   CAP_AUDIT_WRITE,
};

void drop_capabilities(void) {
  uint64_t kept = 0;
  for (size_t i = 0; i < sizeof kept_capabilities / sizeof *kept_capabilities; i++)
    kept |= 1ULL << kept_capabilities[i];
  for (int cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
    if (!(kept >> cap & 1) && prctl(PR_CAPBSET_DROP, cap, 0, 0, 0)) die("prctl", "bounding set");
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct data[2];
  for (int half = 0; half < 2; half++) {
    uint32_t word = (uint32_t)(kept >> (32 * half));
    data[half] = (struct __user_cap_data_struct){.effective = word, .permitted = word};
  }
  if (syscall(SYS_capset, &header, data)) die("capset", "kept capabilities");
}

#if defined(__x86_64__)
#define NATIVE_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE_ARCH AUDIT_ARCH_AARCH64
#else
#error "no seccomp filter for this architecture"
#endif

struct refusal {
  int call;
  int error;
};

/* ENOSYS where a program then takes another way, EPERM where it should give up.
 * io_uring, userfaultfd and new user namespaces cannot be dumped by CRIU. */
static const struct refusal refusals[] = {
    {SYS_io_uring_setup, ENOSYS}, {SYS_io_uring_enter, ENOSYS}, {SYS_io_uring_register, ENOSYS},
    {SYS_userfaultfd, ENOSYS},    {SYS_clone3, ENOSYS},         {SYS_bpf, EPERM},
    {SYS_perf_event_open, EPERM}, {SYS_keyctl, EPERM},          {SYS_add_key, EPERM},
    {SYS_request_key, EPERM},     {SYS_kexec_load, EPERM},      {SYS_init_module, EPERM},
    {SYS_finit_module, EPERM},    {SYS_delete_module, EPERM},   {SYS_open_by_handle_at, EPERM},
    {SYS_acct, EPERM},            {SYS_swapon, EPERM},          {SYS_swapoff, EPERM},
    {SYS_reboot, EPERM},          {SYS_settimeofday, EPERM},    {SYS_clock_settime, EPERM},
    {SYS_adjtimex, EPERM},        {SYS_clock_adjtime, EPERM},   {SYS_quotactl, EPERM},
    {SYS_lookup_dcookie, EPERM},  {SYS_syslog, EPERM},          {SYS_vhangup, EPERM},
    {SYS_fanotify_init, EPERM},   {SYS_setns, EPERM},           {SYS_process_madvise, EPERM},
    {SYS_move_pages, EPERM},      {SYS_mbind, EPERM},           {SYS_set_mempolicy, EPERM},
    {SYS_migrate_pages, EPERM},
#if defined(__x86_64__)
    {SYS_kexec_file_load, EPERM}, {SYS_iopl, EPERM},            {SYS_ioperm, EPERM},
    {SYS_uselib, ENOSYS},         {SYS_ustat, ENOSYS},          {SYS_sysfs, ENOSYS},
    {SYS_modify_ldt, ENOSYS},
#endif
};

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define REFUSE(error) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define SKIP_UNLESS_EQUAL(value, n) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (n))
#define SKIP_UNLESS_ANY(bits, n) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (bits), 0, (n))

/* clone and unshare carry their flags in the low word of the first argument. */
static size_t refuse_user_namespaces(struct sock_filter *at, int call) {
  const struct sock_filter part[] = {
      SKIP_UNLESS_EQUAL((uint32_t)call, 4), LOAD(args[0]),
      SKIP_UNLESS_ANY(CLONE_NEWUSER, 1),    REFUSE(EPERM),
      ALLOW,
  };
  memcpy(at, part, sizeof part);
  return sizeof part / sizeof *part;
}

void install_syscall_filter(void) {
  struct sock_filter code[16 + 2 * sizeof refusals / sizeof *refusals + 16];
  size_t n = 0;
  code[n++] = (struct sock_filter)LOAD(arch);
  code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NATIVE_ARCH, 1, 0);
  code[n++] = (struct sock_filter)REFUSE(ENOSYS);
  code[n++] = (struct sock_filter)LOAD(nr);
#if defined(__x86_64__)
  code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1); /* x32 */
  code[n++] = (struct sock_filter)REFUSE(ENOSYS);
#endif
  for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
    code[n++] = (struct sock_filter)SKIP_UNLESS_EQUAL((uint32_t)refusals[i].call, 1);
    code[n++] = (struct sock_filter)REFUSE((uint32_t)refusals[i].error);
  }
  n += refuse_user_namespaces(code + n, SYS_clone);
  n += refuse_user_namespaces(code + n, SYS_unshare);
  code[n++] = (struct sock_filter)ALLOW;
  struct sock_fprog program = {.len = (unsigned short)n, .filter = code};
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0)) die("prctl", "seccomp filter");
}
