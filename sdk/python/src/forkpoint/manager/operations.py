"""The benchmark log: every operation of a manager, with its time."""

from __future__ import annotations

import json
import statistics
import threading
import time
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any, Dict, Iterator, List, Optional

from ..errors import InvalidInputError


@dataclass
class ManagerOperation:
    #: `create`, `exec`, `snapshot`, `restore`, `fork`, `park` or `discard`
    operation: str
    branch: str
    environment: str = ""
    snapshot: Optional[str] = None
    #: Milliseconds since 1970.
    at: float = 0.0
    ms: float = 0.0
    outcome: str = "done"


class OperationLog:
    """With a path, also as lines of JSON in that file."""

    def __init__(self, path: Optional[str] = None) -> None:
        self.entries: List[ManagerOperation] = []
        self._path = path
        self._lock = threading.Lock()
        if path is not None:
            try:
                open(path, "a").close()
            except OSError as error:
                raise InvalidInputError(
                    f"cannot write the benchmark log to {path!r}: {error}",
                    remedy="give a file in a directory that exists",
                ) from error

    @contextmanager
    def timed(self, operation: str, branch: str, environment: str = "") -> Iterator[ManagerOperation]:
        note = ManagerOperation(operation, branch, environment, at=time.time() * 1000)
        started = time.perf_counter()
        try:
            yield note
        except BaseException:
            note.outcome = "failed"
            raise
        finally:
            note.ms = (time.perf_counter() - started) * 1000
            self._add(note)

    def stats(self) -> Dict[str, Dict[str, Any]]:
        """Count, total, mean, median, min, max and p95 of the times of each operation, in ms."""
        times: Dict[str, List[float]] = {}
        for entry in self.entries:
            if entry.outcome == "done":
                times.setdefault(entry.operation, []).append(entry.ms)
        return {operation: _summary(sorted(each)) for operation, each in times.items()}

    def _add(self, note: ManagerOperation) -> None:
        with self._lock:
            self.entries.append(note)
            if self._path is not None:
                with open(self._path, "a") as file:
                    file.write(json.dumps(asdict(note)) + "\n")


def _summary(samples: List[float]) -> Dict[str, Any]:
    return {
        "count": len(samples),
        "total": sum(samples),
        "mean": statistics.fmean(samples),
        "median": statistics.median(samples),
        "min": samples[0],
        "max": samples[-1],
        "p95": samples[max(0, -(-len(samples) * 95 // 100) - 1)],
        "unit": "ms",
    }
