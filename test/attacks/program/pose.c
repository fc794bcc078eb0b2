#include "modes.h"
int pose(const char *name) { return name ? 1 : 0; }
