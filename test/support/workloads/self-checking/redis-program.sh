# Makes a Redis constantly allocate, free and check; arguments: its socket, where to report.
# The report holds "rounds N", or "stale ..." and then the program has ended.
report() {
  echo "$1" >"$2.new" && mv "$2.new" "$2"
}

for ((round = 1; ; round++)); do
  began=${EPOCHREALTIME/[.,]/}
  answer=$(redis-cli -s "$1" --eval /root/redis-program.lua , "$round" 2>&1)
  [ "$answer" = OK ] || { report "stale $answer" "$2"; exit 1; }
  # Frees every page that is not in use.
  redis-cli -s "$1" MEMORY PURGE >/dev/null
  report "rounds $round" "$2"
  # Many of these run at the same time: none takes more than a tenth of a core.
  spent=$((${EPOCHREALTIME/[.,]/} - began))
  sleep "$((spent > 200000 ? 2 : 1))"
done
