/* Answers of CRIU over its RPC socket. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct answer {
  bool notifies; /* it waits for us at a step; otherwise it is done */
  bool success;
  pid_t pid;       /* of the first restored process, on the host */
  char script[32]; /* name of the step */
  char message[256];
};

void read_answer(const uint8_t *message, size_t length, struct answer *answer);
bool answer_notification(int socket, bool success);
