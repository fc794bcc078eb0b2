# Job control of bash: jobs stay what they are, no trap runs, and each is waited for once.
. ../programs/tool.sh
set -m
traps=0
trap 'traps=$((traps + 1))' CHLD CONT HUP TERM WINCH
sleep 1000 &
running=$!
(trap '' TERM; exec sleep 1001) &
kill -STOP $!
sleep 0.3
jobs > before 2>&1
jobs > before 2>&1
traps=0
ready
read -r -u 3
jobs > after 2>&1
same 'traps that ran' 0 $traps
cmp -s before after || notice "jobs were $(cat before), are $(cat after)"
# bash tells of jobs that were killed.
exec 2> /dev/null
kill -KILL %1 %2
wait $running
same 'end of the job' 137 $?
[ $noticed = 1 ] || echo ok
