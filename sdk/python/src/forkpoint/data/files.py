from __future__ import annotations

from dataclasses import dataclass
from typing import Any, List, Optional


@dataclass(frozen=True)
class FileInfo:
    #: `file`, `directory`, `symlink` or `other`
    type: str
    #: Permission bits, with setuid, setgid and sticky.
    mode: int
    size_bytes: int
    allocated_bytes: int
    #: Nanoseconds since 1970, as text.
    mtime_ns: str
    uid: int
    gid: int
    nlink: int
    #: Where a symlink points to.
    target: Optional[str]


@dataclass(frozen=True)
class FileEntry(FileInfo):
    name: str


@dataclass(frozen=True)
class WatchEvent:
    #: `created`, `modified`, `deleted`, `moved-from`, `moved-to`, `attributes` or `overflow`
    kind: str
    #: Relative to the watched path; empty for that path itself.
    path: str
    #: The same in both halves of a move.
    cookie: int


@dataclass(frozen=True)
class FileChange:
    path: str
    kind: str
    size_delta: int
    #: Type, mode, owner, size and time, as the daemon says it; None if it did not exist.
    before: Any = None
    #: None if it no longer exists.
    after: Any = None
    #: The path that a renamed file had.
    from_: Optional[str] = None
    contents: Optional[int] = None


@dataclass(frozen=True)
class Diff:
    changes: List[FileChange]
    #: In the format of `git apply`; empty unless it was asked for.
    patch: str
