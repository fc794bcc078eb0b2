"""Where a daemon is."""

from __future__ import annotations

import os
import ssl
from dataclasses import dataclass
from typing import Optional
from urllib.parse import urlsplit

from ..errors import InvalidInputError

#: Where the daemon of the default home listens.
DEFAULT_SOCKET = "/run/forkpoint/forkpoint.sock"

_FORMS = "give unix:///path, the path of a socket, http://host:port or https://host:port"


@dataclass(frozen=True)
class Address:
    """A Unix socket, or a host and a port."""

    path: Optional[str] = None
    host: str = "localhost"
    port: int = 0
    tls: bool = False

    def __str__(self) -> str:
        if self.path is not None:
            return f"unix://{self.path}"
        return f"{'https' if self.tls else 'http'}://{self.authority}"

    @property
    def authority(self) -> str:
        """What the header `Host` says."""
        if self.path is not None:
            return "localhost"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def parse_address(text: str) -> Address:
    if text.startswith("/"):
        return Address(path=text)
    if text.startswith("unix:///"):
        return Address(path=text[len("unix://") :])
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidInputError(f"not the address of a daemon: {text!r}", remedy=_FORMS)
    if parts.username or parts.query or parts.path not in ("", "/"):
        raise InvalidInputError(
            f"the address of a daemon has only a host and a port: {text!r}",
            remedy=f"{_FORMS}, and the token as `token`",
        )
    try:
        port = parts.port
    except ValueError:
        raise InvalidInputError(f"not a port: {text!r}", remedy=_FORMS) from None
    tls = parts.scheme == "https"
    return Address(host=parts.hostname, port=port or (443 if tls else 80), tls=tls)


@dataclass(frozen=True)
class Target:
    """A daemon, and what to show it."""

    address: Address
    token: Optional[str]
    ssl: Optional[ssl.SSLContext]


def find_target(url_or_socket: Optional[str], token: Optional[str], ca: Optional[str]) -> Target:
    """As the command line looks for it: FORKPOINT_HOST, FORKPOINT_TOKEN, FORKPOINT_CA, the default socket."""
    environ = os.environ
    address = parse_address(url_or_socket or environ.get("FORKPOINT_HOST") or DEFAULT_SOCKET)
    if token is None and address.path is None:
        token = environ.get("FORKPOINT_TOKEN")
    if token is not None and not (token.isascii() and token.isprintable()):
        raise InvalidInputError("the token has characters that no token has", remedy="check the token")
    context = None
    if address.tls:
        context = ssl.create_default_context(cafile=ca or environ.get("FORKPOINT_CA"))
    return Target(address, token, context)
