#!/usr/bin/env bash
# The loop of loop.ts on the command line.
set -euo pipefail

env=$(forkpoint create --quiet)
snapshot=
clean_up() {
  forkpoint rm "$env" > /dev/null
  if [ -n "$snapshot" ]; then forkpoint rm-snapshot "$snapshot" > /dev/null; fi
}
trap clean_up EXIT

forkpoint cp "$(dirname "$0")/task" "$env:/" > /dev/null
forkpoint exec "$env" -- 'cd /task'
forkpoint exec "$env" -- 'python3 prepare_data.py'
forkpoint exec "$env" -- 'export MODE=debug'

snapshot=$(forkpoint snapshot "$env" --quiet)
a=$(forkpoint exec "$env" -- 'python3 try_fix_a.py')
forkpoint restore "$env" "$snapshot" > /dev/null
b=$(forkpoint exec "$env" -- 'python3 try_fix_b.py')

echo "A: $a"
echo "B: $b"
if [ "${a%% *}" -lt "${b%% *}" ]; then echo 'A is better'; else echo 'B is better'; fi
