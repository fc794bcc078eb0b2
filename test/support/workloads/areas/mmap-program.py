# Holds much memory, and some mappings that it frees and lets grow when it is asked to.
import gc
import hashlib
import mmap
import os
import time

MIB = 1 << 20
PRIVATE = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS


class Named(mmap.mmap):
    pass


def filled(cls, size):
    region = cls(-1, size, flags=PRIVATE)
    region.write(b"\xaa" * size)
    return region


with open("/root/file", "wb") as file:
    file.write(b"f" * 4 * MIB)
with open("/root/file", "r+b") as file:
    copied = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
copied[:] = b"\xaa" * len(copied)

block = bytearray(os.urandom(MIB) * 64)
objects = [{"number": n, "name": f"object {n}"} for n in range(200_000)]
# Nothing touches the page that this object is on, nor those beside it, when its memory is written.
gc.disable()
around = [mmap.mmap(-1, mmap.PAGESIZE, flags=PRIVATE) for _ in range(400)]
around[200] = filled(mmap.mmap, 4 * MIB)
around += [mmap.mmap(-1, mmap.PAGESIZE, flags=PRIVATE) for _ in range(400)]
view = memoryview(around[200])
regions = {"large": filled(mmap.mmap, 16 * MIB), "small": filled(Named, 3 * mmap.PAGESIZE)}


def whole():
    sum = hashlib.sha256(block)
    for n, one in enumerate(objects):
        if one["number"] != n:
            return "broken"
        sum.update(one["name"].encode())
    return sum.hexdigest()


before = whole()


def holds(region, expected):
    view = region[:]
    return len(view) - view.count(expected)


def refill():
    view[:] = b"\xbb" * len(view)
    return "refilled"


def discard_untouched():
    around[200].madvise(mmap.MADV_DONTNEED)
    stale = holds(around[200], b"\0")
    return f"stale {stale}" if stale else "zeros"


def discard():
    for region in [*regions.values(), copied]:
        region.madvise(mmap.MADV_DONTNEED)
    stale = sum(holds(region, b"\0") for region in regions.values()) + holds(copied, b"f")
    for region in [*regions.values(), copied]:
        region[:] = b"\xaa" * len(region)
    return f"stale {stale}" if stale else "zeros"


def grow():
    region = regions["large"]
    size = len(region)
    region.resize(size + 8 * MIB)
    stale = 8 * MIB - region[size:].count(b"\0")
    region[size:] = b"\xaa" * 8 * MIB
    return f"stale {stale}" if stale else "zeros"


def check():
    return "whole" if whole() == before else "broken"


answers = {"refill": refill, "untouched": discard_untouched, "discard": discard, "grow": grow, "check": check}
while True:
    time.sleep(0.02)
    if os.path.exists("/root/ask"):
        with open("/root/ask") as file:
            question = file.read().strip()
        os.remove("/root/ask")
        with open("/root/answer.new", "w") as file:
            file.write(answers[question]())
        os.rename("/root/answer.new", "/root/answer")
