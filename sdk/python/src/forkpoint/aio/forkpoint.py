from __future__ import annotations

from typing import Any, AsyncIterator, Dict, List, Mapping, Optional, Sequence, Union

from ..core.address import find_target
from ..core.decode import decode, decode_list
from ..core.names import given, renamed
from ..core.request import filled, get, post
from ..core.sources import Source, absolute
from ..core.tree import nested
from ..data import (
    EnvironmentInfo,
    Event,
    IdleInput,
    LimitsInput,
    PrunePlan,
    RunningOperation,
    SnapshotInfo,
    TreeNode,
    Usage,
)
from ..errors import ForkpointError, error_from_json
from .environment import AsyncEnvironment
from .link import AsyncLink
from .snapshot import AsyncSnapshot
from .stream import sleep
from .tokens import AsyncTokens

#: Before a lost stream of events is asked for again.
_PAUSE = 0.1


class AsyncForkpoint:
    """A daemon, and the environments that it serves."""

    def __init__(self, link: AsyncLink) -> None:
        self._link = link
        self.tokens = AsyncTokens(link)

    @classmethod
    def connect(
        cls,
        url_or_socket: Optional[str] = None,
        *,
        token: Optional[str] = None,
        ca: Optional[str] = None,
    ) -> AsyncForkpoint:
        """`unix:///path`, the path of a socket, `http://host:port` or `https://host:port`; without one,
        FORKPOINT_HOST or the socket of the default home. `ca` is a file with certificates to trust. Nothing is
        sent before the first call."""
        return cls(AsyncLink(find_target(url_or_socket, token, ca)))

    async def create(
        self,
        *,
        from_: Optional[Source] = None,
        name: Optional[str] = None,
        backend: Optional[str] = None,
        limits: Optional[LimitsInput] = None,
        net: Optional[str] = None,
        net_allow: Optional[Sequence[str]] = None,
        net_deny_out: Optional[Sequence[str]] = None,
        net_allow_out: Optional[Sequence[str]] = None,
        memory: Optional[str] = None,
        env: Optional[Mapping[str, str]] = None,
        labels: Optional[Mapping[str, str]] = None,
        workdir: Optional[str] = None,
        login: Optional[bool] = None,
        processes: Optional[bool] = None,
        extra_args: Optional[Sequence[str]] = None,
        export_dir: Optional[str] = None,
        ttl_ms: Optional[int] = None,
        ttl_action: Optional[str] = None,
        idle: Optional[IdleInput] = None,
        wake: Optional[str] = None,
        command: Optional[Sequence[str]] = None,
        idempotency_key: Optional[str] = None,
    ) -> AsyncEnvironment:
        """Makes an environment. Returns when commands can run in it. `from_` says where its files come from:
        `host` (default), `dir:PATH`, `rootfs:PATH`, `image:REF`, `dockerfile:DIR`, `snapshot:ID`, …"""
        body = given(
            from_=None if from_ is None else absolute(from_),
            name=name,
            backend=backend,
            limits=None if limits is None else renamed(limits),
            net=net,
            net_allow=None if net_allow is None else list(net_allow),
            net_deny_out=None if net_deny_out is None else list(net_deny_out),
            net_allow_out=None if net_allow_out is None else list(net_allow_out),
            memory=memory,
            env=env,
            labels=labels,
            workdir=workdir,
            login=login,
            processes=processes,
            extra_args=None if extra_args is None else list(extra_args),
            export_dir=export_dir,
            ttl_ms=ttl_ms,
            ttl_action=ttl_action,
            idle=None if idle is None else renamed(idle),
            wake=wake,
            command=None if command is None else list(command),
        )
        return self._environment(
            await self._link.json(post(filled("environments"), body, idempotency_key))
        )

    async def attach(
        self,
        target: Union[str, int],
        *,
        backend: Optional[str] = None,
        name: Optional[str] = None,
        labels: Optional[Mapping[str, str]] = None,
        workdir: Optional[str] = None,
        extra_args: Optional[Sequence[str]] = None,
        export_dir: Optional[str] = None,
    ) -> AsyncEnvironment:
        """Adopts a running container or process as an environment. It is never harmed."""
        body = given(
            target=target,
            backend=backend,
            name=name,
            labels=labels,
            workdir=workdir,
            extra_args=None if extra_args is None else list(extra_args),
            export_dir=export_dir,
        )
        return self._environment(await self._link.json(post(filled("attach"), body)))

    async def get(self, reference: str) -> AsyncEnvironment:
        """By id, unique prefix of an id, or name."""
        return self._environment(await self._link.json(get(filled("environments", reference))))

    async def list(
        self,
        *,
        status: Union[None, str, Sequence[str]] = None,
        labels: Optional[Mapping[str, str]] = None,
    ) -> List[AsyncEnvironment]:
        """Oldest first."""
        statuses = status if status is None or isinstance(status, str) else [*status]
        found = await self._link.json(
            get(filled("environments"), given(status=statuses, labels=labels))
        )
        return [
            AsyncEnvironment(self._link, info)
            for info in decode_list(EnvironmentInfo, found, "environments")
        ]

    async def snapshot(self, reference: str) -> AsyncSnapshot:
        """By id, unique prefix of an id, or name."""
        found = await self._link.json(get(filled("snapshots", reference)))
        return AsyncSnapshot(self._link, decode(SnapshotInfo, found, "snapshot"))

    async def snapshots(
        self,
        *,
        environment: Optional[str] = None,
        name: Optional[str] = None,
        status: Optional[str] = None,
        labels: Optional[Mapping[str, str]] = None,
    ) -> List[AsyncSnapshot]:
        """Oldest first."""
        query = given(environment=environment, name=name, status=status, labels=labels)
        found = await self._link.json(get(filled("snapshots"), query))
        return [
            AsyncSnapshot(self._link, info)
            for info in decode_list(SnapshotInfo, found, "snapshots")
        ]

    async def find(self, reference: str) -> Union[AsyncEnvironment, AsyncSnapshot]:
        """The environment or snapshot with this id or name."""
        found = await self._link.json(get(filled("find", reference)))
        if found.get("kind") == "environment":
            return self._environment(found)
        return AsyncSnapshot(self._link, decode(SnapshotInfo, found, "snapshot"))

    async def tree(self, around: Optional[str] = None) -> List[TreeNode]:
        """All snapshots and environments as one forest, or only the tree that contains `around`."""
        return nested(await self._link.json(get(filled("tree"), given(around=around))))

    async def usage(self) -> Usage:
        """How much disk and memory snapshots and environments use."""
        return decode(Usage, await self._link.json(get(filled("usage"))), "usage")

    async def prune(
        self,
        *,
        labels: Optional[Mapping[str, str]] = None,
        keep_last: Optional[int] = None,
        keep_named: Optional[bool] = None,
        older_than_ms: Optional[float] = None,
        dry_run: Optional[bool] = None,
    ) -> PrunePlan:
        """Removes the snapshots that no rule keeps and nothing builds on; with labels, only of those with them."""
        body = given(
            labels=None if labels is None else dict(labels),
            keep_last=keep_last,
            keep_named=keep_named,
            older_than_ms=older_than_ms,
            dry_run=dry_run,
        )
        return decode(PrunePlan, await self._link.json(post(filled("prune"), body)), "plan")

    async def remove_snapshots(
        self, references: Sequence[str], *, cascade: Optional[bool] = None
    ) -> List[str]:
        """Removes these snapshots together, or none of them if something else needs one."""
        body = {"references": [*references], **given(cascade=cascade)}
        return [*await self._link.json(post(filled("snapshots", "remove"), body))]

    async def compact(self, reference: Optional[str] = None) -> List[Dict[str, Any]]:
        """Squashes the chain of a snapshot into one layer, or of every head; what it changed."""
        return [*await self._link.json(post(filled("compact"), given(reference=reference)))]

    async def events(self, *, after: Optional[int] = None) -> AsyncIterator[Event]:
        """What happens from now on, or after an event. A lost connection is made again."""
        last = after
        while True:
            async for document in self._link.documents(get(filled("events"), given(after=last))):
                event = decode(Event, document, "event")
                last = event.id
                yield event
            await sleep(_PAUSE)

    async def warnings(self) -> List[ForkpointError]:
        """What went wrong in the background since the daemon was started."""
        return [error_from_json(each) for each in await self._link.json(get(filled("warnings")))]

    async def operations(self) -> List[RunningOperation]:
        """The operations that have not ended, oldest first."""
        found = await self._link.json(get(filled("operations")))
        return decode_list(RunningOperation, found, "operations")

    async def spares_ready(self) -> None:
        """Waits until no more spares are being prepared. Useful for measurements."""
        await self._link.json(get(filled("spares", "settled")))

    async def close(self) -> None:
        """Closes the connections. Environments keep running."""
        self._link.close()

    async def __aenter__(self) -> AsyncForkpoint:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _environment(self, document: Any) -> AsyncEnvironment:
        return AsyncEnvironment(self._link, decode(EnvironmentInfo, document, "environment"))
