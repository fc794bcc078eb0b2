/* What a cell can have of things that the kernel counts per user for all of a user namespace. Its namespace
 * keeps the limits that its maker has at that moment; only the soft ones, so that processes that had more
 * when they were dumped can be restored. */
#include "cell.h"

#include <sys/resource.h>

static const struct {
  __rlimit_resource_t resource;
  rlim_t most;
} limits[] = {
    {RLIMIT_SIGPENDING, 8192},
    {RLIMIT_MSGQUEUE, 819200}, /* the kernel's own default for one user */
    {RLIMIT_MEMLOCK, 8 << 20}, /* likewise */
};

void bound_counts(void) {
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
    struct rlimit limit;
    if (getrlimit(limits[i].resource, &limit)) die("getrlimit", "of a user namespace");
    if (limit.rlim_cur <= limits[i].most) continue;
    limit.rlim_cur = limits[i].most;
    if (setrlimit(limits[i].resource, &limit)) die("setrlimit", "of a user namespace");
  }
}
