# Made by tools/make_sync.py from forkpoint/aio/terminals.py; change that one.
from __future__ import annotations

import json
from typing import Iterator, Union

from ..core import frames
from ..core.decode import decode
from ..core.request import delete, filled, get, post
from ..data import TerminalScreen
from .link import Link
from .websocket import WebSocket


class Terminal:
    """A screen that a person or a program types into. It continues when nobody looks."""

    def __init__(self, link: Link, environment: str, name: str) -> None:
        self._link = link
        self._path = filled("environments", environment, "terminals", name)
        self.name = name

    def write(self, data: str) -> None:
        """Types."""
        self._link.json(post(f"{self._path}/input", {"data": data}))

    def resize(self, cols: int, rows: int) -> None:
        self._link.json(post(f"{self._path}/resize", {"cols": cols, "rows": rows}))

    def screen(self) -> TerminalScreen:
        """What a person would see on the screen now."""
        found = self._link.json(get(f"{self._path}/screen"))
        return decode(TerminalScreen, found, "screen")

    def attach(self) -> TerminalViewer:
        """Sees the screen, then what is printed from now on, and can type."""
        return TerminalViewer(self._link.websocket(self._path))

    def close(self) -> None:
        """Hangs up, which ends the programs that run on it."""
        self._link.json(delete(self._path))


class TerminalViewer:
    """One who watches a terminal."""

    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket

    def __iter__(self) -> Iterator[bytes]:
        while True:
            data = self._socket.receive()
            if data is None:
                return
            yield data

    def write(self, data: Union[str, bytes]) -> None:
        self._socket.send(frames.BINARY, data.encode() if isinstance(data, str) else data)

    def resize(self, cols: int, rows: int) -> None:
        size = json.dumps({"cols": cols, "rows": rows}).encode()
        self._socket.send(frames.TEXT, size)

    def detach(self) -> None:
        """Looks away; the terminal continues."""
        self._socket.close()

    def __enter__(self) -> TerminalViewer:
        return self

    def __exit__(self, *_: object) -> None:
        self.detach()
