"""Sends requests to one daemon, again if the connection is lost."""

from __future__ import annotations

import json
from time import monotonic
from typing import Any, AsyncIterator, Dict, List

from ..core import frames
from ..core.address import Target
from ..core.head import Cut
from ..core.request import Request, accepting, filled
from ..core.retry import Patience
from ..errors import ConnectionError, ForkpointError, error_from_json
from .http import AsyncAnswer, AsyncConnection
from .stream import AsyncStream, sleep
from .websocket import AsyncWebSocket

_MOST_IDLE = 8
#: The daemon closes connections that nobody has used for longer.
_IDLE_SECONDS = 30.0


class AsyncLink:
    def __init__(self, target: Target) -> None:
        self.target = target
        self._idle: List[AsyncConnection] = []
        self._has_answered = False
        self._is_closed = False

    async def json(self, request: Request) -> Any:
        """The document of the answer; None if it has none."""
        try:
            return await self._retried(request, self._json_once)
        except Exception:
            raise
        except BaseException:
            # Interrupted while it is under way: it is stopped and undone there, too.
            if request.key is not None:
                await self._stop(request.key)
            raise

    async def read(self, request: Request) -> bytes:
        """The bytes of the answer."""
        return bytes(await self._retried(request, self._read_once))

    async def open(self, request: Request) -> AsyncAnswer:
        """The answer, of which only the head has been read."""
        answer: AsyncAnswer = await self._retried(request, self._open_once)
        return answer

    async def ask(self, request: Request) -> AsyncAnswer:
        """The same, but a failure is an answer as well: not the daemon may have given it."""
        answer: AsyncAnswer = await self._retried(request, self._ask_once)
        return answer

    async def documents(self, request: Request) -> AsyncIterator[Any]:
        """The documents of an answer as they come. Ends early if the connection is lost."""
        answer = await self.open(accepting(request, "application/x-ndjson"))
        try:
            async for document in answer.documents():
                yield document
        except ForkpointError:
            raise
        except OSError:
            # Whoever reads knows what the last one is, and where to continue.
            return
        finally:
            answer.close()

    async def websocket(self, path: str) -> AsyncWebSocket:
        nonce = frames.new_nonce()
        extra = {
            "connection": "Upgrade",
            "upgrade": "websocket",
            "sec-websocket-version": "13",
            "sec-websocket-key": nonce,
        }
        request = Request("GET", path, headers=extra)

        async def opened(_: Request) -> AsyncWebSocket:
            connection = AsyncConnection(await AsyncStream.open(self.target))
            try:
                head = await connection.send(self.target, request, {})
                if head.status != 101:
                    answer = AsyncAnswer(connection, head, lambda _: None)
                    raise await _failure(answer)
                if head.headers.get("sec-websocket-accept") != frames.accept_of(nonce):
                    raise Cut("the WebSocket was not accepted")
            except BaseException:
                connection.stream.close()
                raise
            return AsyncWebSocket(connection.stream)

        socket: AsyncWebSocket = await self._retried(request, opened)
        return socket

    def close(self) -> None:
        self._is_closed = True
        while self._idle:
            self._idle.pop().stream.close()

    async def _json_once(self, request: Request) -> Any:
        answer = await self._open_once(request)
        try:
            return await answer.json()
        finally:
            answer.close()

    async def _read_once(self, request: Request) -> bytes:
        answer = await self._open_once(request)
        try:
            return await answer.read()
        finally:
            answer.close()

    async def _open_once(self, request: Request) -> AsyncAnswer:
        answer = await self._ask_once(request)
        if answer.status < 400:
            return answer
        raise await _failure(answer)

    async def _ask_once(self, request: Request) -> AsyncAnswer:
        connection = await self._connection(request)
        try:
            head = await connection.send(self.target, request, {"te": "trailers"})
        except BaseException:
            connection.stream.close()
            raise
        return AsyncAnswer(connection, head, self._put_back)

    async def _connection(self, request: Request) -> AsyncConnection:
        # One that the daemon has closed meanwhile fails, and what cannot be repeated must not fail so.
        while request.repeatable and self._idle:
            connection = self._idle.pop()
            if monotonic() - connection.idle_since < _IDLE_SECONDS:
                return connection
            connection.stream.close()
        return AsyncConnection(await AsyncStream.open(self.target))

    def _put_back(self, connection: AsyncConnection) -> None:
        if self._is_closed or len(self._idle) >= _MOST_IDLE:
            connection.stream.close()
        else:
            connection.idle_since = monotonic()
            self._idle.append(connection)

    async def _retried(self, request: Request, work: Any) -> Any:
        if self._is_closed:
            raise ConnectionError(
                "this Forkpoint is closed", remedy="connect again", detail={"happened": "no"}
            )
        patience = Patience(self.target.address, request, self._has_answered)
        while True:
            try:
                result = await work(request)
                self._has_answered = True
                return result
            except ForkpointError:
                self._has_answered = True
                raise
            except (OSError, EOFError) as error:
                pause = patience.after(error)
            await sleep(pause)

    async def _stop(self, key: str) -> None:
        try:
            await self._json_once(Request("DELETE", filled("requests", key)))
        except (OSError, ForkpointError):
            # The daemon is gone; the operation is recovered when it comes back.
            pass


async def _failure(answer: AsyncAnswer) -> ForkpointError:
    try:
        document = json.loads(await answer.read())
    except ValueError:
        document = None
    finally:
        answer.close()
    if isinstance(document, Dict) and "error" in document:
        return error_from_json(document["error"])
    return ForkpointError(
        f"the daemon answered with status {answer.status}", remedy="check the address"
    )
