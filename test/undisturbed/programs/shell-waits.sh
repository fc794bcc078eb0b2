# Waits of the shell and of small tools take their time and end as they should.
. ../programs/tool.sh
mkfifo empty
exec 4<> empty
# Milliseconds since the start; the time of day jumps in a copy.
up() { read -r seconds _ < /proc/uptime; echo $((10#${seconds/./} * 10)); }
# Runs a command that should take two seconds and end with a status.
takes_two() {
  begin=$(up) stops=$(stood_still)
  "${@:2}"
  status=$?
  took=$(($(up) - begin))
  # In a pause, clocks continue: after a long one, the 30 seconds are over as well as the two, and either may be first.
  [ $status = "$1" ] || [ $(($(stood_still) - stops)) -gt 27000 ] || notice "${*:2} ended with $status"
  [ $took -ge 1980 ] || notice "${*:2} took $took ms"
  [ $took -le 7000 ] || sleep 1
  [ $took -le $((7000 + $(stood_still) - stops)) ] || notice "${*:2} took $took ms"
}
# Measured from before it starts: on a busy machine, it sleeps for a while before anybody waits for it.
wait_for_child() { sleep 2 & wait $!; }
waits() {
  takes_two 0 sleep 2
  takes_two 142 read -r -t 2 -u 4
  takes_two 124 timeout 2 sleep 60
  takes_two 0 timeout 30 sleep 2
  takes_two 0 wait_for_child
}
over_and_over waits
