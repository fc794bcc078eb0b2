from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Optional


@dataclass(frozen=True)
class LostProcess:
    pid: int
    command: str


@dataclass(frozen=True)
class Lost:
    """Something that a copy made from a snapshot cannot keep."""

    process: Optional[LostProcess]
    object: str
    what: str
    consequence: str


@dataclass(frozen=True)
class Phase:
    name: str
    ms: float


@dataclass(frozen=True)
class SnapshotSizes:
    #: Of the files in its own layer; None until they are counted.
    files_bytes: Optional[int]
    images_bytes: int


@dataclass(frozen=True)
class SnapshotTiming:
    #: The longest time during which no process inside ran.
    pause_ms: float
    total_ms: float
    phases: List[Phase]


@dataclass(frozen=True)
class SnapshotInfo:
    id: str
    name: Optional[str]
    environment_id: str
    parent: Optional[str]
    backend: str
    status: str
    proof: str
    durable: bool
    #: What it really contains.
    captured: List[str]
    #: `kept`: nothing inside could notice it; `replaced`: a copy took its place.
    original: str
    message: str
    labels: Dict[str, str]
    metadata: Any
    sizes: SnapshotSizes
    timing: SnapshotTiming
    lost: List[Lost]
    created_at: float
    #: How its processes get their memory, as the daemon says it; None if it holds none.
    memory: Any = None
    #: Why nothing can be made from it, as the daemon says it; None if something can.
    failure: Any = None
    #: Who asked for it: `user`, or a `fork`, `promote` or `pause` that needed it.
    by: str = "user"


@dataclass(frozen=True)
class Kept:
    id: str
    reason: Any


@dataclass(frozen=True)
class PrunePlan:
    remove: List[str]
    kept: List[Kept]
