# Made by tools/make_sync.py from forkpoint/aio/commands.py; change that one.
from __future__ import annotations

from typing import Any, Iterator, Optional, Union

from ..core.command import (
    INPUT_BYTES,
    Follower,
    Gatherer,
    input_request,
    output_request,
    signal_request,
)
from ..core.request import Request
from ..data import ExecResult, Output
from ..errors import BackendError, ForkpointError
from .link import Link
from .stream import sleep

#: Before a lost stream is asked for again.
_PAUSE = 0.1


class Command:
    """A command that runs, or ran, inside. It continues if nobody reads, across snapshots and in forks."""

    def __init__(
        self, link: Link, environment: str, id: str, stdout: int = 0, stderr: int = 0
    ) -> None:
        self._link = link
        self._environment = environment
        self.id = id
        self._follower = Follower(id, stdout, stderr)

    def output(self) -> Iterator[Output]:
        """What it prints, as it comes, until it ends. A lost connection is made again."""
        for output in followed(self._link, self._environment, self._follower, None):
            yield output

    def wait(self) -> ExecResult:
        """Waits for its end; the output is what was not read before."""
        gathered = Gatherer()
        for output in self.output():
            gathered.take(output)
        if self._follower.end is None:
            raise BackendError(f"command {self.id} reported no end", remedy="list the commands")
        return gathered.result(self._follower.end)

    def write_stdin(self, data: Union[str, bytes]) -> None:
        """For a command that was started with `stdin="streamed"`."""
        write_input(self._link, self._environment, self.id, data, end=False)

    def end_stdin(self) -> None:
        self._link.json(input_request(self._environment, self.id, b"", end=True))

    def signal(self, name: str = "SIGTERM") -> None:
        self._link.json(signal_request(self._environment, self.id, name))

    def kill(self) -> None:
        self.signal("SIGKILL")


def write_input(
    link: Link, environment: str, command: str, data: Union[str, bytes], *, end: bool
) -> None:
    left = data.encode() if isinstance(data, str) else bytes(data)
    while len(left) > INPUT_BYTES:
        link.json(input_request(environment, command, left[:INPUT_BYTES], end=False))
        left = left[INPUT_BYTES:]
    link.json(input_request(environment, command, left, end=end))


def followed(
    link: Link, environment: str, follower: Follower, start: Optional[Request]
) -> Iterator[Output]:
    """The output of a command until its end, which the follower then knows. `start` starts it."""
    while follower.end is None:
        request = start
        if follower.command is not None:
            request = output_request(environment, follower.command, follower.offsets)
        if request is None:
            return
        for document in link.documents(request):
            output = follower.read(document)
            if output is not None:
                yield output
            if follower.end is not None:
                return
        sleep(_PAUSE)


def run_to_end(
    link: Link, environment: str, follower: Follower, start: Optional[Request], gathered: Gatherer
) -> ExecResult:
    try:
        for output in followed(link, environment, follower, start):
            gathered.take(output)
    except Exception:
        raise
    except BaseException:
        # Interrupted: whoever does not wait for it does not want it either.
        _end(link, environment, follower.command)
        raise
    if follower.end is None:
        raise BackendError("the command reported no end", remedy="list the commands")
    return gathered.result(follower.end)


def _end(link: Link, environment: str, command: Any) -> None:
    if command is None:
        return
    try:
        link.json(signal_request(environment, command, "SIGKILL"))
    except ForkpointError:
        # It has ended, or the daemon is gone.
        pass
