# Made by tools/make_sync.py from forkpoint/aio/tokens.py; change that one.
from __future__ import annotations

from typing import List, Mapping, Optional

from ..core.decode import decode, decode_list
from ..core.names import given
from ..core.request import delete, filled, get, post
from ..data import NewToken, TokenInfo
from .link import Link


class Tokens:
    """Who may use the daemon over the network."""

    def __init__(self, link: Link) -> None:
        self._link = link

    def create(
        self,
        *,
        name: Optional[str] = None,
        scope: Optional[str] = None,
        expires_ms: Optional[int] = None,
        labels: Optional[Mapping[str, str]] = None,
    ) -> NewToken:
        body = given(name=name, scope=scope, expires_ms=expires_ms, labels=labels)
        return decode(NewToken, self._link.json(post(filled("tokens"), body)), "token")

    def list(self) -> List[TokenInfo]:
        return decode_list(TokenInfo, self._link.json(get(filled("tokens"))), "tokens")

    def rotate(self, reference: str) -> NewToken:
        """The same token with another secret; the old one is refused from now on."""
        found = self._link.json(post(filled("tokens", reference, "rotate"), {}))
        return decode(NewToken, found, "token")

    def remove(self, reference: str) -> None:
        self._link.json(delete(filled("tokens", reference)))
