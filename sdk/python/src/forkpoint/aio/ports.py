from __future__ import annotations

from typing import Mapping, Optional

from ..core.request import Request, filled
from .http import AsyncAnswer
from .link import AsyncLink


class AsyncPorts:
    """Servers inside, through the daemon's proxy."""

    def __init__(self, link: AsyncLink, environment: str) -> None:
        self._link = link
        self._environment = environment

    def url(self, port: int, path: str = "/") -> str:
        """Where any client of HTTP finds a server inside; over TCP it needs the token of this one."""
        return f"{self._link.target.address}{self._path(port, path)}"

    async def request(
        self,
        port: int,
        path: str = "/",
        *,
        method: str = "GET",
        body: Optional[bytes] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AsyncAnswer:
        """Asks a server inside. Read the answer to its end, or close it; one with a status of 400 or more
        is returned, too."""
        sent = Request(
            method, self._path(port, path), body, dict(headers or {}), repeatable=method == "GET"
        )
        return await self._link.ask(sent)

    def _path(self, port: int, path: str) -> str:
        return f"{filled('environments', self._environment, 'ports', str(port))}/{path.lstrip('/')}"
