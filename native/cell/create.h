/* Makes a cell. */
#pragma once

void verb_create(char **words);
