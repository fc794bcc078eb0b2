"""Groups of options."""

from __future__ import annotations

from typing import TypedDict


class LimitsInput(TypedDict, total=False):
    """A limit that is absent is that of the configuration."""

    memory_bytes: int
    cpus: float
    pids: int
    disk_bytes: int
    io_read_bytes: int
    io_write_bytes: int
    net_bytes: int


class IdleInput(TypedDict):
    """What happens if nobody uses an environment: `pause`, `release` or `remove`."""

    after_ms: int
    action: str
