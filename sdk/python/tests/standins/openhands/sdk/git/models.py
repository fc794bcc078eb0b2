from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Optional


class GitChangeStatus(Enum):
    MOVED = "MOVED"
    ADDED = "ADDED"
    DELETED = "DELETED"
    UPDATED = "UPDATED"


@dataclass
class GitChange:
    status: GitChangeStatus
    path: Path


@dataclass
class GitDiff:
    modified: Optional[str]
    original: Optional[str]
