#!/bin/sh
# Runs a program as PID 1 of a throw-away copy of this machine: an overlay of / that
# lives in memory, with its own /dev, /proc, network and hostname. Whatever the program
# does to files stays in there, except for DIRECTORY, which is shared under the same path.
#
#   unshare --pid --fork --mount --uts --ipc --net --kill-child jail.sh DIRECTORY PROGRAM...
set -eu
directory=$1
shift
mount --make-rprivate /
mount -t tmpfs tmpfs "$directory/jail"
mkdir "$directory/jail/upper" "$directory/jail/work" "$directory/jail/root"
mount -t overlay overlay "$directory/jail/root" \
  -o "lowerdir=/,upperdir=$directory/jail/upper,workdir=$directory/jail/work"
cd "$directory/jail/root"
mkdir -p "./$directory" proc dev
mount --bind "$directory" "./$directory"
mount -t proc proc proc
mount -t tmpfs tmpfs dev
for device in null:3 zero:5 full:7 random:8 urandom:9; do
  mknod -m 666 "dev/${device%:*}" c 1 "${device#*:}"
done
mknod -m 666 dev/tty c 5 0
mkdir dev/pts dev/shm dev/old-root
mount -t devpts devpts dev/pts -o newinstance,ptmxmode=0666,mode=620
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
ip link set lo up
pivot_root . dev/old-root
cd /
umount -l dev/old-root
rmdir dev/old-root
exec "$@"
