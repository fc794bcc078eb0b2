from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Optional


@dataclass
class CommandResult:
    command: str
    exit_code: int
    stdout: str
    stderr: str
    timeout_occurred: bool


@dataclass
class FileOperationResult:
    success: bool
    source_path: str
    destination_path: str
    file_size: Optional[int] = None
    error: Optional[str] = None


class BaseWorkspace(ABC):
    """The original is a pydantic model: fields are class attributes with annotations, given by name."""

    working_dir: str

    def __init__(self, **fields: Any):
        for name, value in fields.items():
            if not any(name in getattr(kind, "__annotations__", {}) for kind in type(self).__mro__):
                raise TypeError(f"no field {name}")
            setattr(self, name, value)

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc_val, exc_tb):
        pass

    @abstractmethod
    def execute_command(self, command, cwd=None, timeout=30.0): ...

    @abstractmethod
    def file_upload(self, source_path, destination_path): ...

    @abstractmethod
    def file_download(self, source_path, destination_path): ...

    @abstractmethod
    def git_changes(self, path): ...

    @abstractmethod
    def git_diff(self, path): ...
