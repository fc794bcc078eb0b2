/* archive.c */
#pragma once

void verb_archive(char **words);
