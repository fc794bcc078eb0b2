/* cell: makes the namespaces, mounts and limits of one environment and starts
 * its first process.
 *
 *   cell create OPTIONS              prints the agent's host pid
 *   cell keeper                      starts processes and keeps workers ready, see keeper.c
 *   cell connect OPTIONS --pid PID   gives a running cell its network again
 *   cell disconnect INTERFACE [ADDRESS…]   removes the link to an environment, and its connections
 *   cell rejoin PID INDEX LAYER…     copies up all names of a changed hard-linked file
 *   cell squash DIRECTORY LAYER…     makes one layer of several, see squash.c
 *   cell whiteouts PATH…             hides these names in the layers below
 *   cell opaque DIRECTORY…           hides the directories of these names below
 *   cell relink PID                  names open files of a cell, see relink.c
 *   cell unlink PID                  removes such names
 *   cell names PID                   says what there is at names of a cell
 *   cell rewatch CGROUP              finds watched files that have lost their names, see rewatch.c
 *   cell relock CGROUP [hold]        takes fcntl locks for a frozen cell, see relock.c
 *   cell hostname PID NAME           names a cell
 *   cell devices DIRECTORY           fills the template that every cell has as /dev
 *   cell mask PID                    hides what earlier versions showed of the kernel, see remask.c
 *   cell filter                      prints the instructions of the filter of system calls
 *   cell limit-devices CGROUP        lets a home's cells open harmless devices only, see devices.c
 *   cell scan|lookup|list|read|compare|copy …   reads environments' files, see view.c
 *
 * A failure is one line on stderr: the step, what it was applied to, errno. */
#define _GNU_SOURCE
#include "cell.h"
#include "view.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static uint32_t parse_number(const char *text, const char *what) {
  char *end;
  errno = 0;
  unsigned long value = strtoul(text, &end, 10);
  if (errno || *end || end == text || value > UINT32_MAX) die_usage(what, text);
  return (uint32_t)value;
}

static void add_layer(struct spec *spec, const char *text) {
  if (spec->layer_count == CELL_MAX_LAYERS) die_usage("more than 500 layers", text);
  struct layer *layer = &spec->layers[spec->layer_count++];
  if (!strncmp(text, "host:", 5))
    *layer = (struct layer){.path = text + 5, .host_ids = true};
  else if (!strncmp(text, "cell:", 5))
    *layer = (struct layer){.path = text + 5};
  else
    die_usage("a layer is host:PATH or cell:PATH", text);
}

int parse_options(struct spec *spec, int argc, char **argv) {
  enum { ENV, DEV, PAGES, KDAT, LAYER, HOSTNAME, ID_BASE, ID_COUNT, DISK_BASE, CGROUP, NNP, VETH, ADDRESS, GATEWAY,
         PREFIX, PID, IMAGES, HOLD, PRELOAD, SHOW };
  static const struct option options[] = {
      {"env", 1, 0, ENV},           {"dev", 1, 0, DEV},         {"kdat", 1, 0, KDAT},
      {"layer", 1, 0, LAYER},       {"hostname", 1, 0, HOSTNAME}, {"id-base", 1, 0, ID_BASE},
      {"id-count", 1, 0, ID_COUNT}, {"cgroup", 1, 0, CGROUP},   {"no-new-privs", 0, 0, NNP},
      {"veth", 1, 0, VETH},         {"address", 1, 0, ADDRESS}, {"gateway", 1, 0, GATEWAY},
      {"prefix", 1, 0, PREFIX},     {"pid", 1, 0, PID},         {"pages", 1, 0, PAGES},
      {"images", 1, 0, IMAGES},     {"hold", 0, 0, HOLD},       {"preload", 1, 0, PRELOAD},
      {"disk-base", 1, 0, DISK_BASE}, {"show", 1, 0, SHOW},
      {0},
  };
  optind = 0; /* a worker parses twice */
  for (int c; (c = getopt_long(argc, argv, "+", options, NULL)) != -1;) switch (c) {
      case ENV: spec->env = optarg; break;
      case DEV: spec->dev = optarg; break;
      case PAGES: spec->pages = optarg; break;
      case KDAT: spec->kdat = optarg; break;
      case LAYER: add_layer(spec, optarg); break;
      case HOSTNAME: spec->hostname = optarg; break;
      case ID_BASE: spec->id_base = parse_number(optarg, "--id-base"); break;
      case ID_COUNT: spec->id_count = parse_number(optarg, "--id-count"); break;
      case CGROUP:
        if (spec->cgroup_count == CELL_MAX_CGROUPS) die_usage("too many cgroups", optarg);
        spec->cgroups[spec->cgroup_count++] = optarg;
        break;
      case NNP: spec->no_new_privs = true; break;
      case VETH: spec->veth = optarg; break;
      case ADDRESS: spec->address = optarg; break;
      case GATEWAY: spec->gateway = optarg; break;
      case PREFIX: spec->prefix = parse_number(optarg, "--prefix"); break;
      case PID: spec->pid = parse_number(optarg, "--pid"); break;
      case IMAGES: spec->images = optarg; break;
      case HOLD: spec->hold = true; break;
      case PRELOAD: spec->preload = optarg; break;
      case DISK_BASE: spec->disk_base = parse_number(optarg, "--disk-base"); break;
      case SHOW:
        if (spec->shown_count == CELL_MAX_SHOWN) die_usage("too much to show", optarg);
        spec->shown[spec->shown_count++] = optarg;
        break;
      default: _exit(2);
    }
  return optind;
}

void require_cell(const struct spec *spec) {
  if (!spec->env || !spec->dev || !spec->layer_count || !spec->id_base || !spec->id_count || !spec->disk_base)
    die_usage("needs --env --dev --layer --id-base --id-count --disk-base", NULL);
}

static long plain_clone3(struct clone_args *args, size_t size) {
  return syscall(SYS_clone3, args, size);
}

/* Each cell's mounts belong to its own user namespace, so the mount namespace is
 * unshared by the child later, when the parent has staged what goes into it. */
static pid_t clone_cell(const struct spec *spec) {
  struct clone_args args = {
      .flags = CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWNET,
      .exit_signal = SIGCHLD,
  };
  struct doorway groups[MOST_GROUPS];
  struct birth birth = {.owner = spec->id_base, .count = groups_to_enter(spec, groups), .groups = groups};
  int is_there; /* what is elsewhere is moved later */
  pid_t pid = (pid_t)clone_into(&birth, &args, sizeof args, plain_clone3, &is_there);
  if (pid < 0) die("clone3", "user, pid, ipc, uts and network namespaces");
  return pid;
}

/* The child's report ends empty when it became the agent. */
static void await_agent(int report, pid_t pid) {
  char text[1024];
  size_t used = 0;
  for (ssize_t n; used < sizeof text && (n = read(report, text + used, sizeof text - used)) > 0;)
    used += (size_t)n;
  if (!used) return;
  (void)!write(STDERR_FILENO, text, used);
  kill(pid, SIGKILL);
  waitpid(pid, NULL, 0);
  _exit(1);
}

static int create(const struct spec *spec) {
  require_cell(spec);
  if (!spec->hostname) die_usage("needs --hostname", NULL);
  /* A killed caller leaves no helper that goes on behind the back of its recovery. */
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  int go[2], report[2];
  if (pipe2(go, O_CLOEXEC) || pipe2(report, O_CLOEXEC)) die("pipe2", "child");
  enter_private_mounts();
  /* While it can: the home above belongs to nobody whom the child could be. */
  if (chdir(spec->env)) die("chdir", spec->env);
  bound_cell();
  pid_t pid = clone_cell(spec);
  if (pid == 0) {
    char ready;
    report_errors_to(report[1]);
    close(go[1]);
    if (read(go[0], &ready, 1) != 1) _exit(1); /* the helper was killed */
    if (dup2(report[1], STDOUT_FILENO) < 0) die("dup2", "report");
    become_agent(spec);
  }
  close(report[1]);
  map_users(spec, pid);
  if (spec->cgroup_count) limit_devices(spec->cgroups[0]);
  join_cgroups(spec, pid);
  struct mappings mappings = {.cell = open_user_namespace(pid), .disk = map_disk_ids(spec, start_mapping())};
  stage_mounts(spec, mappings);
  require_mountpoints();
  if (spec->veth) create_veth(spec, pid);
  if (write(go[1], "", 1) != 1) die("write", "go");
  await_agent(report[0], pid);
  printf("%d\n", pid);
  return 0;
}

static int limit(const char *group) {
  if (limit_home_devices(group)) return 0;
  die_usage("the kernel takes no policy of devices (BPF) for", group);
}

static int reconnect(struct spec *spec, int argc, char **argv) {
  parse_options(spec, argc, argv);
  if (!spec->veth || !spec->pid) die_usage("connect needs --pid and --veth", NULL);
  connect_cell(spec, (pid_t)spec->pid);
  return 0;
}

static int disconnect(const char *interface, char **addresses) {
  delete_link(interface);
  for (; *addresses; addresses++) forget_connections(*addresses);
  return 0;
}

int main(int argc, char **argv) {
  static struct spec spec;
  const char *command = argc > 1 ? argv[1] : "";
  if (!strcmp(command, "connect")) return reconnect(&spec, argc - 1, argv + 1);
  if (!strcmp(command, "disconnect") && argc > 2) return disconnect(argv[2], argv + 3);
  if (!strcmp(command, "rejoin") && argc > 4) return rejoin_links(argv[2], argv[3], argv + 4), 0;
  if (!strcmp(command, "squash") && argc > 3) return squash(argv[2], argv + 3, (size_t)argc - 3), 0;
  if (!strcmp(command, "whiteouts")) return make_whiteouts(argv + 2), 0;
  if (!strcmp(command, "opaque")) return make_opaque(argv + 2), 0;
  if (!strcmp(command, "relink") && argc == 3) return relink(argv[2]), 0;
  if (!strcmp(command, "unlink") && argc == 3) return unlink_inside(argv[2]), 0;
  if (!strcmp(command, "names") && argc == 3) return judge_names(argv[2]), 0;
  if (!strcmp(command, "rewatch") && argc > 2) return rewatch(argv[2]), 0;
  if (!strcmp(command, "relock") && argc > 2) return relock(argv[2], argc > 3 && !strcmp(argv[3], "hold")), 0;
  if (!strcmp(command, "hostname") && argc == 4) return set_hostname(argv[3], (pid_t)parse_number(argv[2], "PID")), 0;
  if (!strcmp(command, "devices")) return make_devices(argv[2]), 0;
  if (!strcmp(command, "mask") && argc == 3) return mask_made_cell((pid_t)parse_number(argv[2], "PID")), 0;
  if (!strcmp(command, "filter")) return print_syscall_filter();
  if (!strcmp(command, "limit-devices") && argc == 3) return limit(argv[2]);
  if (is_view_command(command)) return run_view_command(argv + 1);
  if (!strcmp(command, "keeper")) return run_keeper();
  if (strcmp(command, "create"))
    die_usage("usage: cell create|keeper|connect|disconnect|whiteouts|opaque|devices …, not", command);
  parse_options(&spec, argc - 1, argv + 1);
  return create(&spec);
}
