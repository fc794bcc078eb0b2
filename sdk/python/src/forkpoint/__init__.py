"""Forkpoint: a live Linux environment, branchable. A client of `forkpoint serve`."""

from .aio.commands import AsyncCommand
from .aio.environment import AsyncEnvironment
from .aio.files import AsyncFiles, AsyncWatch
from .aio.forkpoint import AsyncForkpoint
from .aio.forks import AsyncForks
from .aio.snapshot import AsyncSnapshot
from .aio.terminals import AsyncTerminal, AsyncTerminalViewer
from .data import *  # noqa: F403
from .data import __all__ as _data
from .errors import (
    BackendError,
    ConflictError,
    ConnectionError,
    ForkpointError,
    InvalidInputError,
    NotFoundError,
    PermissionError,
    PrerequisiteError,
    ResourceError,
    TimeoutError,
    UnsupportedError,
)
from .manager import ENV_METHODS, EnvManager, ManagedSnapshot, create_env_manager
from .sync.commands import Command
from .sync.environment import Environment
from .sync.files import Files, Watch
from .sync.forkpoint import Forkpoint
from .sync.forks import Forks
from .sync.snapshot import Snapshot
from .sync.terminals import Terminal, TerminalViewer

__version__ = "0.1.0"

__all__ = [
    "AsyncCommand",
    "AsyncEnvironment",
    "AsyncFiles",
    "AsyncForkpoint",
    "AsyncForks",
    "AsyncSnapshot",
    "AsyncTerminal",
    "AsyncTerminalViewer",
    "AsyncWatch",
    "BackendError",
    "Command",
    "ConflictError",
    "ConnectionError",
    "ENV_METHODS",
    "EnvManager",
    "Environment",
    "Files",
    "ForkpointError",
    "Forkpoint",
    "Forks",
    "InvalidInputError",
    "ManagedSnapshot",
    "NotFoundError",
    "PermissionError",
    "PrerequisiteError",
    "ResourceError",
    "Snapshot",
    "Terminal",
    "TerminalViewer",
    "TimeoutError",
    "UnsupportedError",
    "Watch",
    "create_env_manager",
    *_data,
]
