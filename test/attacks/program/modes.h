#pragma once

int list_attacks(void);
int run_attacks(char **names);
int watch(const char *directory, char **passes);
int run_in_weak_place(const char *directory, char **names);
int pose(const char *name);
int list_poses(void);

/* Makes what attacks aim at and sets the variables that name it; the process answers looks from then on. */
void provide_targets(const char *directory, char **passes);
/* One line for each observed attack of the pass: NAME, kept or changed, DETAIL. */
void tell_observations(const char *pass);
void remove_targets(void);
/* In the weakened place, before an attack: nothing of it may reach the host. */
void weaken(long pretended);
