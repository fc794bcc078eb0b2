"""What the adapters share."""

from __future__ import annotations

import signal
from typing import Any, Dict, List, Optional

from ..data import ExecResult
from ..errors import InvalidInputError


def bash(command: str) -> List[str]:
    """A command line as a process of its own, which is how these frameworks expect it."""
    return ["bash", "-c", command]


def seconds(timeout: Optional[float]) -> Optional[float]:
    """As milliseconds; None or 0: no limit."""
    return timeout * 1000 if timeout else None


def return_code(result: ExecResult) -> int:
    """As a shell counts it: a signal is 128 and its number."""
    if result.exit_code is not None:
        return result.exit_code
    try:
        return 128 + signal.Signals[result.signal or ""].value
    except KeyError:
        return 255


def missing(framework: str, package: str) -> str:
    return f"{framework} is not installed: run `pip install {package}`"


def create_options(options: Optional[Dict[str, Any]], **more: Any) -> Dict[str, Any]:
    """Options of `Forkpoint.create`: those of the framework, and before them those of the user."""
    if options is not None and not isinstance(options, dict):
        raise InvalidInputError(
            f"not options of create: {options!r}", remedy="give a dict, such as {'backend': 'docker'}"
        )
    given = {name: value for name, value in more.items() if value is not None}
    return {**given, **(options or {})}
