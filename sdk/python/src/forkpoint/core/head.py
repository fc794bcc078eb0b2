"""The heads of HTTP messages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Optional

from ..errors import BackendError
from .address import Target
from .request import Request

#: Longer lines and heads come from no daemon.
LONGEST_LINE = 65536
MOST_HEADERS = 200


class Cut(OSError):
    """The connection ended in the middle of a message."""


@dataclass(frozen=True)
class Head:
    status: int
    headers: Dict[str, str]

    @property
    def is_chunked(self) -> bool:
        return "chunked" in self.headers.get("transfer-encoding", "").lower()

    @property
    def length(self) -> Optional[int]:
        """Of the body; None: until the connection ends."""
        if self.status < 200 or self.status in (204, 304):
            return 0
        text = self.headers.get("content-length")
        return None if text is None else whole(text, 10)

    @property
    def keeps(self) -> bool:
        """Whether the connection can be used again."""
        is_framed = self.is_chunked or self.length is not None
        return is_framed and self.headers.get("connection", "").lower() != "close"


def head_bytes(target: Target, request: Request, extra: Dict[str, str]) -> bytes:
    headers = {"host": target.address.authority, "user-agent": "forkpoint-python", **request.headers}
    if target.token is not None:
        headers["authorization"] = f"Bearer {target.token}"
    if request.body is None:
        if request.method in ("POST", "PUT"):
            headers["content-length"] = "0"
    elif isinstance(request.body, bytes):
        headers["content-length"] = str(len(request.body))
    else:
        headers["transfer-encoding"] = "chunked"
    headers.update(extra)
    lines = [f"{request.method} {request.path} HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def parse_head(lines: List[bytes]) -> Head:
    parts = lines[0].decode("latin-1").split(" ", 2)
    if len(parts) < 2 or not parts[0].startswith("HTTP/1."):
        raise not_http()
    return Head(whole(parts[1], 10), parse_fields(lines[1:]))


def parse_fields(lines: List[bytes]) -> Dict[str, str]:
    fields: Dict[str, str] = {}
    for line in lines:
        name, _, value = line.decode("latin-1").partition(":")
        fields[name.strip().lower()] = value.strip()
    return fields


def whole(text: str, base: int) -> int:
    try:
        number = int(text.strip(), base)
    except ValueError:
        raise not_http() from None
    if number < 0:
        raise not_http()
    return number


def not_http(detail: Any = None) -> BackendError:
    return BackendError(
        "what answered does not speak HTTP as a daemon does",
        remedy="check the address, and whether it needs https",
        detail=None if detail is None else {"why": str(detail)},
    )
