# A tmux server with a shell that counts: the next client finds the same session, one number after another.
. ../programs/tool.sh
tmux="tmux -S $PWD/socket -f /dev/null"
$tmux new-session -d -s kept -x 80 -y 24 'i=0; while sleep 0.1; do i=$((i + 1)); echo "$i"; done > counted'
created=$($tmux display -p -t kept '#{session_created} #{pid} #{pane_pid} #{pane_tty}')
ready
read -r -u 3
same 'the session' "$created" "$($tmux display -p -t kept '#{session_created} #{pid} #{pane_pid} #{pane_tty}')"
last=$(tail -1 counted)
sleep 1
[ "$(tail -1 counted)" -gt "$last" ] || notice 'the shell counts no more'
cmp -s <(seq "$(head -1 counted)" "$last") <(head -n "$last" counted) || notice 'numbers are missing'
$tmux kill-server
[ $noticed = 1 ] || echo ok
