from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Optional

from .snapshot import Lost, Phase


@dataclass(frozen=True)
class Source:
    """What an environment was made from; which field is set depends on the kind."""

    kind: str
    path: Optional[str] = None
    ref: Optional[str] = None
    dir: Optional[str] = None
    name: Optional[str] = None
    target: Optional[str] = None
    id: Optional[str] = None


@dataclass(frozen=True)
class Limits:
    """A limit that is None does not apply."""

    memory_bytes: Optional[int] = None
    cpus: Optional[float] = None
    pids: Optional[int] = None
    disk_bytes: Optional[int] = None
    io_read_bytes: Optional[int] = None
    io_write_bytes: Optional[int] = None
    net_bytes: Optional[int] = None


@dataclass(frozen=True)
class Net:
    mode: str
    allow: List[str]
    #: Networks that it does not reach; None: nothing is denied.
    deny_out: Optional[List[str]] = None
    #: Exceptions from them.
    allow_out: Optional[List[str]] = None


@dataclass(frozen=True)
class Idle:
    after_ms: float
    action: str


@dataclass(frozen=True)
class PolicyInfo:
    ttl_ms: Optional[float]
    idle: Optional[Idle]
    wake: str
    expires_at: Optional[float]
    idle_at: Optional[float]


@dataclass(frozen=True)
class EnvironmentInfo:
    id: str
    name: Optional[str]
    backend: str
    status: str
    #: The snapshot that it continues from.
    head: Optional[str]
    #: Identifies the life that runs now; None: none runs.
    life: Optional[str]
    capabilities: List[str]
    source: Source
    limits: Limits
    net: Net
    env: Dict[str, str]
    workdir: str
    labels: Dict[str, str]
    policy: PolicyInfo
    #: What it does not have of the snapshot that it was made from.
    lost: List[Lost]
    hostname: str
    created_at: float
    #: The time limit of a command that sets none itself.
    exec_timeout_ms: Optional[float]
    memory: Optional[str] = None
    #: What its container image says, as the daemon says it.
    image: Any = None
    command: Optional[List[str]] = None


@dataclass(frozen=True)
class Peer:
    """The other end of a TCP connection."""

    address: str
    port: int


@dataclass(frozen=True)
class NetChange:
    environment: EnvironmentInfo
    #: The other ends of connections that were cut.
    cut: List[Peer]


@dataclass(frozen=True)
class MemoryAccount:
    private_bytes: int
    shared_bytes: int
    total_bytes: int


@dataclass(frozen=True)
class Stats:
    memory_bytes: int
    memory: MemoryAccount
    memory_limit_bytes: Optional[int]
    #: CPU time used since it was made.
    cpu_ms: float
    processes: int
    process_limit: Optional[int]
    disk_bytes: int
    disk_used_bytes: Optional[int]
    disk_limit_bytes: Optional[int]


@dataclass(frozen=True)
class LogEntry:
    """One line of an environment's history."""

    id: str
    kind: str
    state: str
    pid: int
    started_at: float
    duration_ms: Optional[float]
    snapshot: Optional[str]
    phases: List[Phase]
    bytes: Optional[int]
    cause: Optional[str]
    error: Any


@dataclass(frozen=True)
class RawOutput:
    stdout: bytes
    stderr: bytes


@dataclass(frozen=True)
class ExecResult:
    """How a command ended, and what it printed."""

    #: None if a signal ended the command.
    exit_code: Optional[int]
    signal: Optional[str]
    #: As UTF-8 text; empty if `on_stdout` took it.
    stdout: str
    stderr: str
    #: The same as bytes.
    raw: RawOutput
    timed_out: bool
    #: The shell itself ended with this command; the next command gets a new shell.
    shell_gone: bool
    duration_ms: float


@dataclass(frozen=True)
class Output:
    """A piece of what a command prints."""

    #: `stdout` or `stderr`
    stream: str
    data: bytes
    #: How many bytes of this stream there have been with it.
    offset: int


@dataclass(frozen=True)
class ExitStatus:
    exit_code: Optional[int]
    signal: Optional[str]


@dataclass(frozen=True)
class CommandInfo:
    id: str
    mode: str
    shell: Optional[str]
    command: str
    pid: Optional[int]
    running: bool
    exit: Optional[ExitStatus]


@dataclass(frozen=True)
class TerminalInfo:
    name: str
    pid: int
    running: bool
    cols: int
    rows: int


@dataclass(frozen=True)
class Cursor:
    col: int
    row: int


@dataclass(frozen=True)
class TerminalScreen:
    """What a person would see."""

    cols: int
    rows: int
    lines: List[str]
    cursor: Cursor
    #: True while a full-screen program shows its own screen.
    is_alternate: bool

    @property
    def text(self) -> str:
        return "\n".join(self.lines)
