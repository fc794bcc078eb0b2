"""Requests to run commands, and what comes back."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Union

from ..data.environment import ExecResult, Output, RawOutput
from ..errors import BackendError, ConnectionError, error_from_json
from .names import given
from .request import Request, filled, get, post

CommandLine = Union[str, Sequence[str]]
Listener = Callable[[bytes], None]

#: What one request may carry as the whole stdin of a command.
_LONGEST_STDIN = 8 * 1024**2
#: What one request may add to the stdin of a command.
INPUT_BYTES = 1024**2


@dataclass(frozen=True)
class CommandEnd:
    exit_code: Optional[int]
    signal: Optional[str]
    timed_out: bool
    shell_gone: bool
    duration_ms: float


def command_body(
    command: CommandLine,
    *,
    mode: Optional[str],
    shell: Optional[str],
    cwd: Optional[str],
    env: Optional[Mapping[str, str]],
    user: Optional[str],
    timeout_ms: Optional[float],
) -> Dict[str, Any]:
    words = command if isinstance(command, str) else list(command)
    options = given(mode=mode, shell=shell, cwd=cwd, user=user, timeout_ms=timeout_ms)
    if env is not None:
        options["env"] = dict(env)
    return {"command": words, **options}


def plain_stdin(stdin: Union[None, str, bytes]) -> Optional[str]:
    """The stdin as text, if one request can carry it so; None if not."""
    if stdin is None or len(stdin) > _LONGEST_STDIN:
        return None
    try:
        text = stdin if isinstance(stdin, str) else stdin.decode()
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def exec_request(environment: str, body: Mapping[str, Any]) -> Request:
    return post(filled("environments", environment, "exec"), {**body, "encoding": "base64"})


def spawn_request(environment: str, body: Mapping[str, Any]) -> Request:
    return post(filled("environments", environment, "commands"), body)


def output_request(environment: str, command: str, offsets: Mapping[str, int]) -> Request:
    path = filled("environments", environment, "commands", command, "output")
    return get(path, {**offsets, "encoding": "base64"})


def input_request(environment: str, command: str, data: bytes, *, end: bool) -> Request:
    path = filled("environments", environment, "commands", command, "input")
    text = base64.b64encode(data).decode()
    return post(path, {"data": text, "encoding": "base64", "end": end})


def signal_request(environment: str, command: str, signal: str) -> Request:
    return post(filled("environments", environment, "commands", command, "signal"), {"signal": signal})


class Follower:
    """Reads the lines of a command's output, and knows where to continue after a lost connection."""

    def __init__(self, command: Optional[str], stdout: int = 0, stderr: int = 0) -> None:
        self.command = command
        self.offsets = {"stdout": stdout, "stderr": stderr}
        self.end: Optional[CommandEnd] = None

    def read(self, document: Any) -> Optional[Output]:
        kind = document.get("type") if isinstance(document, dict) else None
        if kind == "start":
            self.command = str(document["id"])
            return None
        if kind == "error":
            raise error_from_json(document.get("error"))
        if kind == "exit":
            self.end = _end_of(document)
            return None
        if kind in ("stdout", "stderr"):
            return self._output(str(kind), document)
        raise BackendError(
            "the daemon reported a command in an unknown form",
            remedy="use the same version of Forkpoint on both sides",
        )

    def _output(self, stream: str, document: Dict[str, Any]) -> Output:
        data = base64.b64decode(str(document.get("data")))
        offset = int(document["offset"])
        if offset - len(data) != self.offsets[stream]:
            raise ConnectionError(
                f"some {stream} of command {self.command} was lost",
                remedy="write output to a file if its reader may be away for long",
                detail={"happened": "maybe"},
            )
        self.offsets[stream] = offset
        return Output(stream, data, offset)


class Gatherer:
    """Collects output, or hands it to listeners."""

    def __init__(self, on_stdout: Optional[Listener] = None, on_stderr: Optional[Listener] = None) -> None:
        self._listeners = {"stdout": on_stdout, "stderr": on_stderr}
        self._pieces: Dict[str, List[bytes]] = {"stdout": [], "stderr": []}

    def take(self, output: Output) -> None:
        listener = self._listeners[output.stream]
        if listener is None:
            self._pieces[output.stream].append(output.data)
        else:
            listener(output.data)

    def result(self, end: CommandEnd) -> ExecResult:
        raw = RawOutput(*(b"".join(self._pieces[name]) for name in ("stdout", "stderr")))
        return ExecResult(
            exit_code=end.exit_code,
            signal=end.signal,
            stdout=raw.stdout.decode("utf-8", "replace"),
            stderr=raw.stderr.decode("utf-8", "replace"),
            raw=raw,
            timed_out=end.timed_out,
            shell_gone=end.shell_gone,
            duration_ms=end.duration_ms,
        )


def _end_of(document: Dict[str, Any]) -> CommandEnd:
    code, signal = document.get("exitCode"), document.get("signal")
    return CommandEnd(
        exit_code=code if isinstance(code, int) else None,
        signal=signal if isinstance(signal, str) else None,
        timed_out=document.get("timedOut") is True,
        shell_gone=document.get("shellGone") is True,
        duration_ms=float(document.get("durationMs") or 0),
    )
