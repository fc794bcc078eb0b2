"""The other process, which has the other ends."""

import os
import select
import socket
import threading

from ends import PATIENT, drain, expect, fill, state


class Server:
    """What the child has. The parent calls its methods through a pipe."""

    def __init__(self):
        self.listeners, self.ends = {}, {}

    def listen(self, name, family='v4', backlog=8, options=()):
        kind = socket.AF_INET6 if family == 'v6' else socket.AF_INET
        listener = socket.socket(kind, socket.SOCK_STREAM)
        for level, option, value in options:
            listener.setsockopt(level, option, value)
        listener.bind(('::1' if family == 'v6' else '127.0.0.1', 0))
        listener.listen(backlog)
        self.listeners[name] = listener
        return listener.getsockname()[:2]

    def accept(self, name):
        self.listeners[name].settimeout(PATIENT)
        self.ends[name] = self.listeners[name].accept()[0]

    def accepts(self, name, count):
        """Accepts that many and greets each with what it said."""
        listener = self.listeners[name]
        listener.settimeout(PATIENT)
        for _ in range(count):
            sock, _ = listener.accept()
            sock.settimeout(PATIENT)
            sock.sendall(b'hello ' + sock.recv(100))
            self.ends[f'{name}-{len(self.ends)}'] = sock

    def waiting(self, name):
        return bool(select.select([self.listeners[name]], [], [], 0)[0])

    def fill(self, name):
        return fill(self.ends[name])

    def drain(self, name, total, at=0):
        return drain(self.ends[name], total, at)

    def expect(self, name, wanted):
        return expect(self.ends[name], wanted)

    def send(self, name, data):
        self.ends[name].sendall(data)

    def shutdown(self, name):
        self.ends[name].shutdown(socket.SHUT_WR)

    def close(self, name):
        self.ends.pop(name).close()

    def state(self, name):
        return state(self.ends[name])

    def option(self, name, level, option):
        return self.ends[name].getsockopt(level, option)

    def options(self, name, wanted):
        return [self.listeners[name].getsockopt(level, option) for level, option in wanted]

    def echo(self, name):
        """A connection that is never at rest: counts back whatever comes."""

        def run():
            sock = self.ends[name]
            sock.settimeout(None)
            while data := sock.recv(65536):
                sock.sendall(data)

        threading.Thread(target=run, daemon=True).start()


def serve(pipe):
    server = Server()
    while True:
        try:
            method, words = pipe.recv()
        except EOFError:
            os._exit(0)
        try:
            pipe.send((getattr(server, method)(*words), None))
        except Exception as error:
            pipe.send((None, f'{type(error).__name__}: {error}'))


class Remote:
    def __init__(self, pipe):
        self.pipe = pipe

    def begin(self, method, *words):
        self.pipe.send((method, words))

    def end(self):
        if not self.pipe.poll(3 * PATIENT):
            raise TimeoutError('the server does not answer')
        result, error = self.pipe.recv()
        if error:
            raise RuntimeError(error)
        return result

    def __getattr__(self, method):
        return lambda *words: (self.begin(method, *words), self.end())[1]
