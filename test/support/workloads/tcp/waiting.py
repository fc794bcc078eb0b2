"""Connections that nobody has accepted, and what listens."""

import select
import socket
import time

from ends import PATIENT, expect, state


class Waiting:
    def make_not_accepted(self):
        name = 'not accepted'
        address = tuple(self.server.listen(name))
        socks = [socket.create_connection(address) for _ in range(3)]
        names = [sock.getsockname() for sock in socks]

        def check():
            if [sock.getsockname() for sock in socks] != names:
                return 'other names'
            if not self.server.waiting(name):
                return 'nobody waits'
            self.server.begin('accepts', name, 3)
            for number, sock in enumerate(socks):
                sock.sendall(b'I am %d' % number)
            wrong = [expect(sock, b'hello I am %d' % number) for number, sock in enumerate(socks)]
            self.server.end()
            return next((each for each in wrong if each), None)

        self.later(name, check)

    def make_deferred(self):
        name = 'deferred'
        address = tuple(self.server.listen(name, 'v4', 8, [(socket.IPPROTO_TCP, socket.TCP_DEFER_ACCEPT, 600)]))
        sock = socket.create_connection(address)

        def check():
            if self.server.waiting(name):
                return 'accepted before it spoke'
            sock.sendall(b'now')
            self.server.accepts(name, 1)
            return expect(sock, b'hello now')

        self.later(name, check)

    def make_connecting(self):
        name = 'connecting'
        address = tuple(self.server.listen(name, 'v4', 0))
        first = socket.create_connection(address)
        second = socket.socket()
        second.setsockopt(socket.IPPROTO_TCP, socket.TCP_SYNCNT, 100)
        second.setblocking(False)
        second.connect_ex(address)
        time.sleep(0.05)
        was = state(second)

        def check():
            if state(second) != was:
                return f'state {was} became {state(second)}'
            first.sendall(b'one')
            self.server.accepts(name, 1)
            wrong = expect(first, b'hello one')
            # The next attempt may be a minute away by now; still to be connecting is right, too.
            if wrong or not select.select([], [second], [], 3)[1]:
                return wrong or (None if state(second) == was else f'state {state(second)}')
            error = second.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            if error:
                return f'error {error}'
            second.setblocking(True)
            second.sendall(b'two')
            self.server.accepts(name, 1)
            return expect(second, b'hello two')

        self.later(name, check, False)

    def make_shared_port(self):
        name = 'shared port'
        shares = [(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)]
        address = tuple(self.server.listen(name, 'v4', 8, shares))
        mine = socket.socket()
        mine.setsockopt(*shares[0])
        mine.bind(address)
        mine.listen(8)

        def check():
            for _ in range(8):
                sock = socket.create_connection(address)
                sock.sendall(b'me')
                time.sleep(0.01)
                if self.server.waiting(name):
                    self.server.accepts(name, 1)
                else:
                    mine.settimeout(PATIENT)
                    mine.accept()[0].sendall(b'hello me')
                wrong = expect(sock, b'hello me')
                if wrong:
                    return wrong
            return None

        self.later(name, check)

    def make_request(self):
        name = 'not accepted, with data'
        address = tuple(self.server.listen(name))
        sock = socket.create_connection(address)
        sock.sendall(b'request')

        def check():
            self.server.accepts(name, 1)
            return expect(sock, b'hello request')

        self.later(name, lambda: check() if self.server.waiting(name) else expect(sock, b'hello request'))
