"""Bodies with one JSON document a line."""

from __future__ import annotations

import json
from typing import Any, List

from .head import not_http


class LineSplitter:
    """Splits a body that comes in pieces. Empty lines only show that the connection lives."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, piece: bytes) -> List[Any]:
        *lines, self._rest = (self._rest + piece).split(b"\n")
        try:
            return [json.loads(line) for line in lines if line.strip()]
        except ValueError as error:
            raise not_http(error) from None
