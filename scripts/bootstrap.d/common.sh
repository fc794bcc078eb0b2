# Shared by the bootstrap steps: talking to the user, and running tools quietly.
# Sourced by POSIX sh; needs $runtime and $scratch to be set.

# One progress line. Only called when there is something to do.
say() {
  printf 'forkpoint: %s\n' "$*" >&2
}

# fail WHAT REMEDY: a missing prerequisite, explained. 6 is the CLI's code for it.
fail() {
  printf 'forkpoint: %s\n' "$1" >&2
  printf '  remedy: %s\n' "$2" >&2
  exit 6
}

# quietly COMMAND...: runs it, and keeps its output for last_words. Now and then, a line says how far it is.
quietly() {
  # The locks are not for it, and the pipe that somebody reads our lines from must not wait for its sleep.
  report_progress 8>&- 9<&- &
  reporter=$!
  quiet_status=0
  "$@" >"$scratch/output" 2>&1 </dev/null || quiet_status=$?
  stop_reporting
  return "$quiet_status"
}

# Every 5 seconds, as long as the bootstrap runs: the step, what it has fetched or built so far, and how fast.
report_progress() {
  seconds=0 before=0
  while sleep 5 >/dev/null 2>&1 && kill -0 "$$" 2>/dev/null; do
    seconds=$((seconds + 5))
    bytes=$(du -sb "$scratch" 2>/dev/null | cut -f 1)
    : "${bytes:=$before}"
    say "${progress_step:-working}: $((bytes / 1048576)) MiB, $(((bytes - before) / 5120)) KiB/s ($seconds s)"
    before=$bytes
  done
}

stop_reporting() {
  [ -z "${reporter:-}" ] || kill "$reporter" 2>/dev/null || :
  reporter=
}

# Prints the end of the last quiet command's output, where errors usually are.
last_words() {
  grep -v '^[[:space:]]*$' "$scratch/output" | tail -n 5 | sed 's/^/  | /' >&2
}

# fail_with_output WHAT REMEDY: fail, quoting the tool that failed.
fail_with_output() {
  printf 'forkpoint: %s\n' "$1" >&2
  last_words
  printf '  remedy: %s\n' "$2" >&2
  exit 6
}

# need_root WHY: only some steps of bootstrap write to system directories.
need_root() {
  [ "$(id -u)" = 0 ] || fail "$1 needs root, and this is uid $(id -u)" \
    "run it once as root (sudo $root/forkpoint doctor)"
}

# replace_directory NEW FINAL: puts a finished directory in place by rename, so
# that an interrupted run leaves either the old one or the new one.
replace_directory() {
  if [ -e "$2" ] || [ -L "$2" ]; then
    mv -T "$2" "$scratch/replaced.$(basename "$2")"
  fi
  mv -T "$1" "$2"
}

# need_npm PURPOSE
need_npm() {
  command -v npm >/dev/null || fail "npm is missing; it is needed to $1" \
    'install Node 24 with npm, or any npm (apt-get install npm), which then fetches Node 24'
}

# The system's npm on the system's Node: on another Node, npm would look for its
# global settings (registry, certificates) next to that one. Few retries, because the
# default takes minutes on a machine without a network. Our own script `prepare` would call us again.
run_npm() {
  FORKPOINT_PREPARE=no npm --loglevel=error --no-audit --no-fund --fetch-retries=2 --fetch-retry-mintimeout=1000 --fetch-retry-maxtimeout=5000 "$@"
}
