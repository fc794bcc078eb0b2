from __future__ import annotations

from typing import List, Mapping, Optional

from ..core.decode import decode, decode_list
from ..core.names import given
from ..core.request import delete, filled, get, post
from ..data import NewToken, TokenInfo
from .link import AsyncLink


class AsyncTokens:
    """Who may use the daemon over the network."""

    def __init__(self, link: AsyncLink) -> None:
        self._link = link

    async def create(
        self,
        *,
        name: Optional[str] = None,
        scope: Optional[str] = None,
        expires_ms: Optional[int] = None,
        labels: Optional[Mapping[str, str]] = None,
    ) -> NewToken:
        body = given(name=name, scope=scope, expires_ms=expires_ms, labels=labels)
        return decode(NewToken, await self._link.json(post(filled("tokens"), body)), "token")

    async def list(self) -> List[TokenInfo]:
        return decode_list(TokenInfo, await self._link.json(get(filled("tokens"))), "tokens")

    async def rotate(self, reference: str) -> NewToken:
        """The same token with another secret; the old one is refused from now on."""
        found = await self._link.json(post(filled("tokens", reference, "rotate"), {}))
        return decode(NewToken, found, "token")

    async def remove(self, reference: str) -> None:
        await self._link.json(delete(filled("tokens", reference)))
