/* Programs that say something, wait until they are told something, and then end. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "io.h"
#include "keeper.h"
#include "shared/owned.h"

/* Both answers are due in any case. */
static void fail_talk(const struct request *request, const struct error *error) {
  answer(&(struct child){.id = request->id}, 0);
  answer_failure(request, error);
}

void start_talk(const struct request *request) {
  struct error error;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC)) {
    error_set(&error, errno, "pipe2");
    return fail_talk(request, &error);
  }
  autoclose int input = ends[1];
  struct child *child = start_child(request, become_program, ends[0], &error);
  if (!child) return fail_talk(request, &error);
  child->input = take_fd(&input);
  child->talks = true;
}

/* If it has ended meanwhile, its end was the answer. */
void continue_talk(const struct request *request) {
  for (size_t i = 0; i < child_count; i++) {
    struct child *child = children[i];
    if (child->id != request->id || !child->talks || child->input < 0) continue;
    write_all(child->input, request->input, request->input_length);
    close(child->input);
    child->input = -1;
  }
}

void answer_line(struct child *child) {
  if (!child->talks || child->has_said || !child->out.length) return;
  if (!memchr(child->out.text, '\n', child->out.length)) return;
  child->has_said = true;
  answer(&(struct child){.id = child->id, .out = child->out}, 0);
  child->out.length = 0;
}
