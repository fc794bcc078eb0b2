#define _GNU_SOURCE
#include "user.h"

#include <errno.h>
#include <grp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util.h"

#define DATABASE_LIMIT (4 << 20)
#define MAX_COLUMNS 7

static const char *default_user;

void user_set_default(const char *name) { default_user = name; }

/* (uid_t)-1 means "unchanged" to the kernel, so it is not an id. */
static bool parse_id(const char *text, uint32_t *id) {
  char *end;
  if (!text || *text < '0' || *text > '9') return false;
  errno = 0;
  unsigned long long value = strtoull(text, &end, 10);
  if (errno || *end || value >= UINT32_MAX) return false;
  *id = value;
  return true;
}

/* Cuts the next line of *TEXT into its columns, which colons separate. Returns their number, or -1 at the end. */
static int next_row(char **text, char *columns[MAX_COLUMNS]) {
  char *line = strsep(text, "\n");
  int count = 0;
  if (!line) return -1;
  while (line && count < MAX_COLUMNS) columns[count++] = strsep(&line, ":");
  return count;
}

static int fill(struct user *user, const char *name, const char *home, const char *shell, struct error *error) {
  user->name = strdup(name);
  user->home = strdup(home);
  user->shell = strdup(shell);
  return user->name && user->home && user->shell ? 0 : error_set(error, ENOMEM, "malloc");
}

/* Fills USER from the row of /etc/passwd with this name or this id. */
static int find_in_passwd(struct user *user, const char *name, struct error *error) {
  autofree char *text = read_small_file("/etc/passwd", DATABASE_LIMIT);
  int unreadable = text || errno == ENOENT ? 0 : errno;
  char *rest = text, *columns[MAX_COLUMNS];
  uint32_t wanted;
  bool by_id = parse_id(name, &wanted);
  for (int count; (count = next_row(&rest, columns)) >= 0;) {
    if (count < 6 || !parse_id(columns[2], &user->uid) || !parse_id(columns[3], &user->gid)) continue;
    if (by_id ? user->uid != wanted : strcmp(columns[0], name)) continue;
    return fill(user, columns[0], columns[5], count > 6 && *columns[6] ? columns[6] : "/bin/sh", error);
  }
  if (!by_id && unreadable) return error_set(error, unreadable, "read '/etc/passwd'");
  if (!by_id) return error_refuse(error, ENOENT, "user '%s' is not in /etc/passwd", name);
  /* As in a container, an id without a row is still a user; whatever the sandbox did to the file. */
  user->uid = user->gid = wanted;
  return fill(user, name, wanted ? "/" : "/root", "/bin/sh", error);
}

static bool lists_member(char *members, const char *name) {
  char *member;
  while ((member = strsep(&members, ",")))
    if (!strcmp(member, name)) return true;
  return false;
}

/* Without a readable file, the user has only their own group. */
static void collect_groups(struct user *user) {
  autofree char *text = read_small_file("/etc/group", DATABASE_LIMIT);
  char *rest = text, *columns[MAX_COLUMNS];
  uint32_t gid;
  user->groups[user->group_count++] = user->gid;
  for (int count; (count = next_row(&rest, columns)) >= 0;)
    if (count >= 4 && user->group_count < MAX_GROUPS && parse_id(columns[2], &gid) && gid != user->gid &&
        lists_member(columns[3], user->name))
      user->groups[user->group_count++] = gid;
}

static int find_group(gid_t *gid, const char *name, struct error *error) {
  if (parse_id(name, gid)) return 0;
  autofree char *text = read_small_file("/etc/group", DATABASE_LIMIT);
  if (!text && errno != ENOENT) return error_set(error, errno, "read '/etc/group'");
  char *rest = text, *columns[MAX_COLUMNS];
  uint32_t id;
  for (int count; (count = next_row(&rest, columns)) >= 0;)
    if (count >= 3 && !strcmp(columns[0], name) && parse_id(columns[2], &id)) {
      *gid = id;
      return 0;
    }
  return error_refuse(error, ENOENT, "group '%s' is not in /etc/group", name);
}

int user_find(struct user *user, const char *spec, struct error *error) {
  memset(user, 0, sizeof *user);
  if (!spec || !*spec) spec = default_user;
  autofree char *name = spec && *spec ? strdup(spec) : format("%u", getuid());
  if (!name) return error_set(error, ENOMEM, "malloc");
  char *group = strchr(name, ':');
  if (group) *group++ = 0;
  if (!*name || (group && !*group)) return error_refuse(error, EINVAL, "user '%s' is not USER or USER:GROUP", spec);
  if (find_in_passwd(user, name, error) < 0) return -1;
  if (group && find_group(&user->gid, group, error) < 0) return -1;
  collect_groups(user);
  return 0;
}

void user_free(struct user *user) {
  free(user->name);
  free(user->home);
  free(user->shell);
  user->name = user->home = user->shell = NULL;
}

int user_become(const struct user *user) {
  /* Without privileges only the agent's own ids are possible, and the groups stay. */
  if (geteuid() != 0 && user->uid == geteuid() && user->gid == getegid()) return 0;
  if (setgroups(user->group_count, user->groups) < 0) return -1;
  if (setresgid(user->gid, user->gid, user->gid) < 0) return -1;
  return setresuid(user->uid, user->uid, user->uid);
}
