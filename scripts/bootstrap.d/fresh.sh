# is_fresh ROOT RUNTIME: true when nothing has to be bootstrapped. On the path of
# every command, so one fork: find stops at the first input newer than the build.
# Directories count too, since a deleted file changes only those; native itself does
# not, since making native/build changes it.
is_fresh() {
  [ -f "$1/dist/.fresh" ] && [ -d "$1/native/build" ] && [ -x "$2/node/bin/node" ] || return 1
  [ -n "${FORKPOINT_CRIU:-}" ] || [ -f "$2/criu/exec.json" ] || return 1
  [ -z "$(find "$1/src" "$1/native" "$1/package.json" "$1/package-lock.json" "$1/scripts/build.js" \
    -path "$1/native/build" -prune -o ! -path "$1/native" -newer "$1/dist/.fresh" -print -quit 2>&1)" ]
}
