# Made by tools/make_sync.py from forkpoint/aio/snapshot.py; change that one.
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Union

from ..core.decode import decode
from ..core.names import given
from ..core.request import filled, get, post
from ..data import Diff, SnapshotInfo
from .forks import Forks, forks_of
from .link import Link

if TYPE_CHECKING:
    from .environment import Environment


class Snapshot:
    """The state of an environment at one moment, to restore and to fork."""

    def __init__(self, link: Link, info: SnapshotInfo) -> None:
        self._link = link
        #: What this handle last learned about it; `info` asks again.
        self.last_info = info
        self.id = info.id

    def __repr__(self) -> str:
        return f"<Snapshot {self.id} {self.name or ''}>"

    @property
    def name(self) -> Optional[str]:
        return self.last_info.name

    @property
    def parent(self) -> Optional[str]:
        return self.last_info.parent

    def info(self) -> SnapshotInfo:
        """Its status, what it captured, its sizes, timing, labels and so on, as they are now."""
        return self._learn(self._link.json(get(filled("snapshots", self.id))))

    def fork(
        self,
        count: int = 1,
        *,
        name: Optional[str] = None,
        labels: Optional[Mapping[str, str]] = None,
        atomic: Optional[bool] = None,
        strict: Optional[bool] = None,
        idempotency_key: Optional[str] = None,
    ) -> Forks:
        """Makes new environments, each with its own files, memory, processes and identity. `errors` of the
        result says why those could not be made that are missing."""
        body = given(count=count, name=name, labels=labels, atomic=atomic, strict=strict)
        request = post(filled("snapshots", self.id, "fork"), body, idempotency_key)
        return forks_of(self._link, self._link.json(request))

    def diff(
        self,
        to: Union[None, Environment, Snapshot] = None,
        *,
        paths: Optional[Sequence[str]] = None,
        patch: Optional[str] = None,
    ) -> Diff:
        """How the files of another differ from those here; without one, what changed since the parent."""
        return diff_of(self._link, "snapshots", self.id, to, paths, patch)

    def label(self, labels: Mapping[str, Optional[str]]) -> None:
        """Sets labels. The others stay, and None removes one."""
        request = post(filled("snapshots", self.id, "labels"), {"labels": dict(labels)})
        self._learn(self._link.json(request))

    def annotate(self, metadata: Any) -> None:
        """Replaces its metadata, which may be any JSON."""
        request = post(filled("snapshots", self.id, "metadata"), {"metadata": metadata})
        self._learn(self._link.json(request))

    def rename(self, name: str) -> None:
        request = post(filled("snapshots", self.id, "rename"), {"name": name})
        self._learn(self._link.json(request))

    def ready(self) -> Snapshot:
        """Waits until it can be restored."""
        self._learn(self._link.json(get(filled("snapshots", self.id, "ready"))))
        return self

    def durable(self) -> Snapshot:
        """Waits until it is on disk, where it survives a power cut."""
        self._learn(self._link.json(post(filled("snapshots", self.id, "durable"), {})))
        return self

    def prove(self) -> Snapshot:
        """Makes sure that it can be restored."""
        self._learn(self._link.json(post(filled("snapshots", self.id, "prove"), {})))
        return self

    def remove(self, *, cascade: Optional[bool] = None) -> List[str]:
        """Removes it, and with `cascade` also what builds on it; the ids of all that are gone."""
        body = {"references": [self.id], **given(cascade=cascade)}
        return list(self._link.json(post(filled("snapshots", "remove"), body)))

    def _learn(self, document: Any) -> SnapshotInfo:
        self.last_info = decode(SnapshotInfo, document, "snapshot")
        return self.last_info


def diff_of(
    link: Link,
    kind: str,
    of: str,
    to: Union[None, Environment, Snapshot],
    paths: Optional[Sequence[str]],
    patch: Optional[str],
) -> Diff:
    body: Dict[str, Any] = given(paths=paths and list(paths), patch=patch)
    if to is not None:
        body["to"] = to.id
    return decode(Diff, link.json(post(filled(kind, of, "diff"), body)), "diff")
