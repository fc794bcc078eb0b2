"""A connection to a daemon. Besides its twin in `forkpoint.sync`, the only code that is not written once."""

from __future__ import annotations

import asyncio
from asyncio import sleep as sleep

from ..core.address import Target
from ..core.head import LONGEST_LINE, Cut

#: A daemon on the same machine answers at once; one far away within seconds.
CONNECT_SECONDS = 15.0


class AsyncStream:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(cls, target: Target) -> AsyncStream:
        address = target.address
        if address.path is not None:
            opening = asyncio.open_unix_connection(address.path, limit=LONGEST_LINE)
        else:
            opening = asyncio.open_connection(
                address.host, address.port, ssl=target.ssl, limit=LONGEST_LINE
            )
        try:
            return cls(*await asyncio.wait_for(opening, CONNECT_SECONDS))
        except asyncio.TimeoutError:
            raise ConnectionRefusedError(f"no answer within {CONNECT_SECONDS:g} s") from None

    async def write(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    async def line(self) -> bytes:
        """Without its end; a line that is too long comes from no daemon."""
        try:
            line = await self._reader.readline()
        except ValueError:
            raise Cut("a line of the answer is too long") from None
        if not line.endswith(b"\n"):
            raise Cut("the connection ended")
        return line.rstrip(b"\r\n")

    async def some(self, most: int) -> bytes:
        """What there is, at least one byte; nothing at the end."""
        return await self._reader.read(most)

    def close(self) -> None:
        self._writer.close()
