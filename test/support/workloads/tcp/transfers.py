"""Connections with data under way, and those that are closed at one end or both."""

import socket
import time

from ends import drain, expect, fill, state


class Transfers:
    def make_unsent(self):
        for name, family in [('unsent', 'v4'), ('unsent over IPv6', 'v6')]:
            sock = self.connect(name, family)
            total = fill(sock)
            self.later(name, lambda name=name, total=total: self.server.drain(name, total) or self.carries(name))

    def make_unsent_by_server(self):
        name = 'unsent by the server'
        sock = self.connect(name)
        total = self.server.fill(name)
        self.later(name, lambda: drain(sock, total) or self.carries(name))

    def make_both_full(self):
        name = 'full both ways'
        sock = self.connect(name)
        there, back = fill(sock), self.server.fill(name)
        self.later(name, lambda: self.server.drain(name, there) or drain(sock, back) or self.carries(name))

    def make_arrived(self):
        name = 'arrived'
        sock = self.connect(name)
        sock.sendall(b'it is here')
        self.later(name, lambda: self.server.expect(name, b'it is here') or self.carries(name))

    def make_gone_with_data(self):
        """The server has closed, but what it said last did not fit: only the kernel has it."""
        name = 'closed, unsent'
        sock = self.connect(name)
        total = self.server.fill(name)
        self.server.close(name)
        self.later(name, lambda: drain(sock, total) or expect(sock, b''))

    def make_half_closed(self):
        name = 'half closed'
        sock = self.connect(name)
        sock.sendall(b'the question')
        sock.shutdown(socket.SHUT_WR)
        time.sleep(0.05)
        states = state(sock), self.server.state(name)

        def check():
            if (state(sock), self.server.state(name)) != states:
                return f'states {states} became {(state(sock), self.server.state(name))}'
            wrong = self.server.expect(name, b'the question') or self.server.expect(name, b'')
            self.server.send(name, b'the answer')
            self.server.shutdown(name)
            return wrong or expect(sock, b'the answer') or expect(sock, b'')

        self.later(name, check)

    def make_half_closed_unsent(self):
        name = 'half closed, unsent'
        sock = self.connect(name)
        total = fill(sock)
        sock.shutdown(socket.SHUT_WR)

        def check():
            wrong = self.server.drain(name, total) or self.server.expect(name, b'')
            self.server.send(name, b'the answer')
            return wrong or expect(sock, b'the answer')

        self.later(name, check)

    def make_answer_unsent(self):
        name = 'half closed by the reader'
        sock = self.connect(name)
        total = self.server.fill(name)
        sock.shutdown(socket.SHUT_WR)
        self.later(name, lambda: self.server.expect(name, b'') or drain(sock, total))

    def make_closing(self):
        name = 'closed by both'
        sock = self.connect(name)
        sock.sendall(b'last')
        self.server.send(name, b'words')
        sock.shutdown(socket.SHUT_WR)
        self.server.shutdown(name)
        check = lambda: (
            expect(sock, b'words') or expect(sock, b'') or self.server.expect(name, b'last') or self.server.expect(name, b'')
        )
        self.later(name, check)

    def make_orphan(self):
        name = 'closed by one'
        sock = self.connect(name)
        self.server.send(name, b'last words')
        self.server.close(name)
        time.sleep(0.05)
        was = state(sock)

        def check():
            if state(sock) != was:
                return f'state {was} became {state(sock)}'
            wrong = expect(sock, b'last words') or expect(sock, b'')
            sock.send(b'too late')  # the first write cannot know
            return wrong

        self.later(name, check)
