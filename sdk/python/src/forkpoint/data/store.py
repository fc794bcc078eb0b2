from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional


@dataclass(frozen=True)
class TreeNode:
    """A snapshot, with what continues from it, or an environment."""

    kind: str
    id: str
    name: Optional[str]
    status: str
    created_at: float
    message: str = ""
    children: List["TreeNode"] = field(default_factory=list)


@dataclass(frozen=True)
class Totals:
    snapshot_bytes: int
    environment_bytes: int
    memory_bytes: int
    spares_bytes: int
    container_image_bytes: int
    #: Snapshots whose files are not counted yet.
    uncounted: int


@dataclass(frozen=True)
class Usage:
    totals: Totals
    #: One for each, as the daemon says it.
    snapshots: List[Dict[str, Any]]
    environments: List[Dict[str, Any]]
    container_images: List[Dict[str, Any]]


@dataclass(frozen=True)
class Event:
    """Something that finished. Which fields are set depends on the type."""

    type: str
    #: Later events have larger ones; `events(after=…)` continues from it.
    id: int
    at: float
    kind: Optional[str] = None
    environment: Optional[str] = None
    snapshot: Optional[str] = None
    state: Optional[str] = None
    action: Optional[str] = None
    cause: Optional[str] = None
    due: Optional[float] = None


@dataclass(frozen=True)
class RunningOperation:
    id: str
    kind: str
    environment: Optional[str]
    started_at: float


@dataclass(frozen=True)
class TokenInfo:
    id: str
    name: Optional[str]
    scopes: List[str]
    labels: Dict[str, str]
    created_at: float
    expires_at: Optional[float]


@dataclass(frozen=True)
class NewToken(TokenInfo):
    #: The only time that the secret is shown.
    token: str
