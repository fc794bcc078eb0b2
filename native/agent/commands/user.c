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

/* (uid_t)-1 means "leave unchanged" to the kernel, so it is no id. */
static bool parse_id(const char *text, uint32_t *id)
{
	char *end;

	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	unsigned long long value = strtoull(text, &end, 10);
	if (errno || *end || value >= UINT32_MAX)
		return false;
	*id = value;
	return true;
}

/* Cuts the next line of *text into its colon-separated columns. Returns how many, -1 at the end. */
static int next_row(char **text, char *columns[MAX_COLUMNS])
{
	char *line = strsep(text, "\n");
	int count = 0;

	if (!line)
		return -1;
	while (line && count < MAX_COLUMNS)
		columns[count++] = strsep(&line, ":");
	return count;
}

/* Fills user from the passwd row of this name, or else of this id. */
static int find_in_passwd(struct user *user, const char *name)
{
	autofree char *text = read_small_file("/etc/passwd", DATABASE_LIMIT);
	char *rest = text, *columns[MAX_COLUMNS];
	uint32_t wanted, uid, gid;
	bool by_id = parse_id(name, &wanted);
	int count;

	while (rest && (count = next_row(&rest, columns)) >= 0) {
		if (count < 6 || !parse_id(columns[2], &uid) || !parse_id(columns[3], &gid))
			continue;
		if (by_id ? uid != wanted : strcmp(columns[0], name))
			continue;
		user->uid = uid;
		user->gid = gid;
		user->name = strdup(columns[0]);
		user->home = strdup(columns[5]);
		user->shell = strdup(count > 6 && *columns[6] ? columns[6] : "/bin/sh");
		return user->name && user->home && user->shell ? 0 : -1;
	}
	if (!by_id) {
		errno = ENOENT;
		return -1;
	}
	/* An id without a row is a user all the same, as in a container. */
	user->uid = user->gid = wanted;
	user->name = strdup(name);
	user->home = strdup(wanted ? "/" : "/root");
	user->shell = strdup("/bin/sh");
	return user->name && user->home && user->shell ? 0 : -1;
}

static bool lists_member(char *members, const char *name)
{
	char *member;

	while ((member = strsep(&members, ",")))
		if (!strcmp(member, name))
			return true;
	return false;
}

static void collect_groups(struct user *user)
{
	autofree char *text = read_small_file("/etc/group", DATABASE_LIMIT);
	char *rest = text, *columns[MAX_COLUMNS];
	uint32_t gid;
	int count;

	user->groups[user->group_count++] = user->gid;
	while (rest && (count = next_row(&rest, columns)) >= 0)
		if (count >= 4 && user->group_count < MAX_GROUPS && parse_id(columns[2], &gid) &&
		    gid != user->gid && lists_member(columns[3], user->name))
			user->groups[user->group_count++] = gid;
}

static int find_group(gid_t *gid, const char *name)
{
	autofree char *text = read_small_file("/etc/group", DATABASE_LIMIT);
	char *rest = text, *columns[MAX_COLUMNS];
	uint32_t id;
	int count;

	if (parse_id(name, gid))
		return 0;
	while (rest && (count = next_row(&rest, columns)) >= 0)
		if (count >= 3 && !strcmp(columns[0], name) && parse_id(columns[2], &id)) {
			*gid = id;
			return 0;
		}
	errno = ENOENT;
	return -1;
}

int user_find(struct user *user, const char *spec)
{
	char own[16];
	autofree char *copy = NULL;

	memset(user, 0, sizeof *user);
	if (!spec || !*spec) {
		uint32_t uid = getuid(), at = sizeof own - 1;
		own[at] = 0;
		do
			own[--at] = '0' + uid % 10;
		while (uid /= 10);
		spec = own + at;
	}
	copy = strdup(spec);
	if (!copy)
		return -1;
	char *group = strchr(copy, ':');
	if (group)
		*group++ = 0;
	if (!*copy || (group && !*group)) {
		errno = EINVAL;
		return -1;
	}
	if (find_in_passwd(user, copy) < 0 || (group && find_group(&user->gid, group) < 0))
		return -1;
	collect_groups(user);
	return 0;
}

void user_free(struct user *user)
{
	free(user->name);
	free(user->home);
	free(user->shell);
	user->name = user->home = user->shell = NULL;
}

int user_become(const struct user *user)
{
	/* Without privilege only the agent's own ids are possible, and groups stay. */
	if (geteuid() != 0 && user->uid == geteuid() && user->gid == getegid())
		return 0;
	if (setgroups(user->group_count, user->groups) < 0)
		return -1;
	if (setresgid(user->gid, user->gid, user->gid) < 0)
		return -1;
	return setresuid(user->uid, user->uid, user->uid);
}
