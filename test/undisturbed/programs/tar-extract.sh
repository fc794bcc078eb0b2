# tar x, in the middle: files, links, and the times of directories, which it sets last.
. ../programs/tool.sh
make_tree tree
chmod 500 tree/{1..30}
touch -d 2001-02-03 tree/{1..30}
for i in {1..30}; do ln tree/1/a-file-with-a-longer-name-1 tree/$i/linked 2> /dev/null; done
tar cf archive.tar tree
describe() { (cd "$1" && find tree -printf '%p %y %m %n %TY-%Tm-%Td\n' | sort); }
expected=$(describe . | md5sum)
mkdir out
extract() {
  slowly 250000 < archive.tar | tar xf - -C out 2> errors
  same 'status of tar' 0 "${PIPESTATUS[1]}"
  quiet tar
  same 'the tree' "$expected" "$(describe out | md5sum)"
  chmod -R u+w out/tree && rm -r out/tree
}
over_and_over extract
