from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, Dict, List, Optional, Sequence

from ..core.command import CommandLine
from ..data import ExecResult
from ..errors import ConflictError, InvalidInputError, NotFoundError
from ..sync.environment import Environment
from ..sync.forkpoint import Forkpoint
from .operations import ManagerOperation, OperationLog
from .tree import BRANCH_LABEL, SESSION_LABEL, ManagedSnapshot, format_tree, snapshots_of

MAIN = "main"
_AT_ONCE = 8


class _Branch:
    """A live line of work. One operation at a time: a snapshot never falls into the middle of a command."""

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self.base = environment.last_info.head
        self.turn = threading.Lock()


class EnvManager:
    """An environment with its snapshots and branches, as StateFork's managers have it. Made by
    `create_env_manager`; every snapshot is physical."""

    def __init__(
        self,
        fp: Forkpoint,
        environment: Environment,
        *,
        log: OperationLog,
        is_attached: bool,
        close: Callable[[], None],
    ) -> None:
        self._fp = fp
        self._log = log
        self._is_attached = is_attached
        self._close = close
        #: The id of the main environment; `waypoint_attach` finds the session again by it.
        self.session_id = environment.id
        self._branches: Dict[str, _Branch] = {MAIN: _Branch(environment)}
        self.current_branch = MAIN
        if is_attached:
            for other in fp.list(labels={SESSION_LABEL: environment.id}):
                name = other.last_info.labels.get(BRANCH_LABEL, other.id)
                self._branches[name] = _Branch(other)

    @property
    def backend(self) -> str:
        return self.environment(MAIN).backend

    @property
    def current_snapshot(self) -> Optional[str]:
        """The snapshot that the current branch continues from; None before the first."""
        return self._branch(None).base

    def environment(self, branch: Optional[str] = None) -> Environment:
        """The environment of a branch, for everything else: files, terminals, ports."""
        return self._branch(branch).environment

    def exec_command(self, command: CommandLine, **options: Any) -> ExecResult:
        """Runs a command in the current branch; the shell keeps its state from one to the next."""
        return self.exec_on_branch(self.current_branch, command, **options)

    def exec_on_branch(self, branch: str, command: CommandLine, **options: Any) -> ExecResult:
        """Options are those of `Environment.exec`."""
        on = self._branch(branch)
        with on.turn, self._log.timed("exec", branch, on.environment.id):
            return on.environment.exec(command, **options)

    def snapshot(
        self, *, name: Optional[str] = None, message: Optional[str] = None, mode: Optional[str] = None
    ) -> str:
        """Takes a snapshot of the current branch; its id."""
        return self._take("snapshot", self.current_branch, name=name, message=message, mode=mode)

    def snapshot_branch(self, branch: str, *, park: bool = False) -> str:
        """Takes a snapshot of a branch; its id. With `park`, as `park_branch` does."""
        return self.park_branch(branch) if park else self._take("snapshot", branch)

    def park_branch(self, branch: str) -> str:
        """Takes a snapshot of a branch and ends it. `fork` makes it live again."""
        self._require_other_than_main(branch, "parked")
        taken = self._take("park", branch)
        self._end(branch)
        if self.current_branch == branch:
            self.current_branch = MAIN
        return taken

    def restore(self, snapshot: str) -> None:
        """Makes the current branch what a snapshot holds, in place."""
        on = self._branch(None)
        with on.turn, self._log.timed("restore", self.current_branch, on.environment.id) as note:
            note.snapshot = snapshot
            node = self._find(snapshot)
            note.snapshot = node.id
            on.environment.restore(node.id)
            on.base = node.id

    def fork(
        self, snapshot: str, n: int = 1, ids: Optional[Sequence[str]] = None
    ) -> List[Dict[str, Any]]:
        """Makes `n` live branches of a snapshot, all or none, called `ids` if given."""
        names = self._names(n, ids)
        with self._log.timed("fork", " ".join(names)) as note:
            node = self._find(snapshot)
            note.snapshot = node.id
            made = self._fork_all(node, names)
            note.environment = made[0].id
        for name, environment in zip(names, made):
            self._branches[name] = _Branch(environment)
            self._branches[name].base = node.id
        return [self._describe(name) for name in names]

    def checkout(self, branch: str) -> None:
        """Makes another branch the current one. Nothing starts or stops."""
        self._branch(branch)
        self.current_branch = branch

    def discard_branch(self, branch: str) -> None:
        """Ends a branch. What was not snapshotted is lost."""
        of = self._branch(branch)
        self._require_other_than_main(branch, "discarded")
        if branch == self.current_branch:
            raise ConflictError(
                f"branch {branch!r} is the current one", remedy="check out another branch first"
            )
        with self._log.timed("discard", branch, of.environment.id):
            self._end(branch)

    def list_branches(self) -> List[Dict[str, Any]]:
        return [self._describe(name) for name in self._branches]

    def list_snapshots(self) -> List[ManagedSnapshot]:
        """Oldest first."""
        infos = [snapshot.last_info for snapshot in self._fp.snapshots()]
        environments = [branch.environment.id for branch in self._branches.values()]
        return snapshots_of(infos, self.session_id, [self.session_id, *environments])

    def print_snapshot_tree(self) -> str:
        """The snapshots as a tree, with the branches that continue from them. Prints and returns it."""
        bases = {name: branch.base for name, branch in self._branches.items()}
        text = format_tree(self.list_snapshots(), bases, self.current_branch)
        print(text)
        return text

    @property
    def history(self) -> Sequence[ManagerOperation]:
        """Every operation so far, oldest first, with its time."""
        return tuple(self._log.entries)

    def stats(self) -> Dict[str, Dict[str, Any]]:
        """Times of each operation: mean, median, min, max and p95, in ms."""
        return self._log.stats()

    def cleanup(self) -> Dict[str, List[str]]:
        """Removes every environment and snapshot of the session, and closes it. An environment that the
        manager was attached to stays, with the snapshots that it needs."""
        environments: List[str] = []
        for name in reversed(list(self._branches)):
            if not (self._is_attached and name == MAIN):
                environments.append(self._branches[name].environment.id)
                self._end(name)
        removed: List[str] = []
        kept: List[str] = []
        # Newest first: each before the one it builds on.
        for snapshot in reversed(self._fp.snapshots(labels={SESSION_LABEL: self.session_id})):
            try:
                removed += snapshot.remove()
            except ConflictError:
                kept.append(snapshot.id)
        self.close()
        return {"environments": environments, "snapshots": removed, "kept": kept}

    def close(self) -> None:
        """Leaves everything as it is; `waypoint_attach` continues with it."""
        self._close()

    def __enter__(self) -> EnvManager:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _branch(self, name: Optional[str]) -> _Branch:
        wanted = self.current_branch if name is None else name
        if wanted not in self._branches:
            raise NotFoundError(
                f"no branch {wanted!r}", remedy=f"the branches are {', '.join(self._branches)}"
            )
        return self._branches[wanted]

    def _find(self, reference: str) -> ManagedSnapshot:
        nodes = self.list_snapshots()
        for node in nodes:
            if reference in (node.id, node.name):
                return node
        raise NotFoundError(
            f"no snapshot {reference!r} in this session", remedy="`list_snapshots()` has them all"
        )

    def _take(self, operation: str, branch: str, **options: Any) -> str:
        of = self._branch(branch)
        with of.turn, self._log.timed(operation, branch, of.environment.id) as note:
            taken = of.environment.snapshot(labels={SESSION_LABEL: self.session_id}, **options)
            note.snapshot = of.base = taken.id
            return taken.id

    def _fork_all(self, node: ManagedSnapshot, names: Sequence[str]) -> List[Environment]:
        snapshot = self._fp.snapshot(node.id)

        def fork_one(name: str) -> Environment:
            labels = {SESSION_LABEL: self.session_id, BRANCH_LABEL: name}
            return snapshot.fork(1, labels=labels, atomic=True)[0]

        with ThreadPoolExecutor(min(len(names), _AT_ONCE)) as pool:
            tasks = [pool.submit(fork_one, name) for name in names]
        failure = next((task.exception() for task in tasks if task.exception()), None)
        made = [task.result() for task in tasks if task.exception() is None]
        if failure is None:
            return made
        for environment in made:
            environment.remove(force=True)
        raise failure

    def _names(self, count: int, wanted: Optional[Sequence[str]]) -> List[str]:
        if wanted is None:
            free = (f"branch-{number}" for number in range(1, 100_000))
            return [name for name, _ in zip((n for n in free if n not in self._branches), range(count))]
        if count not in (1, len(wanted)) or not wanted:
            raise InvalidInputError(
                f"{count} branches, but {len(wanted)} names",
                remedy="give one name for each branch, or none",
            )
        for name in wanted:
            if name in self._branches or list(wanted).count(name) > 1:
                raise ConflictError(
                    f"there is already a branch {name!r}", remedy="choose another name"
                )
        return list(wanted)

    def _end(self, branch: str) -> None:
        of = self._branches[branch]
        with of.turn:
            of.environment.remove(force=True)
            del self._branches[branch]

    def _describe(self, name: str) -> Dict[str, Any]:
        branch = self._branches[name]
        return {
            "id": name,
            "environment": branch.environment.id,
            "base": branch.base,
            "status": branch.environment.info().status,
            "current": name == self.current_branch,
        }

    @staticmethod
    def _require_other_than_main(branch: str, how: str) -> None:
        if branch == MAIN:
            raise ConflictError(
                f"the branch {MAIN} cannot be {how}",
                remedy="cleanup() ends it together with the session",
            )
