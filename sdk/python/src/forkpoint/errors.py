"""What can go wrong. Every error has a stable `code`, and mostly a `remedy`."""

from __future__ import annotations

import builtins
from typing import Any, Callable, Dict, Mapping, Optional


class ForkpointError(Exception):
    """The base of every error that a caller may want to distinguish."""

    code: str = "internal"

    def __init__(
        self,
        message: str,
        *,
        remedy: Optional[str] = None,
        detail: Optional[Mapping[str, Any]] = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        #: What the user can do about it.
        self.remedy = remedy
        #: Machine-readable facts in addition to the message.
        self.detail: Dict[str, Any] = dict(detail or {})

    def __str__(self) -> str:
        return self.message if self.remedy is None else f"{self.message} ({self.remedy})"


class NotFoundError(ForkpointError):
    code = "not_found"


class ConflictError(ForkpointError):
    code = "conflict"


class InvalidInputError(ForkpointError, ValueError):
    code = "invalid_input"


class UnsupportedError(ForkpointError):
    """The backend cannot do this at all. Trying again will not help; another backend may."""

    code = "unsupported"

    @property
    def capability(self) -> str:
        return str(self.detail.get("capability", ""))


class TimeoutError(ForkpointError, builtins.TimeoutError):
    code = "timeout"


class BackendError(ForkpointError):
    code = "backend_failed"

    @property
    def last_words(self) -> Optional[str]:
        """The end of the failed tool's own output."""
        return _text(self.detail.get("lastWords"))

    @property
    def log_path(self) -> Optional[str]:
        """Where the rest of that output is."""
        return _text(self.detail.get("logPath"))


class ResourceError(ForkpointError):
    """The machine has run out of something, or this token has."""

    code = "resource"


class PrerequisiteError(ForkpointError):
    """The machine lacks something that Forkpoint needs; `forkpoint doctor` knows more."""

    code = "prerequisite"


class PermissionError(ForkpointError, builtins.PermissionError):
    """The caller is not allowed to do this, or could not show who it is."""

    code = "permission"


class ConnectionError(ForkpointError, builtins.ConnectionError):
    """A daemon cannot be reached, or the connection to it was lost for good."""

    code = "connection"

    @property
    def happened(self) -> str:
        """Whether the operation may have happened: `no` or `maybe`."""
        return "no" if self.detail.get("happened") == "no" else "maybe"


_Maker = Callable[..., ForkpointError]

_KINDS: Dict[str, _Maker] = {
    kind.code: kind
    for kind in (
        NotFoundError,
        ConflictError,
        InvalidInputError,
        UnsupportedError,
        TimeoutError,
        BackendError,
        ResourceError,
        PrerequisiteError,
        PermissionError,
        ConnectionError,
    )
}


def error_from_json(given: Any) -> ForkpointError:
    """Rebuilds an error that the daemon wrote. An unknown code comes from a later version."""
    fields: Mapping[str, Any] = given if isinstance(given, Mapping) else {}
    detail = fields.get("detail")
    make = _KINDS.get(str(fields.get("code")), ForkpointError)
    return make(
        str(fields.get("message", "the daemon failed without a message")),
        remedy=_text(fields.get("remedy")),
        detail=detail if isinstance(detail, Mapping) else None,
    )


def _text(given: Any) -> Optional[str]:
    return given if isinstance(given, str) else None
