# Made by tools/make_sync.py from forkpoint/aio/link.py; change that one.
"""Sends requests to one daemon, again if the connection is lost."""

from __future__ import annotations

import json
from time import monotonic
from typing import Any, Iterator, Dict, List

from ..core import frames
from ..core.address import Target
from ..core.head import Cut
from ..core.request import Request, accepting, filled
from ..core.retry import Patience
from ..errors import ConnectionError, ForkpointError, error_from_json
from .http import Answer, Connection
from .stream import Stream, sleep
from .websocket import WebSocket

_MOST_IDLE = 8
#: The daemon closes connections that nobody has used for longer.
_IDLE_SECONDS = 30.0


class Link:
    def __init__(self, target: Target) -> None:
        self.target = target
        self._idle: List[Connection] = []
        self._has_answered = False
        self._is_closed = False

    def json(self, request: Request) -> Any:
        """The document of the answer; None if it has none."""
        try:
            return self._retried(request, self._json_once)
        except Exception:
            raise
        except BaseException:
            # Interrupted while it is under way: it is stopped and undone there, too.
            if request.key is not None:
                self._stop(request.key)
            raise

    def read(self, request: Request) -> bytes:
        """The bytes of the answer."""
        return bytes(self._retried(request, self._read_once))

    def open(self, request: Request) -> Answer:
        """The answer, of which only the head has been read."""
        answer: Answer = self._retried(request, self._open_once)
        return answer

    def ask(self, request: Request) -> Answer:
        """The same, but a failure is an answer as well: not the daemon may have given it."""
        answer: Answer = self._retried(request, self._ask_once)
        return answer

    def documents(self, request: Request) -> Iterator[Any]:
        """The documents of an answer as they come. Ends early if the connection is lost."""
        answer = self.open(accepting(request, "application/x-ndjson"))
        try:
            for document in answer.documents():
                yield document
        except ForkpointError:
            raise
        except OSError:
            # Whoever reads knows what the last one is, and where to continue.
            return
        finally:
            answer.close()

    def websocket(self, path: str) -> WebSocket:
        nonce = frames.new_nonce()
        extra = {
            "connection": "Upgrade",
            "upgrade": "websocket",
            "sec-websocket-version": "13",
            "sec-websocket-key": nonce,
        }
        request = Request("GET", path, headers=extra)

        def opened(_: Request) -> WebSocket:
            connection = Connection(Stream.open(self.target))
            try:
                head = connection.send(self.target, request, {})
                if head.status != 101:
                    answer = Answer(connection, head, lambda _: None)
                    raise _failure(answer)
                if head.headers.get("sec-websocket-accept") != frames.accept_of(nonce):
                    raise Cut("the WebSocket was not accepted")
            except BaseException:
                connection.stream.close()
                raise
            return WebSocket(connection.stream)

        socket: WebSocket = self._retried(request, opened)
        return socket

    def close(self) -> None:
        self._is_closed = True
        while self._idle:
            self._idle.pop().stream.close()

    def _json_once(self, request: Request) -> Any:
        answer = self._open_once(request)
        try:
            return answer.json()
        finally:
            answer.close()

    def _read_once(self, request: Request) -> bytes:
        answer = self._open_once(request)
        try:
            return answer.read()
        finally:
            answer.close()

    def _open_once(self, request: Request) -> Answer:
        answer = self._ask_once(request)
        if answer.status < 400:
            return answer
        raise _failure(answer)

    def _ask_once(self, request: Request) -> Answer:
        connection = self._connection(request)
        try:
            head = connection.send(self.target, request, {"te": "trailers"})
        except BaseException:
            connection.stream.close()
            raise
        return Answer(connection, head, self._put_back)

    def _connection(self, request: Request) -> Connection:
        # One that the daemon has closed meanwhile fails, and what cannot be repeated must not fail so.
        while request.repeatable and self._idle:
            connection = self._idle.pop()
            if monotonic() - connection.idle_since < _IDLE_SECONDS:
                return connection
            connection.stream.close()
        return Connection(Stream.open(self.target))

    def _put_back(self, connection: Connection) -> None:
        if self._is_closed or len(self._idle) >= _MOST_IDLE:
            connection.stream.close()
        else:
            connection.idle_since = monotonic()
            self._idle.append(connection)

    def _retried(self, request: Request, work: Any) -> Any:
        if self._is_closed:
            raise ConnectionError(
                "this Forkpoint is closed", remedy="connect again", detail={"happened": "no"}
            )
        patience = Patience(self.target.address, request, self._has_answered)
        while True:
            try:
                result = work(request)
                self._has_answered = True
                return result
            except ForkpointError:
                self._has_answered = True
                raise
            except (OSError, EOFError) as error:
                pause = patience.after(error)
            sleep(pause)

    def _stop(self, key: str) -> None:
        try:
            self._json_once(Request("DELETE", filled("requests", key)))
        except (OSError, ForkpointError):
            # The daemon is gone; the operation is recovered when it comes back.
            pass


def _failure(answer: Answer) -> ForkpointError:
    try:
        document = json.loads(answer.read())
    except ValueError:
        document = None
    finally:
        answer.close()
    if isinstance(document, Dict) and "error" in document:
        return error_from_json(document["error"])
    return ForkpointError(
        f"the daemon answered with status {answer.status}", remedy="check the address"
    )
