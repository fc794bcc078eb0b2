from __future__ import annotations

import json
from typing import AsyncIterator, Union

from ..core import frames
from ..core.decode import decode
from ..core.request import delete, filled, get, post
from ..data import TerminalScreen
from .link import AsyncLink
from .websocket import AsyncWebSocket


class AsyncTerminal:
    """A screen that a person or a program types into. It continues when nobody looks."""

    def __init__(self, link: AsyncLink, environment: str, name: str) -> None:
        self._link = link
        self._path = filled("environments", environment, "terminals", name)
        self.name = name

    async def write(self, data: str) -> None:
        """Types."""
        await self._link.json(post(f"{self._path}/input", {"data": data}))

    async def resize(self, cols: int, rows: int) -> None:
        await self._link.json(post(f"{self._path}/resize", {"cols": cols, "rows": rows}))

    async def screen(self) -> TerminalScreen:
        """What a person would see on the screen now."""
        found = await self._link.json(get(f"{self._path}/screen"))
        return decode(TerminalScreen, found, "screen")

    async def attach(self) -> AsyncTerminalViewer:
        """Sees the screen, then what is printed from now on, and can type."""
        return AsyncTerminalViewer(await self._link.websocket(self._path))

    async def close(self) -> None:
        """Hangs up, which ends the programs that run on it."""
        await self._link.json(delete(self._path))


class AsyncTerminalViewer:
    """One who watches a terminal."""

    def __init__(self, socket: AsyncWebSocket) -> None:
        self._socket = socket

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while True:
            data = await self._socket.receive()
            if data is None:
                return
            yield data

    async def write(self, data: Union[str, bytes]) -> None:
        await self._socket.send(frames.BINARY, data.encode() if isinstance(data, str) else data)

    async def resize(self, cols: int, rows: int) -> None:
        size = json.dumps({"cols": cols, "rows": rows}).encode()
        await self._socket.send(frames.TEXT, size)

    def detach(self) -> None:
        """Looks away; the terminal continues."""
        self._socket.close()

    async def __aenter__(self) -> AsyncTerminalViewer:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.detach()
