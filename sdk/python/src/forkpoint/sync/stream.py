"""A connection to a daemon. Besides its twin in `forkpoint.aio`, the only code that is not written once."""

from __future__ import annotations

import io
import socket
from time import sleep as sleep

from ..core.address import Target
from ..core.head import LONGEST_LINE, Cut

#: A daemon on the same machine answers at once; one far away within seconds.
CONNECT_SECONDS = 15.0


class Stream:
    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._reader = io.BufferedReader(socket.SocketIO(connection, "r"), LONGEST_LINE)

    @classmethod
    def open(cls, target: Target) -> Stream:
        address = target.address
        if address.path is not None:
            connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        else:
            connection = _connected(address.host, address.port)
        try:
            if address.path is not None:
                connection.settimeout(CONNECT_SECONDS)
                connection.connect(address.path)
            else:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if target.ssl is not None:
                connection = target.ssl.wrap_socket(connection, server_hostname=address.host)
            connection.settimeout(None)
            return cls(connection)
        except BaseException:
            connection.close()
            raise

    def write(self, data: bytes) -> None:
        self._socket.sendall(data)

    def line(self) -> bytes:
        """Without its end; a line that is too long comes from no daemon."""
        line = self._reader.readline(LONGEST_LINE)
        if not line.endswith(b"\n"):
            raise Cut("the connection ended")
        return line.rstrip(b"\r\n")

    def some(self, most: int) -> bytes:
        """What there is, at least one byte; nothing at the end."""
        return self._reader.read1(most)

    def close(self) -> None:
        try:
            # Whoever waits for an answer in another thread sees the end.
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # It has ended already.
        self._reader.close()
        self._socket.close()


def _connected(host: str, port: int) -> socket.socket:
    try:
        return socket.create_connection((host, port), CONNECT_SECONDS)
    except socket.timeout:
        raise ConnectionRefusedError(f"no answer within {CONNECT_SECONDS:g} s") from None
