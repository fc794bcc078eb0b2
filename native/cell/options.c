/* Options of the command line: each sets a field of `struct spec`, or adds to a list of it. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "spec.h"

static bool is_number(const char *text, uint32_t *number) {
  char *end;
  errno = 0;
  unsigned long value = strtoul(text, &end, 10);
  *number = (uint32_t)value;
  return !errno && !*end && *text >= '0' && *text <= '9' && value <= UINT32_MAX;
}

pid_t parse_pid(const char *text) {
  uint32_t pid;
  if (!is_number(text, &pid) || !pid || pid > INT32_MAX) die_because("'%s' is not a process id", text);
  return (pid_t)pid;
}

static void add_layer(struct spec *spec, const char *text) {
  if (spec->layer_count == CELL_MAX_LAYERS) die_because("more than %d layers: %s", CELL_MAX_LAYERS, text);
  struct layer *layer = &spec->layers[spec->layer_count++];
  if (!strncmp(text, "host:", 5))
    *layer = (struct layer){.path = text + 5, .host_ids = true};
  else if (!strncmp(text, "cell:", 5))
    *layer = (struct layer){.path = text + 5};
  else
    die_because("layer '%s' is not host:PATH or cell:PATH", text);
}

static void add_cgroup(struct spec *spec, const char *path) {
  if (spec->cgroup_count == CELL_MAX_CGROUPS) die_because("more than %d cgroups: %s", CELL_MAX_CGROUPS, path);
  spec->cgroups[spec->cgroup_count++] = path;
}

static void add_shown(struct spec *spec, const char *path) {
  if (spec->shown_count == CELL_MAX_SHOWN) die_because("more than %d paths to show: %s", CELL_MAX_SHOWN, path);
  spec->shown[spec->shown_count++] = path;
}

struct option {
  const char *name;
  enum { TEXT, NUMBER, FLAG, LIST } kind;
  size_t field;                                      /* offset in `struct spec`, unless it is a list */
  void (*add)(struct spec *spec, const char *value); /* adds one to its list */
};

#define FIELD(name) offsetof(struct spec, name)

static const struct option options[] = {
    {"--address", TEXT, FIELD(address), NULL},
    {"--attributes", TEXT, FIELD(attributes), NULL},
    {"--cgroup", LIST, 0, add_cgroup},
    {"--connections", FLAG, FIELD(connections), NULL},
    {"--dev", TEXT, FIELD(dev), NULL},
    {"--disk-base", NUMBER, FIELD(disk_base), NULL},
    {"--env", TEXT, FIELD(env), NULL},
    {"--files", TEXT, FIELD(files), NULL},
    {"--files-of", TEXT, FIELD(files_of), NULL},
    {"--gateway", TEXT, FIELD(gateway), NULL},
    {"--hold", FLAG, FIELD(hold), NULL},
    {"--hostname", TEXT, FIELD(hostname), NULL},
    {"--id-base", NUMBER, FIELD(id_base), NULL},
    {"--id-count", NUMBER, FIELD(id_count), NULL},
    {"--images", TEXT, FIELD(images), NULL},
    {"--kdat", TEXT, FIELD(kdat), NULL},
    {"--layer", LIST, 0, add_layer},
    {"--no-new-privs", FLAG, FIELD(no_new_privs), NULL},
    {"--pages", TEXT, FIELD(pages), NULL},
    {"--pairs", TEXT, FIELD(pairs), NULL},
    {"--pid", NUMBER, FIELD(pid), NULL},
    {"--prefix", NUMBER, FIELD(prefix), NULL},
    {"--preload", TEXT, FIELD(preload), NULL},
    {"--root", TEXT, FIELD(root), NULL},
    {"--show", LIST, 0, add_shown},
    {"--tracking", TEXT, FIELD(tracking), NULL},
    {"--veth", TEXT, FIELD(veth), NULL},
    {"--waits", TEXT, FIELD(waits), NULL},
};

static const struct option *find_option(const char *name) {
  for (size_t i = 0; i < sizeof options / sizeof *options; i++)
    if (!strcmp(options[i].name, name)) return &options[i];
  die_because("unknown option %s", name);
}

static void set_option(struct spec *spec, const struct option *option, const char *value) {
  void *field = (char *)spec + option->field;
  switch (option->kind) {
    case TEXT: *(const char **)field = value; break;
    case NUMBER:
      if (!is_number(value, field)) die_because("%s '%s' is not a number", option->name, value);
      break;
    case FLAG: *(bool *)field = true; break;
    case LIST: option->add(spec, value); break;
  }
}

char **parse_options(struct spec *spec, char **words) {
  for (; *words && **words == '-'; words++) {
    if (!strcmp(*words, "--")) return words + 1;
    const struct option *option = find_option(*words);
    if (option->kind != FLAG && !*++words) die_because("%s needs a value", option->name);
    set_option(spec, option, *words);
  }
  return words;
}

void parse_all_options(struct spec *spec, char **words) {
  char **rest = parse_options(spec, words);
  if (*rest) die_because("'%s' is not an option", *rest);
}

void require_cell(const struct spec *spec) {
  if (!spec->env || !spec->dev || !spec->layer_count || !spec->id_base || !spec->id_count || !spec->disk_base)
    die_because("a cell needs --env, --dev, --layer, --id-base, --id-count and --disk-base");
}
