#!/bin/bash
# Runs inside an environment: starts and stops the programs of ./list, which has lines of
# "NAME<TAB>WHO<TAB>COMMAND". Prints a line for each: "NAME<TAB>ok", or what it said instead.
set -u
cd "$(dirname "$0")" || exit

starting_s=30
ending_s=90

# A program that its description does not call `suid` changes to these numbers by itself.
as_user='ZDTM_UID=18943 ZDTM_GID=58467 ZDTM_GROUPS=27495\ 48244'

start() {
  local name who command
  declare -A launcher
  while IFS=$'\t' read -r name who command; do
    chmod 777 "$name"
    [ "$who" = user ] && command="$as_user $command"
    (cd "$name" && eval "ENV_00_TEST= exec env $command" </dev/null >log 2>&1) &
    launcher[$name]=$!
  done <list
  for name in "${!launcher[@]}"; do
    until [ -e "$name/$name.pid" ] || ! kill -0 "${launcher[$name]}" 2>/dev/null || ((SECONDS > starting_s)); do
      sleep 0.05
    done
    kill -KILL "${launcher[$name]}" 2>/dev/null
    if [ -e "$name/$name.pid" ]; then say "$name" ok; else say "$name" "did not start: $(words "$name")"; fi
  done
}

stop() {
  local name pid
  declare -A pids
  for name in $(cut -f1 list); do
    [ -e "$name/$name.pid" ] || continue
    pids[$name]=$(<"$name/$name.pid")
    kill -TERM "${pids[$name]}" 2>/dev/null
  done
  for name in "${!pids[@]}"; do
    pid=${pids[$name]}
    until [ -e "$name/$name.out" ] || ! running "$pid" || ((SECONDS > ending_s)); do sleep 0.05; done
    # It renames the file and ends right after.
    running "$pid" || sleep 0.05
    if [ -e "$name/$name.out" ] && grep -qw PASS "$name/$name.out"; then
      say "$name" ok
    elif running "$pid"; then
      say "$name" "did not end; $(words "$name")"
    else
      say "$name" "$(words "$name")"
    fi
  done
}

running() {
  local state
  state=$(sed -n 's/^State:\t\(.\).*/\1/p' "/proc/$1/status" 2>/dev/null)
  [ -n "$state" ] && [ "$state" != Z ]
}

say() {
  printf '%s\t%s\n' "$1" "$2"
}

# What a program complained about, without times and pids.
words() {
  local file
  for file in "$1/$1.out" "$1/$1.out.inprogress" "$1/log"; do
    [ -s "$file" ] || continue
    grep -aE 'FAIL|ERR|rror|unknown option|mandatory' "$file" | sed -E 's/^[0-9:.]+: *[0-9]+: //' |
      head -n 3 | tr '\t\n' '  ' | tr -d '\000-\037' | cut -c1-300
    return
  done
  printf 'it said nothing'
}

"$1"
