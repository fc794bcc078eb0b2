# What the programs in Python share.
import select
import sys
import time

noticed = False


def ready():
    print('ready', flush=True)


def is_over():
    return bool(select.select([0], [], [], 0)[0])


def until_over():
    sys.stdin.read()


def notice(text):
    global noticed
    if not noticed:
        print('noticed:', text, flush=True)
    noticed = True


def same(what, before, after):
    if before != after:
        notice(f'{what} was {before!r}, is {after!r}')


def working():
    """Until the snapshots are over, or something was noticed."""
    return not noticed and not is_over()


def end():
    if not noticed:
        print('ok', flush=True)


def stood_still():
    """Seconds that the whole environment stood still so far, by the watch of launch.c."""
    with open('../stops') as file:
        return int(file.read()) / 1000


def takes(what, seconds, wait):
    """A wait that takes so long, and no more than pauses and a busy machine add to it."""
    begin, stops = time.monotonic(), stood_still()
    wait()
    took = time.monotonic() - begin
    if took > seconds + 5:
        time.sleep(1)
    if took < seconds - 0.01 or took > seconds + 5 + stood_still() - stops:
        notice(f'{what} took {took:.3f} s instead of {seconds}')
