/* Calls that wait. Each is made once, and must end when it should, with the result that it should have. */
#pragma once

/* What a call returned: errno is 0 if it succeeded. */
struct outcome {
  long result;
  int error;
};

struct kind {
  const char *name;
  struct outcome (*wait)(double seconds);
  struct outcome expected;
};

extern const struct kind timed_kinds[], event_kinds[], timer_kinds[], raw_kinds[];

struct outcome outcome_of(long result);
struct timespec span_of(double seconds);
/* Runs ACT in another process after that time. */
void later(double seconds, void (*act)(long argument), long argument);
