# cp -a, in the middle of a tree with 600 names of one file.
. ../programs/tool.sh
make_links tree
copy() {
  rm -rf copy
  cp -av tree copy 2> errors | slowly 12000 > copied
  same 'status of cp' 0 "${PIPESTATUS[0]}"
  quiet cp
  same 'names of the copied file' 600 "$(stat -c %h copy/20/link-30)"
}
over_and_over copy
