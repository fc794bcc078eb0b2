"""OpenHands: `ForkpointWorkspace(working_dir="/root")` as the workspace of a conversation."""

from __future__ import annotations

import os
import posixpath
from pathlib import Path
from typing import Any, Dict, List, Optional, Union

from ..errors import ForkpointError, NotFoundError
from ..sync.environment import Environment
from ..sync.forkpoint import Forkpoint
from .shared import bash, create_options, missing, return_code, seconds

try:
    from openhands.sdk.git.models import GitChange, GitChangeStatus, GitDiff
    from openhands.sdk.workspace import BaseWorkspace, CommandResult, FileOperationResult
except ImportError as error:
    raise ImportError(missing("the SDK of OpenHands", "openhands-sdk")) from error

_STATUSES = {"?": "ADDED", "A": "ADDED", "D": "DELETED", "R": "MOVED"}

AnyPath = Union[str, Path]


class ForkpointWorkspace(BaseWorkspace):
    """A workspace in an environment of its own, which `environment` can branch."""

    #: Where the files come from, such as `image:python:3.12`.
    source: str = "host"
    url: Optional[str] = None
    #: Further options of `Forkpoint.create`.
    create: Dict[str, Any] = {}

    _fp: Any = None
    _environment: Any = None

    @property
    def environment(self) -> Environment:
        """The live environment, made when it is first used: snapshot, fork, restore."""
        if self._environment is None:
            self._fp = Forkpoint.connect(self.url)
            self._environment = self._fp.create(**create_options(self.create, from_=self.source))
            self._environment.files.mkdir(str(self.working_dir), parents=True)
        made: Environment = self._environment
        return made

    def execute_command(
        self, command: str, cwd: Optional[AnyPath] = None, timeout: float = 30.0
    ) -> CommandResult:
        result = self.environment.exec(
            bash(command), mode="process", cwd=self._inside(cwd or ""), timeout_ms=seconds(timeout)
        )
        return CommandResult(
            command=command,
            exit_code=-1 if result.timed_out else return_code(result),
            stdout=result.stdout,
            stderr=result.stderr,
            timeout_occurred=result.timed_out,
        )

    def file_upload(self, source_path: AnyPath, destination_path: AnyPath) -> FileOperationResult:
        try:
            self.environment.files.upload(str(source_path), self._inside(destination_path))
            return _copied(source_path, destination_path, os.path.getsize(source_path))
        except (ForkpointError, OSError) as error:
            return _not_copied(source_path, destination_path, error)

    def file_download(self, source_path: AnyPath, destination_path: AnyPath) -> FileOperationResult:
        try:
            self.environment.files.download(self._inside(source_path), str(destination_path))
            return _copied(source_path, destination_path, os.path.getsize(destination_path))
        except (ForkpointError, OSError) as error:
            return _not_copied(source_path, destination_path, error)

    def git_changes(self, path: AnyPath) -> List[GitChange]:
        """What differs from the last commit."""
        words = ["git", "status", "--porcelain=v1", "-z", "--untracked-files=all"]
        fields = iter(self._git(words, self._inside(path)).split("\0"))
        changes: List[GitChange] = []
        for entry in fields:
            if not entry:
                continue
            code = entry[:2].strip()[:1]
            if code in ("R", "C"):
                next(fields, None)  # the path that it had
            status = GitChangeStatus[_STATUSES.get(code, "UPDATED")]
            changes.append(GitChange(status=status, path=Path(entry[3:])))
        return changes

    def git_diff(self, path: AnyPath) -> GitDiff:
        """A file now, and in the last commit."""
        inside = self._inside(path)
        directory, name = posixpath.split(inside)
        try:
            modified: Optional[str] = self.environment.files.read_text(inside)
        except NotFoundError:
            modified = None
        self._git(["git", "rev-parse", "HEAD"], directory)
        shown = self.environment.exec(["git", "show", f"HEAD:./{name}"], mode="process", cwd=directory)
        return GitDiff(modified=modified, original=shown.stdout if shown.exit_code == 0 else None)

    def pause(self) -> None:
        self.environment.pause()

    def resume(self) -> None:
        self.environment.resume()

    def __exit__(self, exc_type: Any, exc_val: Any, exc_tb: Any) -> None:
        """Removes the environment."""
        try:
            super().__exit__(exc_type, exc_val, exc_tb)
        finally:
            if self._environment is not None:
                self._environment.remove(force=True)
                self._fp.close()
                self._environment = self._fp = None

    def _git(self, words: List[str], directory: str) -> str:
        result = self.environment.exec(words, mode="process", cwd=directory)
        if result.exit_code == 0:
            return result.stdout
        raise RuntimeError(f"{' '.join(words)} failed in {directory!r}: {result.stderr.strip()}")

    def _inside(self, path: AnyPath) -> str:
        return posixpath.join(str(self.working_dir), str(path))


def _copied(source: AnyPath, target: AnyPath, size: int) -> FileOperationResult:
    return FileOperationResult(
        success=True, source_path=str(source), destination_path=str(target), file_size=size
    )


def _not_copied(source: AnyPath, target: AnyPath, error: Exception) -> FileOperationResult:
    return FileOperationResult(
        success=False, source_path=str(source), destination_path=str(target), error=str(error)
    )
