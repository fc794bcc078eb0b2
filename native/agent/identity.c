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

static bool hostname_valid(const char *name) {
  size_t length = strlen(name);
  return length >= 1 && length <= 64 && name[0] != '-' && name[0] != '.' &&
         strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-.") == length;
}

static bool machine_id_valid(const char *id) { return strlen(id) == 32 && strspn(id, "0123456789abcdef") == 32; }

/* Replaces the line of this host in the hosts file. */
static int write_hosts(const char *hostname, struct error *error) {
  static const char standard[] = "127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost\n";
  autofree char *before = read_small_file("/etc/hosts", HOSTS_LIMIT);
  if (!before && errno != ENOENT) return error_set(error, errno, "read '/etc/hosts'");
  autobuffer struct buffer after = {0};
  char *rest = before, *line;
  if (!before) buffer_append(&after, standard, strlen(standard));
  while (rest && (line = strsep(&rest, "\n"))) {
    size_t address = strcspn(line, " \t");
    if ((address == strlen(HOST_ADDRESS) && !strncmp(line, HOST_ADDRESS, address)) || (!*line && !rest)) continue;
    buffer_append(&after, line, strlen(line));
    buffer_append(&after, "\n", 1);
  }
  autofree char *own = format(HOST_ADDRESS "\t%s\n", hostname);
  if (!own || !buffer_append(&after, own, strlen(own) + 1)) return error_set(error, ENOMEM, "malloc for '/etc/hosts'");
  return replace_small_file("/etc/hosts", (char *)buffer_bytes(&after), 0644, error);
}

static int write_line(const char *path, const char *text, mode_t mode, struct error *error) {
  autofree char *line = format("%s\n", text);
  return line ? replace_small_file(path, line, mode, error) : error_set(error, ENOMEM, "malloc for '%s'", path);
}

/* Only the files: the kernel's hostname is set from outside, as the agent lacks the capability for it. */
static int set_hostname(const char *hostname, struct error *error) {
  if (!hostname_valid(hostname))
    return error_refuse(error, EINVAL, "hostname '%.80s' is not 1 to 64 of A-Z a-z 0-9 - .", hostname);
  return write_line("/etc/hostname", hostname, 0644, error) < 0 ? -1 : write_hosts(hostname, error);
}

static int set_machine_id(const char *id, struct error *error) {
  if (!machine_id_valid(id)) return error_refuse(error, EINVAL, "machine_id '%.80s' is not 32 hexadecimal digits", id);
  return write_line("/etc/machine-id", id, 0444, error);
}

void op_identity(struct stream *stream, const struct fields *fields) {
  autofree char *hostname = NULL, *machine_id = NULL;
  struct error error;
  if (fields_optional(fields, KEY_HOSTNAME, &hostname, &error) < 0 ||
      fields_optional(fields, KEY_MACHINE_ID, &machine_id, &error) < 0 ||
      (hostname && set_hostname(hostname, &error) < 0) || (machine_id && set_machine_id(machine_id, &error) < 0))
    stream_fail(stream, &error);
  else
    stream_done(stream);
}

static int64_t resident_bytes(void) {
  autofree char *text = read_small_file("/proc/self/statm", 4096);
  long long total, resident = 0;
  if (!text || sscanf(text, "%lld %lld", &total, &resident) != 2) return 0;
  return resident * sysconf(_SC_PAGESIZE);
}

static int64_t count_open_fds(void) {
  DIR *directory = opendir("/proc/self/fd");
  int64_t count = 0;
  if (!directory) return 0;
  while (readdir(directory)) count++;
  closedir(directory);
  return count - 3; /* ".", ".." and the directory itself */
}

void op_info(struct stream *stream, const struct fields *fields) {
  autobuffer struct buffer result = {0};
  (void)fields;
  put_int(&result, KEY_VERSION, PROTOCOL_VERSION);
  put_int(&result, KEY_RSS_BYTES, resident_bytes());
  put_int(&result, KEY_OPEN_FDS, count_open_fds());
  put_int(&result, KEY_COMMANDS, commands_running());
  put_int(&result, KEY_CONNECTIONS, connections_count());
  stream_result(stream, &result);
}

void op_quiesce(struct stream *stream, const struct fields *fields) {
  (void)fields;
  connections_close_all(stream->connection);
}

int identify_run(const char *text, const char *hostname, struct error *error) {
  if (replace_small_file("/run/forkpoint/identity.json", text, 0644, error) < 0) return -1;
  if (hostname && sethostname(hostname, strlen(hostname)) < 0)
    return error_set(error, errno, "sethostname '%s'", hostname);
  return 0;
}
