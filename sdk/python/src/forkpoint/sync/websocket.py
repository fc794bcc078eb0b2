# Made by tools/make_sync.py from forkpoint/aio/websocket.py; change that one.
"""A WebSocket, as far as a terminal needs one."""

from __future__ import annotations

from typing import Optional

from ..core import frames
from ..core.head import Cut
from .stream import Stream


class WebSocket:
    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._rest = b""
        self._is_closed = False

    def send(self, opcode: int, payload: bytes) -> None:
        self._stream.write(frames.frame(opcode, payload))

    def receive(self) -> Optional[bytes]:
        """The next message; None at the end."""
        whole = b""
        while True:
            try:
                first, second = self._exactly(2)
                opcode, is_last, length, more = frames.head_of(first, second)
                if more:
                    length = int.from_bytes(self._exactly(more), "big")
                # A message may come in any number of frames.
                if len(whole) + length > frames.LONGEST:
                    raise Cut("a message is too long")
                payload = self._exactly(length)
            except (OSError, ValueError):
                # Closed by us or by the other side; either way it is over.
                return None
            if opcode == frames.CLOSE:
                return None
            if opcode == frames.PING:
                self.send(frames.PONG, payload)
            elif opcode != frames.PONG:
                whole += payload
                if is_last:
                    return whole

    def close(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            self._stream.close()

    def _exactly(self, size: int) -> bytes:
        while len(self._rest) < size:
            piece = self._stream.some(65536)
            if not piece:
                raise Cut("the connection ended")
            self._rest += piece
        taken, self._rest = self._rest[:size], self._rest[size:]
        return taken
