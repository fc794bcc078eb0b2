from __future__ import annotations

from typing import Any, List, Literal, Mapping, Optional, Sequence, Union

from ..core.command import (
    CommandLine,
    Follower,
    Gatherer,
    Listener,
    command_body,
    exec_request,
    plain_stdin,
    spawn_request,
)
from ..core.decode import decode, decode_list
from ..core.names import given, renamed
from ..core.request import delete, filled, get, post
from ..data import (
    CommandInfo,
    Diff,
    EnvironmentInfo,
    ExecResult,
    IdleInput,
    LogEntry,
    NetChange,
    Peer,
    SnapshotInfo,
    Stats,
    TerminalInfo,
)
from .commands import AsyncCommand, run_to_end, write_input
from .files import AsyncFiles
from .forks import AsyncForks, forks_of
from .link import AsyncLink
from .ports import AsyncPorts
from .snapshot import AsyncSnapshot, diff_of
from .terminals import AsyncTerminal

#: Leaves a policy as it is.
UNCHANGED: Any = object()


class AsyncEnvironment:
    """A live computer: files, processes, terminals."""

    def __init__(self, link: AsyncLink, info: EnvironmentInfo) -> None:
        self._link = link
        #: What this handle last learned about it; `info` asks again.
        self.last_info = info
        self.id = info.id
        #: Files inside: read, write, list, upload, download, watch.
        self.files = AsyncFiles(link, info.id)
        #: Servers inside.
        self.ports = AsyncPorts(link, info.id)

    def __repr__(self) -> str:
        return f"<Environment {self.id} {self.name or ''}>"

    @property
    def name(self) -> Optional[str]:
        return self.last_info.name

    @property
    def backend(self) -> str:
        return self.last_info.backend

    async def info(self) -> EnvironmentInfo:
        """Its status, head, capabilities, labels and so on, as they are now."""
        return self._learn(await self._link.json(get(filled("environments", self.id))))

    async def exec(
        self,
        command: CommandLine,
        *,
        mode: Optional[str] = None,
        shell: Optional[str] = None,
        cwd: Optional[str] = None,
        env: Optional[Mapping[str, str]] = None,
        user: Optional[str] = None,
        stdin: Union[None, str, bytes] = None,
        timeout_ms: Optional[float] = None,
        on_stdout: Optional[Listener] = None,
        on_stderr: Optional[Listener] = None,
    ) -> ExecResult:
        """Runs a command to its end, whatever its exit code. Text runs as a command line in the persistent
        shell `main`, or the one you name; words are passed as they are."""
        body = command_body(
            command, mode=mode, shell=shell, cwd=cwd, env=env, user=user, timeout_ms=timeout_ms
        )
        gathered = Gatherer(on_stdout, on_stderr)
        text = plain_stdin(stdin)
        if stdin is None or text is not None:
            start = exec_request(self.id, {**body, **given(stdin=text)})
            return await run_to_end(self._link, self.id, Follower(None), start, gathered)
        started = await self._link.json(spawn_request(self.id, {**body, "stdin": "streamed"}))
        await write_input(self._link, self.id, started["id"], stdin, end=True)
        return await run_to_end(self._link, self.id, Follower(started["id"]), None, gathered)

    async def spawn(
        self,
        command: CommandLine,
        *,
        id: Optional[str] = None,
        mode: Optional[str] = None,
        shell: Optional[str] = None,
        cwd: Optional[str] = None,
        env: Optional[Mapping[str, str]] = None,
        user: Optional[str] = None,
        stdin: Optional[str] = None,
        timeout_ms: Optional[float] = None,
    ) -> AsyncCommand:
        """Starts a command and returns while it runs. `command(id)` finds it again, even in a fork. With
        `stdin="streamed"`, the handle feeds it."""
        body = command_body(
            command, mode=mode, shell=shell, cwd=cwd, env=env, user=user, timeout_ms=timeout_ms
        )
        started = await self._link.json(spawn_request(self.id, {**body, **given(id=id, stdin=stdin)}))
        return AsyncCommand(self._link, self.id, started["id"])

    def command(self, id: str, *, stdout: int = 0, stderr: int = 0) -> AsyncCommand:
        """A command that was started earlier. Output continues after these offsets."""
        return AsyncCommand(self._link, self.id, id, stdout, stderr)

    async def commands(self) -> List[CommandInfo]:
        """The commands that run or ran lately."""
        found = await self._link.json(get(filled("environments", self.id, "commands")))
        return decode_list(CommandInfo, found, "commands")

    def terminal(self, name: str = "main") -> AsyncTerminal:
        """The terminal with this name; it starts when it is first used."""
        return AsyncTerminal(self._link, self.id, name)

    async def terminals(self) -> List[TerminalInfo]:
        found = await self._link.json(get(filled("environments", self.id, "terminals")))
        return decode_list(TerminalInfo, found, "terminals")

    async def snapshot(
        self,
        *,
        name: Optional[str] = None,
        message: Optional[str] = None,
        labels: Optional[Mapping[str, str]] = None,
        metadata: Any = None,
        mode: Optional[str] = None,
        durable: Optional[bool] = None,
        live: Optional[bool] = None,
        strict: Optional[bool] = None,
        idempotency_key: Optional[str] = None,
    ) -> AsyncSnapshot:
        """Takes a snapshot of files, processes and terminals together. The environment continues."""
        body = given(
            name=name,
            message=message,
            labels=labels,
            metadata=metadata,
            mode=mode,
            durable=durable,
            live=live,
            strict=strict,
        )
        request = post(filled("environments", self.id, "snapshots"), body, idempotency_key)
        return AsyncSnapshot(
            self._link, decode(SnapshotInfo, await self._link.json(request), "snapshot")
        )

    async def restore(
        self,
        to: Union[AsyncSnapshot, str],
        *,
        force: Optional[bool] = None,
        strict: Optional[bool] = None,
    ) -> None:
        """Becomes what the snapshot holds, in place."""
        reference = to if isinstance(to, str) else to.id
        await self._change("restore", {"to": reference, **given(force=force, strict=strict)})

    async def fork(
        self,
        count: int = 1,
        *,
        name: Optional[str] = None,
        labels: Optional[Mapping[str, str]] = None,
        atomic: Optional[bool] = None,
        strict: Optional[bool] = None,
        connections: Optional[Literal["close", "keep"]] = None,
        idempotency_key: Optional[str] = None,
    ) -> AsyncForks:
        """Makes new environments that continue from here. This one continues too."""
        body = given(
            count=count,
            name=name,
            labels=labels,
            atomic=atomic,
            strict=strict,
            connections=connections,
        )
        request = post(filled("environments", self.id, "fork"), body, idempotency_key)
        return forks_of(self._link, await self._link.json(request))

    async def promote(
        self,
        source: Union[AsyncEnvironment, AsyncSnapshot],
        *,
        force: Optional[bool] = None,
        strict: Optional[bool] = None,
    ) -> None:
        """Becomes what another environment or a snapshot is: the branch to keep."""
        await self._change("promote", {"from": source.id, **given(force=force, strict=strict)})

    async def diff(
        self,
        to: Union[None, AsyncEnvironment, AsyncSnapshot] = None,
        *,
        paths: Optional[Sequence[str]] = None,
        patch: Optional[str] = None,
    ) -> Diff:
        """How the files of another differ from those here; without one, what changed since the last snapshot.
        With `patch="text"`, also the changed lines."""
        return await diff_of(self._link, "environments", self.id, to, paths, patch)

    async def pause(self, *, release: Optional[bool] = None) -> None:
        """Freezes every process; with `release`, keeps a snapshot and ends them."""
        await self._change("pause", given(release=release))

    async def resume(self) -> None:
        """Continues. One that was released, or died with its host, comes back from its head."""
        await self._change("resume", {})

    async def set_net(
        self,
        mode: str,
        *,
        allow: Optional[Sequence[str]] = None,
        deny_out: Optional[Sequence[str]] = None,
        allow_out: Optional[Sequence[str]] = None,
    ) -> List[Peer]:
        """Changes its network while it runs. Lists of networks that are not given stay as they were. Returns the
        other ends of the connections that were cut."""
        lists = {"allow": allow, "deny_out": deny_out, "allow_out": allow_out}
        body = given(**{key: None if each is None else list(each) for key, each in lists.items()})
        request = post(filled("environments", self.id, "net"), {"mode": mode, **body})
        change = decode(NetChange, await self._link.json(request), "change")
        self.last_info = change.environment
        return change.cut

    async def label(self, labels: Mapping[str, Optional[str]]) -> None:
        """Sets labels. The others stay, and None removes one."""
        await self._change("labels", {"labels": dict(labels)})

    async def set_policy(
        self,
        *,
        ttl_ms: Optional[float] = UNCHANGED,
        ttl_action: str = UNCHANGED,
        idle: Optional[IdleInput] = UNCHANGED,
        wake: str = UNCHANGED,
    ) -> None:
        """Changes what happens to it by itself; None takes a policy away."""
        body: Any = {}
        if ttl_ms is not UNCHANGED:
            body["ttlMs"] = ttl_ms
        if ttl_action is not UNCHANGED:
            body["ttlAction"] = ttl_action
        if idle is not UNCHANGED:
            body["idle"] = None if idle is None else renamed(idle)
        if wake is not UNCHANGED:
            body["wake"] = wake
        await self._change("policy", body)

    async def stats(self) -> Stats:
        found = await self._link.json(get(filled("environments", self.id, "stats")))
        return decode(Stats, found, "stats")

    async def log(self) -> List[LogEntry]:
        """Its operations, oldest first, with the time that each step took."""
        found = await self._link.json(get(filled("environments", self.id, "log")))
        return decode_list(LogEntry, found, "log")

    async def rename(self, name: str) -> None:
        await self._change("rename", {"name": name})

    async def remove(self, *, force: Optional[bool] = None) -> None:
        """Ends it and removes everything it has. Its snapshots stay."""
        await self._link.json(delete(filled("environments", self.id), given(force=force)))

    async def __aenter__(self) -> AsyncEnvironment:
        return self

    async def __aexit__(self, *_: object) -> None:
        """Removes it."""
        await self.remove(force=True)

    async def _change(self, verb: str, body: Mapping[str, Any]) -> None:
        self._learn(await self._link.json(post(filled("environments", self.id, verb), body)))

    def _learn(self, document: Any) -> EnvironmentInfo:
        self.last_info = decode(EnvironmentInfo, document, "environment")
        return self.last_info
