/* What is taken away inside: capabilities. For system calls see filter.c. */
#define _GNU_SOURCE
#include "cell.h"

#include <linux/capability.h>
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
