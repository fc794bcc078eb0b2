# Made by tools/make_sync.py from forkpoint/aio/http.py; change that one.
"""HTTP/1.1, as far as a daemon speaks it."""

from __future__ import annotations

import base64
import json
from typing import Any, Iterator, Callable, Dict, List

from ..core.address import Target
from ..core.head import MOST_HEADERS, Cut, Head, head_bytes, not_http, parse_fields, parse_head, whole
from ..core.lines import LineSplitter
from ..core.request import Request
from ..errors import error_from_json
from .stream import Stream

_PIECE = 256 * 1024
#: In which a daemon says why a body of bytes ends early.
_ERROR_TRAILER = "forkpoint-error"


class Connection:
    """A connection that carries one request after the other."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        #: Since when nobody uses it, as `monotonic` counts.
        self.idle_since = 0.0

    def send(self, target: Target, request: Request, extra: Dict[str, str]) -> Head:
        """Sends a request, and reads the head of its answer."""
        try:
            self._send_all(target, request, extra)
        except (BrokenPipeError, ConnectionResetError):
            # It may have been refused before all of it was sent: then there is an answer.
            if not hasattr(request.body, "read"):
                raise
        head = self._head()
        while head.status in (100, 102, 103):
            head = self._head()
        return head

    def _send_all(self, target: Target, request: Request, extra: Dict[str, str]) -> None:
        head, body = head_bytes(target, request, extra), request.body
        if body is None or isinstance(body, bytes):
            self.stream.write(head + (body or b""))
            return
        self.stream.write(head)
        while True:
            piece = body.read(_PIECE)
            if not piece:
                break
            self.stream.write(b"%x\r\n%b\r\n" % (len(piece), piece))
        self.stream.write(b"0\r\n\r\n")

    def _head(self) -> Head:
        return parse_head(self.block())

    def block(self) -> List[bytes]:
        """Lines up to an empty one."""
        lines: List[bytes] = []
        while True:
            line = self.stream.line()
            if not line:
                return lines
            lines.append(line)
            if len(lines) > MOST_HEADERS:
                raise not_http("too many headers")


class Answer:
    """An answer whose body is still to be read. Close it, or read it to its end."""

    def __init__(
        self, connection: Connection, head: Head, done: Callable[[Connection], None]
    ) -> None:
        self.status = head.status
        self.headers = head.headers
        self._head = head
        self._connection = connection
        self._done = done
        self._is_over = False

    def pieces(self) -> Iterator[bytes]:
        """The body as it comes."""
        if self._head.is_chunked:
            for piece in self._chunks():
                yield piece
        elif self._head.length is None:
            for piece in self._until_end():
                yield piece
        else:
            for piece in self._exactly(self._head.length):
                yield piece
        self._finish()

    def read(self) -> bytes:
        return b"".join([piece for piece in self.pieces()])

    def json(self) -> Any:
        body = self.read()
        if not body:
            return None
        try:
            return json.loads(body)
        except ValueError as error:
            raise not_http(error) from None

    def documents(self) -> Iterator[Any]:
        """The body as one JSON document a line."""
        splitter = LineSplitter()
        for piece in self.pieces():
            for document in splitter.feed(piece):
                yield document

    def close(self) -> None:
        if not self._is_over:
            self._is_over = True
            self._connection.stream.close()

    def __enter__(self) -> Answer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _finish(self) -> None:
        if self._is_over:
            return
        self._is_over = True
        if self._head.keeps:
            self._done(self._connection)
        else:
            self._connection.stream.close()

    def _exactly(self, length: int) -> Iterator[bytes]:
        while length > 0:
            piece = self._connection.stream.some(min(length, _PIECE))
            if not piece:
                raise Cut("the answer is cut")
            length -= len(piece)
            yield piece

    def _until_end(self) -> Iterator[bytes]:
        while True:
            piece = self._connection.stream.some(_PIECE)
            if not piece:
                return
            yield piece

    def _chunks(self) -> Iterator[bytes]:
        while True:
            size = whole((self._connection.stream.line()).decode("latin-1").split(";")[0], 16)
            if size == 0:
                break
            for piece in self._exactly(size):
                yield piece
            self._connection.stream.line()
        trailers = parse_fields(self._connection.block())
        reason = trailers.get(_ERROR_TRAILER)
        if reason is not None:
            self._finish()
            raise error_from_json(json.loads(base64.urlsafe_b64decode(reason + "==")))
