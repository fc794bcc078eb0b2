# Made by tools/make_sync.py from forkpoint/aio/environment.py; change that one.
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
from .commands import Command, run_to_end, write_input
from .files import Files
from .forks import Forks, forks_of
from .link import Link
from .ports import Ports
from .snapshot import Snapshot, diff_of
from .terminals import Terminal

#: Leaves a policy as it is.
UNCHANGED: Any = object()


class Environment:
    """A live computer: files, processes, terminals."""

    def __init__(self, link: Link, info: EnvironmentInfo) -> None:
        self._link = link
        #: What this handle last learned about it; `info` asks again.
        self.last_info = info
        self.id = info.id
        #: Files inside: read, write, list, upload, download, watch.
        self.files = Files(link, info.id)
        #: Servers inside.
        self.ports = Ports(link, info.id)

    def __repr__(self) -> str:
        return f"<Environment {self.id} {self.name or ''}>"

    @property
    def name(self) -> Optional[str]:
        return self.last_info.name

    @property
    def backend(self) -> str:
        return self.last_info.backend

    def info(self) -> EnvironmentInfo:
        """Its status, head, capabilities, labels and so on, as they are now."""
        return self._learn(self._link.json(get(filled("environments", self.id))))

    def exec(
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
            return run_to_end(self._link, self.id, Follower(None), start, gathered)
        started = self._link.json(spawn_request(self.id, {**body, "stdin": "streamed"}))
        write_input(self._link, self.id, started["id"], stdin, end=True)
        return run_to_end(self._link, self.id, Follower(started["id"]), None, gathered)

    def spawn(
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
    ) -> Command:
        """Starts a command and returns while it runs. `command(id)` finds it again, even in a fork. With
        `stdin="streamed"`, the handle feeds it."""
        body = command_body(
            command, mode=mode, shell=shell, cwd=cwd, env=env, user=user, timeout_ms=timeout_ms
        )
        started = self._link.json(spawn_request(self.id, {**body, **given(id=id, stdin=stdin)}))
        return Command(self._link, self.id, started["id"])

    def command(self, id: str, *, stdout: int = 0, stderr: int = 0) -> Command:
        """A command that was started earlier. Output continues after these offsets."""
        return Command(self._link, self.id, id, stdout, stderr)

    def commands(self) -> List[CommandInfo]:
        """The commands that run or ran lately."""
        found = self._link.json(get(filled("environments", self.id, "commands")))
        return decode_list(CommandInfo, found, "commands")

    def terminal(self, name: str = "main") -> Terminal:
        """The terminal with this name; it starts when it is first used."""
        return Terminal(self._link, self.id, name)

    def terminals(self) -> List[TerminalInfo]:
        found = self._link.json(get(filled("environments", self.id, "terminals")))
        return decode_list(TerminalInfo, found, "terminals")

    def snapshot(
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
    ) -> Snapshot:
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
        return Snapshot(
            self._link, decode(SnapshotInfo, self._link.json(request), "snapshot")
        )

    def restore(
        self,
        to: Union[Snapshot, str],
        *,
        force: Optional[bool] = None,
        strict: Optional[bool] = None,
    ) -> None:
        """Becomes what the snapshot holds, in place."""
        reference = to if isinstance(to, str) else to.id
        self._change("restore", {"to": reference, **given(force=force, strict=strict)})

    def fork(
        self,
        count: int = 1,
        *,
        name: Optional[str] = None,
        labels: Optional[Mapping[str, str]] = None,
        atomic: Optional[bool] = None,
        strict: Optional[bool] = None,
        connections: Optional[Literal["close", "keep"]] = None,
        idempotency_key: Optional[str] = None,
    ) -> Forks:
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
        return forks_of(self._link, self._link.json(request))

    def promote(
        self,
        source: Union[Environment, Snapshot],
        *,
        force: Optional[bool] = None,
        strict: Optional[bool] = None,
    ) -> None:
        """Becomes what another environment or a snapshot is: the branch to keep."""
        self._change("promote", {"from": source.id, **given(force=force, strict=strict)})

    def diff(
        self,
        to: Union[None, Environment, Snapshot] = None,
        *,
        paths: Optional[Sequence[str]] = None,
        patch: Optional[str] = None,
    ) -> Diff:
        """How the files of another differ from those here; without one, what changed since the last snapshot.
        With `patch="text"`, also the changed lines."""
        return diff_of(self._link, "environments", self.id, to, paths, patch)

    def pause(self, *, release: Optional[bool] = None) -> None:
        """Freezes every process; with `release`, keeps a snapshot and ends them."""
        self._change("pause", given(release=release))

    def resume(self) -> None:
        """Continues. One that was released, or died with its host, comes back from its head."""
        self._change("resume", {})

    def set_net(
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
        change = decode(NetChange, self._link.json(request), "change")
        self.last_info = change.environment
        return change.cut

    def label(self, labels: Mapping[str, Optional[str]]) -> None:
        """Sets labels. The others stay, and None removes one."""
        self._change("labels", {"labels": dict(labels)})

    def set_policy(
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
        self._change("policy", body)

    def stats(self) -> Stats:
        found = self._link.json(get(filled("environments", self.id, "stats")))
        return decode(Stats, found, "stats")

    def log(self) -> List[LogEntry]:
        """Its operations, oldest first, with the time that each step took."""
        found = self._link.json(get(filled("environments", self.id, "log")))
        return decode_list(LogEntry, found, "log")

    def rename(self, name: str) -> None:
        self._change("rename", {"name": name})

    def remove(self, *, force: Optional[bool] = None) -> None:
        """Ends it and removes everything it has. Its snapshots stay."""
        self._link.json(delete(filled("environments", self.id), given(force=force)))

    def __enter__(self) -> Environment:
        return self

    def __exit__(self, *_: object) -> None:
        """Removes it."""
        self.remove(force=True)

    def _change(self, verb: str, body: Mapping[str, Any]) -> None:
        self._learn(self._link.json(post(filled("environments", self.id, verb), body)))

    def _learn(self, document: Any) -> EnvironmentInfo:
        self.last_info = decode(EnvironmentInfo, document, "environment")
        return self.last_info
