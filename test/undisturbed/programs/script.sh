# script(1), which dies of an interrupted poll, and with it the session that it records.
. ../programs/tool.sh
record() {
  result=$(script -qec 'sleep 2; echo recorded; exit 7' /dev/null < /dev/null 2>&1)
  same 'status of script' 7 $?
  same 'what it recorded' recorded "$(echo "$result" | tr -d '\r')"
}
over_and_over record
