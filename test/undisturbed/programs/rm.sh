# rm -r, in the middle of a tree: nothing is left, and it does not complain.
. ../programs/tool.sh
remove() {
  make_tree tree
  rm -rv tree 2> errors | slowly 20000 > removed
  same 'status of rm' 0 "${PIPESTATUS[0]}"
  quiet rm
  [ ! -e tree ] || notice 'something is left'
  same 'lines of rm' 1231 "$(wc -l < removed)"
}
over_and_over remove
