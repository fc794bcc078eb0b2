# Waits of Python, each in a thread of its own, and an event loop.
import asyncio
import queue
import select
import socket
import subprocess
import threading
import time

from program import end, notice, ready, takes, working

silent, _other = socket.socketpair()
silent.settimeout(2)


def receives():
    try:
        silent.recv(1)
        notice('recv got something')
    except TimeoutError:
        pass


def gets():
    try:
        queue.Queue().get(timeout=2)
        notice('the queue gave something')
    except queue.Empty:
        pass


def waits_for_process():
    if subprocess.run(['sleep', '2']).returncode != 0:
        notice('sleep failed')


waits = {
    'time.sleep': lambda: time.sleep(2),
    'select.select': lambda: select.select([silent], [], [], 2),
    'poll': lambda: select.poll().poll(2000),
    'recv with a time-out': receives,
    'Queue.get': gets,
    'Event.wait': lambda: threading.Event().wait(2),
    'subprocess.run': waits_for_process,
    'asyncio.sleep': lambda: asyncio.run(asyncio.sleep(2)),
}


def again_and_again(what, wait):
    while working():
        takes(what, 2, wait)


threads = [threading.Thread(target=again_and_again, args=one) for one in waits.items()]
for thread in threads:
    thread.start()
ready()
for thread in threads:
    thread.join()
end()
