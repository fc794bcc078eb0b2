#define _GNU_SOURCE
#include "history.h"

#include <stdlib.h>
#include <string.h>

#include "command-stream.h"
#include "fields.h"

/* How many are remembered, and how much of the text of each: every snapshot has them in the agent's memory. */
#define REMEMBERED 512
#define REMEMBERED_TEXT 400

struct past {
  struct list link;
  size_t length;
  uint8_t record[];
};

static struct list history = LIST_INIT(history);
static int remembered;

static void put_past(struct buffer *records, const struct command *command) {
  size_t record = record_begin(records);
  put_string(records, KEY_ID, command->id);
  put_int(records, KEY_MODE_EXEC, command->mode);
  if (command->in_copy) put_int(records, KEY_FLAGS, EXEC_IN_COPY);
  if (command->shell) put_string(records, KEY_SHELL, command->shell);
  put_bytes(records, KEY_COMMAND, command->text, strnlen(command->text, REMEMBERED_TEXT));
  put_int(records, KEY_STARTED_MS, command->started_ms);
  put_int(records, KEY_ENDED_MS, command->ended_ms);
  put_int(records, KEY_DURATION_US, command->duration_us);
  command_put_outcome(records, command);
  record_end(records, record);
}

static void drop_oldest(void) {
  struct past *past = container_of(history.next, struct past, link);
  list_remove(&past->link);
  free(past);
  remembered--;
}

void history_add(const struct command *command) {
  autobuffer struct buffer record = {0};
  put_past(&record, command);
  struct past *past = record.failed ? NULL : malloc(sizeof *past + record.length);
  if (!past) return;
  past->length = record.length;
  memcpy(past->record, buffer_bytes(&record), record.length);
  list_append(&history, &past->link);
  if (++remembered > REMEMBERED) drop_oldest();
}

void history_put(struct buffer *records) {
  list_for_each(node, &history) {
    const struct past *past = container_of(node, struct past, link);
    buffer_append(records, past->record, past->length);
  }
  list_for_each(node, &commands) {
    const struct command *command = container_of(node, struct command, link);
    if (command->state >= COMMAND_ENDING && !command->is_last) put_past(records, command);
  }
}
