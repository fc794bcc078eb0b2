# find, in the middle of a tree: it ends with success, says nothing else, and finds every file once.
. ../programs/tool.sh
make_tree tree
walk() {
  find "$1" -type f -printf '%p\n' 2> errors | slowly 20000 > found
  same 'status of find' 0 "${PIPESTATUS[0]}"
  quiet find
}
both() {
  walk tree
  same 'files found' 1200 "$(sort -u found | wc -l)"
  walk /usr/include/linux
  same 'lower files found' "$lower" "$(sort -u found | wc -l)"
}
lower=$(find /usr/include/linux -type f | wc -l)
over_and_over both
