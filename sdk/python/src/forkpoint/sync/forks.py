# Made by tools/make_sync.py from forkpoint/aio/forks.py; change that one.
from __future__ import annotations

from typing import TYPE_CHECKING, Any, List

from ..core.decode import decode
from ..data import EnvironmentInfo
from ..errors import ForkpointError, error_from_json
from .link import Link

if TYPE_CHECKING:
    from .environment import Environment


class Forks(List["Environment"]):
    """The environments that a fork made. The list is complete if `errors` is empty."""

    def __init__(self, made: List[Environment], errors: List[ForkpointError]) -> None:
        super().__init__(made)
        #: One for each environment that could not be made.
        self.errors = errors


def forks_of(link: Link, documents: Any) -> Forks:
    from .environment import Environment

    made = [
        Environment(link, decode(EnvironmentInfo, each, "fork"))
        for each in documents
        if "error" not in each
    ]
    return Forks(made, [error_from_json(each["error"]) for each in documents if "error" in each])
