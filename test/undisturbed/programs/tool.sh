# What the programs around command-line tools share. Descriptor 3 ends when the snapshots are over.
exec 3<&0 < /dev/null
set -u
export LC_ALL=C TZ=UTC HOME=$PWD
noticed=0

ready() { echo ready; }
notice() { echo "noticed: $*"; noticed=1; }
# A read without waiting: it succeeds when there is something to read, which is the end.
is_over() { read -t 0 -u 3; }
# Milliseconds that the whole environment stood still so far, by the watch of launch.c.
stood_still() { echo $((10#$(cat ../stops))); }
# Passes on RATE bytes a second, and everything at once when the snapshots are over.
slowly() { ../undisturbed slowly 3 "$1"; }
same() { [ "$2" = "$3" ] || notice "$1 was $2, is $3"; }
# Nothing on standard error.
quiet() { [ ! -s errors ] || notice "$1 said: $(head -c 300 errors | tr '\n' ' ')"; }
# Runs a function over and over until the snapshots are over.
over_and_over() {
  ready
  while :; do
    "$1"
    [ $noticed = 0 ] || break
    ! is_over || break
  done
  [ $noticed = 1 ] || echo ok
}
# A tree of 1,200 files.
make_tree() {
  mkdir -p "$1"/{1..30}
  touch "$1"/{1..30}/a-file-with-a-longer-name-{1..40}
}
# 600 names of one file, in 20 directories.
make_links() {
  mkdir -p "$1/1"
  echo text > "$1/1/link-1"
  for i in {2..30}; do ln "$1/1/link-1" "$1/1/link-$i"; done
  for i in {2..20}; do cp -al "$1/1" "$1/$i"; done
}
