# Remembers files by device and inode number, and has memory that merely looks like it: remembers.py ANSWER. Upon
# SIGUSR1, it writes the names of what has changed since then to ANSWER, one in a line.
import ctypes
import mmap
import os
import signal
import struct
import sys

libc = ctypes.CDLL(None, use_errno=True)
own = os.stat(sys.argv[0])
lower = os.stat("/etc/passwd-")
device = own.st_dev
assert lower.st_dev == device and lower.st_ino >> 56, "this is no file of a layer"


def words(*numbers):
    return struct.pack(f"={len(numbers)}Q", *numbers)


def disguised(content):
    return bytes(byte ^ 0xFF for byte in content)


def memory(flags, content):
    area = mmap.mmap(-1, mmap.PAGESIZE, flags=flags | mmap.MAP_ANONYMOUS)
    area[0 : len(content)] = content
    return area


def read_only(area):
    address = ctypes.addressof(ctypes.c_char.from_buffer(area))
    if libc.mprotect(ctypes.c_void_p(address), mmap.PAGESIZE, mmap.PROT_READ):
        raise OSError(ctypes.get_errno(), "mprotect")


contents = {
    "pair": words(0, device, own.st_ino, 0),
    "pair the other way round": words(0, own.st_ino, device, 0),
    "pair of a file in a layer": words(0, device, lower.st_ino, 0),
    "not aligned": b"\0\0\0\0" + words(device, own.st_ino),
    "alone": words(0, device, 0),
    "beside a number of no file": words(0, device, (1 << 39) + 123),
    "beside an address": words(0, device, id(own)),
    "beside a fraction": struct.pack("=QQd", 0, device, 2.5),
    "with something in the upper half": words(0, device | 1 << 32, own.st_ino),
    "the next device": words(0, device + 1, own.st_ino),
    "one of many numbers": words(*range(device - 8, device + 8)),
    "shared": words(0, device, own.st_ino),
    "read-only": words(0, device, own.st_ino),
}
areas = {
    name: memory(mmap.MAP_SHARED if name == "shared" else mmap.MAP_PRIVATE, content)
    for name, content in contents.items()
}
read_only(areas["read-only"])
# What is compared with must not look like it itself.
written = {name: disguised(content) for name, content in contents.items()}


def answer(*_):
    changed = [
        name for name, content in written.items() if disguised(areas[name][0 : len(content)]) != content
    ]
    with open(sys.argv[1] + ".new", "w") as file:
        file.write("".join(f"{name}\n" for name in changed))
    os.rename(sys.argv[1] + ".new", sys.argv[1])


signal.signal(signal.SIGUSR1, answer)
answer()
while True:
    signal.pause()
