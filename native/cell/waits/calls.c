#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>

#include "waits.h"

#if defined(__x86_64__)

static const struct {
  long number;
  struct call call;
} table[] = {
    {SYS_nanosleep, {ENDED, SPAN, 0, 1}},
    {SYS_clock_nanosleep, {ENDED, SPAN, 2, 3}},
    {SYS_poll, {ENDED, MILLISECONDS, 2, -1}},
    {SYS_epoll_wait, {ENDED, MILLISECONDS, 3, -1}},
    {SYS_epoll_pwait, {ENDED, MILLISECONDS, 3, -1}},
    {SYS_epoll_pwait2, {ENDED, SPAN, 3, -1}},
    {SYS_futex, {ENDED, SPAN, 3, -1}},
    {SYS_semop, {ENDED, NO_LIMIT, 0, -1}},
    {SYS_semtimedop, {ENDED, SPAN, 3, -1}},
    {SYS_rt_sigtimedwait, {ENDED, SPAN, 2, -1}},
    {SYS_io_getevents, {ENDED, SPAN, 4, -1}},
    {SYS_io_pgetevents, {ENDED, SPAN, 4, -1}},
    /* With a time-out of the socket; else they are restarted. */
    {SYS_accept, {ENDED, RECEIVING, 0, -1}},
    {SYS_accept4, {ENDED, RECEIVING, 0, -1}},
    {SYS_connect, {ENDED, SENDING, 0, -1}},
    {SYS_read, {ENDED, RECEIVING, 0, -1}},
    {SYS_readv, {ENDED, RECEIVING, 0, -1}},
    {SYS_write, {ENDED, SENDING, 0, -1}},
    {SYS_writev, {ENDED, SENDING, 0, -1}},
    {SYS_recvfrom, {ENDED, RECEIVING, 0, -1}},
    {SYS_recvmsg, {ENDED, RECEIVING, 0, -1}},
    {SYS_recvmmsg, {ENDED, RECEIVING, 0, -1}},
    {SYS_sendto, {ENDED, SENDING, 0, -1}},
    {SYS_sendmsg, {ENDED, SENDING, 0, -1}},
    {SYS_sendmmsg, {ENDED, SENDING, 0, -1}},
    {SYS_select, {NO_HANDLER, TIME_LEFT, 4, -1}},
    {SYS_pselect6, {NO_HANDLER, SPAN_LEFT, 4, -1}},
    {SYS_ppoll, {NO_HANDLER, SPAN_LEFT, 2, -1}},
    {SYS_pause, {NO_HANDLER, NO_LIMIT, 0, -1}},
    {SYS_rt_sigsuspend, {NO_HANDLER, NO_LIMIT, 0, -1}},
    {SYS_msgrcv, {NO_HANDLER, NO_LIMIT, 0, -1}},
    {SYS_msgsnd, {NO_HANDLER, NO_LIMIT, 0, -1}},
    {SYS_wait4, {RESTARTED, NO_LIMIT, 0, -1}},
    {SYS_waitid, {RESTARTED, NO_LIMIT, 0, -1}},
    {SYS_flock, {RESTARTED, NO_LIMIT, 0, -1}},
    {SYS_fcntl, {RESTARTED, NO_LIMIT, 0, -1}},
    {SYS_mq_timedreceive, {RESTARTED, NO_LIMIT, 0, -1}},
    {SYS_mq_timedsend, {RESTARTED, NO_LIMIT, 0, -1}},
};

static struct call without_limit(struct call call) {
  call.limit = NO_LIMIT;
  return call;
}

/* Where the limit is a moment, or there is none. */
static struct call with_arguments(long number, struct call call, const uint64_t arguments[ARGUMENTS]) {
  const struct call kept = {KEPT, NO_LIMIT, 0, -1};
  if (call.limit == MILLISECONDS && (int)arguments[call.argument] < 0) return without_limit(call);
  bool is_pointer = call.limit == SPAN || call.limit == SPAN_LEFT || call.limit == TIME_LEFT;
  if (is_pointer && !arguments[call.argument]) return without_limit(call);
  if (number == SYS_clock_nanosleep && arguments[1] & TIMER_ABSTIME) return (struct call){NO_HANDLER, NO_LIMIT, 0, -1};
  if (number != SYS_futex) return call;
  switch (arguments[1] & FUTEX_CMD_MASK) {
    case FUTEX_WAIT: return call;
    case FUTEX_WAIT_BITSET: return without_limit(call);
    default: return kept;
  }
}

struct call call_of(long number, const uint64_t arguments[ARGUMENTS]) {
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (table[i].number == number) return with_arguments(number, table[i].call, arguments);
  return (struct call){KEPT, NO_LIMIT, 0, -1};
}

#else

struct call call_of(long number, const uint64_t arguments[ARGUMENTS]) {
  (void)number, (void)arguments;
  return (struct call){KEPT, NO_LIMIT, 0, -1};
}

#endif
