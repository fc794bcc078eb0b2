"""The snapshots of a session."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, List, Mapping, Optional, Sequence

from ..data import SnapshotInfo

#: Labels by which the managers of Forkpoint, in every language, find what belongs to a session.
SESSION_LABEL = "forkpoint.session"
BRANCH_LABEL = "forkpoint.branch"
#: On snapshots that no user took: a replayed virtual one, and one whose hooks failed.
_HIDDEN = ("forkpoint.replay-of", "forkpoint.half")


@dataclass(frozen=True)
class ManagedSnapshot:
    id: str
    name: Optional[str]
    message: str
    #: The snapshot that it continues from; None: the root.
    parent: Optional[str]
    created_at: float
    #: What it takes on disk; None until its files are counted.
    bytes: Optional[int]


def snapshots_of(
    infos: Sequence[SnapshotInfo], session: str, environments: Sequence[str]
) -> List[ManagedSnapshot]:
    """Those of a session, oldest first."""
    ours = [
        info
        for info in infos
        if info.labels.get(SESSION_LABEL) == session or info.environment_id in environments
    ]
    shown = {
        info.id: info
        for info in ours
        if info.status != "failed" and not any(label in info.labels for label in _HIDDEN)
    }
    all_of_them = {info.id: info for info in ours}
    return [_managed(info, all_of_them, shown) for info in shown.values()]


def _managed(
    info: SnapshotInfo, known: Mapping[str, SnapshotInfo], shown: Mapping[str, SnapshotInfo]
) -> ManagedSnapshot:
    parent = info.parent
    while parent is not None and parent not in shown:
        parent = known[parent].parent if parent in known else None
    files = info.sizes.files_bytes
    size = None if files is None else files + info.sizes.images_bytes
    return ManagedSnapshot(info.id, info.name, info.message, parent, info.created_at, size)


def format_tree(
    nodes: Sequence[ManagedSnapshot], branches: Mapping[str, Optional[str]], current: str
) -> str:
    """One line a snapshot, with the branches that continue from it."""
    if not nodes:
        return "no snapshots yet"
    below: Dict[Optional[str], List[ManagedSnapshot]] = {}
    for node in nodes:
        below.setdefault(node.parent, []).append(node)
    lines: List[str] = []
    stack = [(node, "", "") for node in reversed(below.get(None, []))]
    while stack:
        node, lead, rest = stack.pop()
        title = node.id if node.name is None else f"{node.name} ({node.id})"
        size = "not counted yet" if node.bytes is None else _size(node.bytes)
        here = [
            f"▸ {name} *" if name == current else f"▸ {name}"
            for name, base in branches.items()
            if base == node.id
        ]
        lines.append("  ".join([f"{lead}● {title}", size, *here]))
        children = below.get(node.id, [])
        # The newest continues in its parent's column, so that only branches move to the right.
        items = [(child, f"{rest}├─", f"{rest}│ ") for child in children[:-1]]
        items += [(child, rest, rest) for child in children[-1:]]
        stack.extend(reversed(items))
    return "\n".join(lines)


def _size(size: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024 or unit == "GiB":
            break
        size /= 1024
    return f"{size:.0f} {unit}" if unit == "B" or size >= 10 else f"{size:.1f} {unit}"
