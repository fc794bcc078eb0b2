/* Attributes that only the thread itself can change. It makes the call for us, before its first instruction. */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "attributes.h"
#include "registers.h"

/* Missing in older headers. */
#define SET_DENIAL 65 /* PR_SET_MDWE */
#define MOST_DENIAL 3 /* both of its flags */
#define SYS_SEAL 462  /* mseal */
#define ON_FAULT 1    /* MLOCK_ONFAULT */
#define BELOW 1024    /* bytes below the stack that the injected call may use itself */

int ask_inside(const struct target *target, long number, const uint64_t arguments[6], long *result) {
  struct error error;
  if (inject_syscall(target->group, target->in_group, number, arguments, result, &error))
    return error.code ? error.code : EIO;
  return *result < 0 ? (int)-*result : 0;
}

int make_inside(const struct target *target, long number, const uint64_t arguments[6]) {
  long ignored;
  return ask_inside(target, number, arguments, &ignored);
}

int place_inside(const struct target *target, const void *bytes, size_t size, uint64_t *at) {
  struct error error;
  registers regs;
  if (get_registers(target->thread, &regs, &error)) return error.code ? error.code : EIO;
  *at = (STACK(&regs) - RED_ZONE - BELOW - size) & ~15ULL;
  return write_memory(target->process, *at, bytes, size, &error) ? error.code ? error.code : EIO : 0;
}

int put_personality(const struct target *target, const char *value) {
  unsigned long personality;
  if (!parse_number(value, UINT32_MAX - 1, &personality)) return EINVAL; /* the last one only asks */
  return make_inside(target, SYS_personality, (uint64_t[6]){personality});
}

int put_machine_checks(const struct target *target, const char *value) {
  unsigned long policy;
  if (!parse_number(value, PR_MCE_KILL_EARLY, &policy)) return EINVAL;
  return make_inside(target, SYS_prctl, (uint64_t[6]){PR_MCE_KILL, PR_MCE_KILL_SET, policy});
}

int put_denial(const struct target *target, const char *value) {
  unsigned long flags;
  if (!parse_number(value, MOST_DENIAL, &flags)) return EINVAL;
  return make_inside(target, SYS_prctl, (uint64_t[6]){SET_DENIAL, flags});
}

/* START-END, in hexadecimal. */
static bool parse_area(const char *value, unsigned long *start, unsigned long *length) {
  unsigned long end;
  int at = 0;
  if (sscanf(value, "%lx-%lx%n", start, &end, &at) != 2 || value[at] || end <= *start) return false;
  *length = end - *start;
  return true;
}

int put_seal(const struct target *target, const char *value) {
  unsigned long start, length;
  return parse_area(value, &start, &length) ? make_inside(target, SYS_SEAL, (uint64_t[6]){start, length}) : EINVAL;
}

int put_lock(const struct target *target, const char *value) {
  unsigned long start, length;
  if (!parse_area(value, &start, &length)) return EINVAL;
  return make_inside(target, SYS_mlock2, (uint64_t[6]){start, length, ON_FAULT});
}
