from __future__ import annotations

from typing import TYPE_CHECKING, Any, List

from ..core.decode import decode
from ..data import EnvironmentInfo
from ..errors import ForkpointError, error_from_json
from .link import AsyncLink

if TYPE_CHECKING:
    from .environment import AsyncEnvironment


class AsyncForks(List["AsyncEnvironment"]):
    """The environments that a fork made. The list is complete if `errors` is empty."""

    def __init__(self, made: List[AsyncEnvironment], errors: List[ForkpointError]) -> None:
        super().__init__(made)
        #: One for each environment that could not be made.
        self.errors = errors


def forks_of(link: AsyncLink, documents: Any) -> AsyncForks:
    from .environment import AsyncEnvironment

    made = [
        AsyncEnvironment(link, decode(EnvironmentInfo, each, "fork"))
        for each in documents
        if "error" not in each
    ]
    return AsyncForks(made, [error_from_json(each["error"]) for each in documents if "error" in each])
