# is_package ROOT: true in an npm package, which carries everything that a checkout builds.
is_package() {
  [ ! -d "$1/src" ]
}

# is_fresh ROOT RUNTIME: true if there is nothing to bootstrap. Every command runs it,
# so it forks only once: find stops at the first input newer than the build.
# Directories count too, because a deleted file changes only those; native itself does
# not, because making native/build changes it.
is_fresh() {
  [ -x "$2/node/bin/node" ] || return 1
  [ -n "${FORKPOINT_CRIU:-}" ] || [ -f "$2/criu/exec.json" ] || return 1
  if is_package "$1"; then return; fi
  [ -f "$1/dist/.fresh" ] && [ -d "$1/native/build" ] || return 1
  [ -z "$(find "$1/src" "$1/native" "$1/package.json" "$1/package-lock.json" "$1/scripts/build.js" \
    -path "$1/native/build" -prune -o ! -path "$1/native" -newer "$1/dist/.fresh" -print -quit 2>&1)" ]
}
