#define _GNU_SOURCE
#include "identity.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "connection.h"
#include "stream.h"
#include "util.h"

#define HOSTS_LIMIT (1 << 20)
#define HOST_ADDRESS "127.0.1.1"

static bool hostname_valid(const char *name)
{
	size_t length = strlen(name);

	return length >= 1 && length <= 64 && name[0] != '-' && name[0] != '.' &&
	       strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-.") == length;
}

static bool machine_id_valid(const char *id)
{
	return strlen(id) == 32 && strspn(id, "0123456789abcdef") == 32;
}

/* The hosts file with this host's line in place of the one there was. */
static int write_hosts(const char *hostname)
{
	autofree char *before = read_small_file("/etc/hosts", HOSTS_LIMIT);
	autobuffer struct buffer after = { 0 };
	char *rest = before, *line;
	static const char standard[] = "127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost\n";

	if (!before && errno != ENOENT)
		return -1;
	if (!before)
		buffer_append(&after, standard, strlen(standard));
	while (rest && (line = strsep(&rest, "\n"))) {
		size_t address = strcspn(line, " \t");
		if ((address == strlen(HOST_ADDRESS) && !strncmp(line, HOST_ADDRESS, address)) || (!*line && !rest))
			continue;
		buffer_append(&after, line, strlen(line));
		buffer_append(&after, "\n", 1);
	}
	autofree char *own = format(HOST_ADDRESS "\t%s\n", hostname);
	if (!own || !buffer_append(&after, own, strlen(own) + 1)) {
		errno = ENOMEM;
		return -1;
	}
	return replace_small_file("/etc/hosts", (char *)buffer_bytes(&after), 0644);
}

/* The files only: the kernel's own idea of it is set from outside, with the
 * capability that the agent does not have. 0, or -1 with errno and what failed. */
static int set_hostname(const char *hostname, const char **failed)
{
	autofree char *line = format("%s\n", hostname);

	*failed = "write /etc/hostname";
	if (!line || replace_small_file("/etc/hostname", line, 0644) < 0)
		return -1;
	*failed = "write /etc/hosts";
	return write_hosts(hostname);
}

static int set_machine_id(const char *id, const char **failed)
{
	autofree char *line = format("%s\n", id);

	*failed = "write /etc/machine-id";
	return line ? replace_small_file("/etc/machine-id", line, 0444) : -1;
}

void op_identity(struct stream *stream, const struct fields *fields)
{
	autofree char *hostname = fields_string(fields, KEY_HOSTNAME);
	autofree char *machine_id = fields_string(fields, KEY_MACHINE_ID);
	const char *failed = "";

	if (hostname && !hostname_valid(hostname))
		stream_fail(stream, EINVAL, "hostname '%.80s' is not 1 to 64 of A-Z a-z 0-9 - .", hostname);
	else if (machine_id && !machine_id_valid(machine_id))
		stream_fail(stream, EINVAL, "machine_id '%.80s' is not 32 hexadecimal digits", machine_id);
	else if ((hostname && set_hostname(hostname, &failed) < 0) || (machine_id && set_machine_id(machine_id, &failed) < 0))
		stream_fail(stream, errno, "%s: %s", failed, strerror(errno));
	else
		stream_done(stream);
}

static int64_t resident_bytes(void)
{
	autofree char *text = read_small_file("/proc/self/statm", 4096);
	long long total, resident = 0;

	if (!text || sscanf(text, "%lld %lld", &total, &resident) != 2)
		return 0;
	return resident * sysconf(_SC_PAGESIZE);
}

static int64_t count_open_fds(void)
{
	DIR *directory = opendir("/proc/self/fd");
	int64_t count = 0;

	if (!directory)
		return 0;
	while (readdir(directory))
		count++;
	closedir(directory);
	return count - 3; /* ".", ".." and the directory itself */
}

void op_info(struct stream *stream, const struct fields *fields)
{
	autobuffer struct buffer result = { 0 };

	(void)fields;
	put_int(&result, KEY_VERSION, PROTOCOL_VERSION);
	put_int(&result, KEY_RSS_BYTES, resident_bytes());
	put_int(&result, KEY_OPEN_FDS, count_open_fds());
	put_int(&result, KEY_COMMANDS, commands_running());
	put_int(&result, KEY_CONNECTIONS, connections_count());
	stream_result(stream, &result);
}

void op_quiesce(struct stream *stream, const struct fields *fields)
{
	(void)fields;
	connections_close_all(stream->connection);
}
