# Watches files and directories by inotify, and records what happens to them: watch.py LOG PATH...
# A symbolic link is watched itself.
import ctypes
import os
import struct
import sys

MODIFY, ATTRIBUTES, CREATE, DELETE, NO_FOLLOW = 0x2, 0x4, 0x100, 0x200, 0x2000000

libc = ctypes.CDLL(None)
queue = libc.inotify_init1(0)
names = {}
for path in sys.argv[2:]:
    mask = ATTRIBUTES | NO_FOLLOW if os.path.islink(path) else MODIFY | CREATE | DELETE
    names[libc.inotify_add_watch(queue, path.encode(), mask)] = path


def note(line):
    with open(sys.argv[1], "a") as log:
        log.write(line + "\n")


note("ready")
while True:
    events = os.read(queue, 65536)
    at = 0
    while at < len(events):
        watch, mask, _, length = struct.unpack_from("iIII", events, at)
        name = events[at + 16 : at + 16 + length].rstrip(b"\0").decode()
        at += 16 + length
        if watch in names and mask & (MODIFY | CREATE | ATTRIBUTES):
            note(os.path.join(names[watch], name) if name else names[watch])
