# Constantly allocates, frees and checks; argument: where to report.
# The report holds "rounds N", or "stale ..." and then the program has ended.
import gc
import os
import random
import sys
import threading
import time
import traceback


def report(text):
    with open(sys.argv[1] + '.new', 'w') as file:
        file.write(text + '\n')
    os.rename(sys.argv[1] + '.new', sys.argv[1])


class Node:
    def __init__(self, number):
        self.number = number
        self.text = f'node {number}' * 3
        self.me = self


def check(condition, what):
    if not condition:
        raise AssertionError(what)


# Some stay forever, and are checked in every round.
lasting = {i: (f'value {i}', [i, i + 1], bytes([i % 256]) * (i % 3000)) for i in range(20000)}
blocks = []


def in_thread():
    data = [str(i) * 5 for i in range(1000)]
    check(data[777] == '777' * 5, 'a list of a thread')


def work(number):
    random.seed(number)
    # Freshly allocated zeros, small and large.
    for _ in range(20):
        size = random.choice([random.randrange(1, 4000), random.randrange(4000, 2_000_000)])
        zeros = bytes(size)
        check(not any(zeros[:: max(1, size // 500)]) and zeros.count(0) == size, 'bytes of zeros')
        blocks.append((number, bytearray(b'%d' % (number % 10)) * size))
    # Memory that grows in place, or is moved.
    grown = bytearray()
    for i in range(300):
        grown += bytes([i % 256]) * 4096
    for i in range(300):
        check(grown[i * 4096] == i % 256 and grown[i * 4096 + 4095] == i % 256, 'a growing array')
    for made, block in blocks:
        check(block.count(b'%d' % (made % 10)) == len(block), 'a block')
    while sum(len(block) for _, block in blocks) > 60_000_000:
        blocks.pop(random.randrange(len(blocks)))
    rubbish = [Node(i) for i in range(5000)]
    check(rubbish[999].me is rubbish[999] and rubbish[999].text == 'node 999' * 3, 'an object')
    del rubbish
    gc.collect()
    thread = threading.Thread(target=in_thread)
    thread.start()
    thread.join()
    for i in random.sample(range(20000), 1000):
        check(lasting[i] == (f'value {i}', [i, i + 1], bytes([i % 256]) * (i % 3000)), 'a value')


number = 0
while True:
    began = time.monotonic()
    try:
        work(number)
    except BaseException:
        report('stale ' + traceback.format_exc())
        raise
    number += 1
    report(f'rounds {number}')
    # Many of these run at the same time: none takes more than a tenth of a core.
    time.sleep(min(2, 9 * (time.monotonic() - began)))
