# du, in the middle of a tree.
. ../programs/tool.sh
make_tree tree
make_links tree/links
expected=$(du -a --apparent-size tree | wc -l)
walk() {
  du -a --apparent-size tree 2> errors | slowly 16000 > sizes
  same 'status of du' 0 "${PIPESTATUS[0]}"
  same 'lines of du' "$expected" "$(wc -l < sizes)"
  quiet du
}
over_and_over walk
