/* Processes that share the host's files, except for one directory. */
#pragma once

void verb_plain(char **words);
