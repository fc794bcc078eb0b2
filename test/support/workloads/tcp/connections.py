"""TCP connections over loopback between two processes, each in a state of its own.

The client is this process, the server its child. They are made, then the program answers each line of its input:
`check` looks at all of them once, and prints a line for each: name, `ok` or what is wrong, and seconds."""

import json
import multiprocessing
import os
import select
import socket
import sys
import threading
import time

from ends import PATIENT, PROMPT, expect, pattern
from server import Remote, serve
from transfers import Transfers
from waiting import Waiting


class Busy(threading.Thread):
    """Sends without pause, and checks what comes back."""

    def __init__(self, sock):
        super().__init__(daemon=True)
        self.sock, self.sent, self.received, self.wrong = sock, 0, 0, None
        self.start()

    def run(self):
        self.sock.setblocking(False)
        try:
            while True:
                wants = [self.sock] if self.sent - self.received < 1 << 20 else []
                readable, writable, _ = select.select([self.sock], wants, [], PATIENT)
                if not readable and not writable:
                    raise TimeoutError('nothing comes any more')
                if writable:
                    self.sent += self.sock.send(pattern(self.sent, 30000))
                if readable:
                    data = self.sock.recv(65536)
                    if data != pattern(self.received, len(data)) or not data:
                        raise ValueError(f'other bytes at {self.received}')
                    self.received += len(data)
        except Exception as error:
            self.wrong = f'{type(error).__name__}: {error}'


NAMED = {
    'sndbuf': (socket.SOL_SOCKET, socket.SO_SNDBUF, 50000),
    'rcvbuf': (socket.SOL_SOCKET, socket.SO_RCVBUF, 70000),
    'user timeout': (socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 12345),
    'window clamp': (socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP, 20000),
    'linger2': (socket.IPPROTO_TCP, socket.TCP_LINGER2, 7),
    'no delay': (socket.IPPROTO_TCP, socket.TCP_NODELAY, 1),
    'keep alive after': (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 77),
    'unsent low water': (socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, 4321),
}
LISTENING = [
    (socket.IPPROTO_TCP, socket.TCP_DEFER_ACCEPT, 7),
    (socket.IPPROTO_TCP, socket.TCP_FASTOPEN, 5),
    (socket.SOL_SOCKET, socket.SO_REUSEPORT, 1),
]

LOSSY = ['gone_with_data', 'request']  # the kernel has data that nobody can read


class Connections(Transfers, Waiting):
    def __init__(self, server, lossy):
        self.server, self.ends, self.addresses = server, {}, {}
        self.checks = []
        for method in [name for name in dir(self) if name.startswith('make_')]:
            if (method[5:] in LOSSY) == lossy:
                getattr(self, method)()

    def connect(self, name, family='v4', options=()):
        address = self.server.listen(name, family)
        kind = socket.AF_INET6 if family == 'v6' else socket.AF_INET
        sock = socket.socket(kind, socket.SOCK_STREAM)
        for level, option, value in options:
            sock.setsockopt(level, option, value)
        sock.connect(tuple(address))
        self.server.accept(name)
        self.ends[name] = sock
        return sock

    def later(self, name, check, prompt=True):
        self.checks.append((name, check, prompt))

    def make_options(self):
        name = 'options'
        sock = self.connect(name, 'v4', NAMED.values())
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b'reno')
        read = lambda: {each: sock.getsockopt(level, option) for each, (level, option, _) in NAMED.items()}
        large = self.connect('large')
        clamp = lambda: large.getsockopt(socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP)
        self.server.listen('listener', 'v4', 3, LISTENING)
        listening = lambda: self.server.options('listener', [each[:2] for each in LISTENING])
        before, clamped, listened = read(), clamp(), listening()

        def check():
            now = read()
            changed = [f'{each}: {before[each]} became {now[each]}' for each in now if now[each] != before[each]]
            if sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 5)[:4] != b'reno':
                changed.append('congestion control')
            if clamp() != clamped:
                changed.append(f'clamp {clamped} became {clamp()}')
            if listening() != listened:
                changed.append(f'of the listener: {listened} became {listening()}')
            return ', '.join(changed) or self.carries(name)

        self.later(name, check)

    def make_zz_busy(self):
        """Last, so that it runs while nothing else is made."""
        self.busy = []
        for number in range(3):
            sock = self.connect(f'busy {number}')
            self.server.echo(f'busy {number}')
            self.busy.append(Busy(sock))
        self.later('busy', self.check_busy)

    def check_busy(self):
        before = [each.received for each in self.busy]
        end = time.monotonic() + 2 * PROMPT
        while time.monotonic() < end:
            time.sleep(0.02)
            wrong = [each.wrong for each in self.busy if each.wrong]
            if wrong:
                return wrong[0]
            if all(each.received > was + 100000 for each, was in zip(self.busy, before)):
                return None
        return f'stands still: {[each.received - was for each, was in zip(self.busy, before)]}'

    def carries(self, name):
        self.ends[name].sendall(b'there')
        wrong = self.server.expect(name, b'there')
        self.server.send(name, b'and back')
        return wrong or expect(self.ends[name], b'and back')

    def check(self):
        results = {}
        # What moves first, as it may stand still only for a moment.
        for name, check, prompt in sorted(self.checks, key=lambda each: each[0] != 'busy'):
            began = time.monotonic()
            try:
                wrong = check()
            except Exception as error:
                wrong = f'{type(error).__name__}: {error}'
            took = time.monotonic() - began
            if not wrong and prompt and took > PROMPT:
                wrong = f'took {took:.1f} s'
            results[name] = wrong or 'ok'
        return results


def main():
    here, there = multiprocessing.Pipe()
    if not os.fork():
        here.close()
        serve(there)
    there.close()
    connections = Connections(Remote(here), 'lossy' in sys.argv)
    print('ready', flush=True)
    for line in sys.stdin:
        if line.strip() == 'check':
            print(json.dumps(connections.check()), flush=True)
        else:
            print(line.strip(), flush=True)


main()
