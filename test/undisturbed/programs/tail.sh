# tail -F prints every line once, and does not think that the file was replaced.
. ../programs/tool.sh
: > log
tail -n +1 -F log > seen 2> errors &
follower=$!
line=0
append() {
  line=$((line + 1))
  echo $line >> log
  sleep 0.05
}
over_and_over append
for _ in {1..100}; do [ "$(wc -l < seen)" -lt $line ] || break; sleep 0.1; done
kill $follower
cmp -s log seen || echo "noticed: $(wc -l < seen) lines of $line; $(sort seen | uniq -d | wc -l) of them twice"
[ ! -s errors ] || echo "noticed: tail said $(head -1 errors)"
