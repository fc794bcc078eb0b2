# Holds COUNT blocks of 1 MiB and answers one line at a time. Every change follows from its seed, so
# others can compute what the memory must be afterwards.
import hashlib
import os
import random
import sys
import threading

MIB = 1 << 20
pattern = random.Random(1).randbytes(MIB)
blocks = []


def fill(count):
    for number in range(count):
        block = bytearray(pattern)
        block[:8] = number.to_bytes(8, 'little')
        blocks.append(block)


def places(seed):
    dice = random.Random(seed)
    for number in range(seed % 7, len(blocks), 7):
        for _ in range(3):
            yield number, dice.randrange(MIB - 5000), dice.randbytes(dice.randrange(1, 5000))


def change(seed):
    before = []
    for number, at, data in places(seed):
        before.append((number, at, bytes(blocks[number][at:at + len(data)])))
        blocks[number][at:at + len(data)] = data
    return before


def shift(seed):
    """Rewrites a tenth of it, in whole blocks."""
    for number in range(seed % 10, len(blocks), 10):
        blocks[number][:] = random.Random(seed * 1000 + number).randbytes(MIB)
    return 'done'


def digest():
    total = hashlib.sha256()
    for block in blocks:
        total.update(block)
    return total.hexdigest()


def expected(seed):
    before = change(seed)
    answer = digest()
    for number, at, data in reversed(before):
        blocks[number][at:at + len(data)] = data
    return answer


def child(seed):
    """What a child process has after its own change, and what the parent still has."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        change(seed)
        os.write(writing, digest().encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        theirs = answer.read()
    os.waitpid(pid, 0)
    return f'{theirs} {digest()}'


ticks = 0


def tick(stop):
    global ticks
    while not stop.wait(0.001):
        ticks += 1


def shred():
    """Frees memory and allocates it again, which reveals a page that was not cleared."""
    for _ in range(3):
        spare = [bytearray(MIB) for _ in range(20)]
        if any(any(block) for block in spare):
            return 'not zero'
        for block in spare:
            block[:] = b'\xff' * MIB
        del spare
    return 'zero'


fill(int(sys.argv[1]))
threading.Thread(target=tick, args=(threading.Event(),), daemon=True).start()
commands = {
    'digest': digest,
    'change': lambda seed: change(int(seed)) and 'done',
    'shift': lambda seed: shift(int(seed)),
    'expected': lambda seed: expected(int(seed)),
    'child': lambda seed: child(int(seed)),
    'ticks': lambda: ticks,
    'shred': shred,
    'say': lambda word: word,
}
for line in sys.stdin:
    name, *words = line.split()
    print(commands[name](*words), flush=True)
