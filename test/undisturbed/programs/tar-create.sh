# tar c, in the middle of a tree with 600 names of one file: one is the file, 599 are links to it.
. ../programs/tool.sh
make_links tree
create() {
  tar cf - tree 2> errors | slowly 150000 > archive.tar
  same 'status of tar' 0 "${PIPESTATUS[0]}"
  quiet tar
  same 'links in the archive' 599 "$(tar tvf archive.tar | grep -c '^h')"
}
over_and_over create
