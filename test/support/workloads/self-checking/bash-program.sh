# Constantly allocates, frees and checks; argument: where to report.
# The report holds "rounds N", or "stale ..." and then the program has ended.
report() {
  echo "$1" >"$report_path.new" && mv "$report_path.new" "$report_path"
}

report_path=$1
declare -A lasting
for i in {1..5000}; do lasting[$i]="value $i"; done
for ((round = 1; ; round++)); do
  began=${EPOCHREALTIME/[.,]/}
  list=()
  for i in {1..2000}; do list+=("$round/$i"); done
  long=$(printf '%0500000d' "$round")
  [[ ${list[1234]} == "$round/1235" && ${#long} == 500000 && $((10#${long: -9})) == "$round" ]] ||
    { report "stale list or text"; exit 1; }
  for i in {1..500}; do
    n=$((RANDOM % 5000 + 1))
    [[ ${lasting[$n]} == "value $n" ]] || { report "stale value $n: ${lasting[$n]}"; exit 1; }
  done
  report "rounds $round"
  # Many of these run at the same time: none takes more than a tenth of a core.
  spent=$((${EPOCHREALTIME/[.,]/} - began))
  sleep "$((spent > 200000 ? 2 : 1))"
done
