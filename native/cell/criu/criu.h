/* What a cell needs before or after CRIU works on it. */
#pragma once

#include "spec.h"

/* restored.c */
void set_up_network(const struct spec *spec, pid_t pid);
void set_hostname(const char *hostname, pid_t pid);
void verb_hostname(char **words);

/* relink.c */
void verb_relink(char **words);
void verb_unlink(char **words);
void verb_names(char **words);

/* relock.c */
void verb_relock(char **words);
