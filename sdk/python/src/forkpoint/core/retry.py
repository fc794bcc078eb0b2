"""How long a lost daemon is waited for."""

from __future__ import annotations

import errno
import socket
from time import monotonic

from ..errors import ConnectionError
from .address import Address
from .request import Request

#: A daemon that is started again answers after about a second; a busy machine gets more.
PATIENCE_SECONDS = 30.0
_FIRST_PAUSE = 0.02
_LONGEST_PAUSE = 1.0
#: A request on which the daemon dies each time is not sent forever.
_MOST_CUTS = 50


class Patience:
    """For one request. A daemon that never answered is not waited for: its address is more likely wrong."""

    def __init__(self, address: Address, request: Request, has_answered: bool) -> None:
        self._address = address
        self._request = request
        self._has_answered = has_answered
        self._deadline = monotonic() + PATIENCE_SECONDS
        self._pause = _FIRST_PAUSE
        self._cuts = 0
        self._sure_not = True

    def after(self, error: BaseException) -> float:
        """How long to wait before it is sent again; raises if it must not be."""
        if not is_unreached(error):
            self._sure_not = False
            # The operation may have been long: only the time without a daemon counts.
            self._deadline = monotonic() + PATIENCE_SECONDS
            self._cuts += 1
        is_late = monotonic() > self._deadline or self._cuts > _MOST_CUTS
        can_repeat = self._sure_not or self._request.repeatable
        if not self._has_answered or is_late or not can_repeat:
            raise self._lost(error) from error
        pause, self._pause = self._pause, min(2 * self._pause, _LONGEST_PAUSE)
        return pause

    def _lost(self, error: BaseException) -> ConnectionError:
        happened = "no" if self._sure_not or self._request.method == "GET" else "maybe"
        remedy = "the operation may have happened: look before you repeat it"
        if isinstance(error, PermissionError):
            remedy = "run as root, or as a member of the group forkpoint"
        elif happened == "no":
            remedy = "check that the daemon runs (`forkpoint serve`) and that the address is right"
        return ConnectionError(
            f"cannot reach the daemon at {self._address}: {error}",
            remedy=remedy,
            detail={"happened": happened},
        )


def is_unreached(error: BaseException) -> bool:
    """Whether the request never left this machine."""
    if isinstance(error, (ConnectionRefusedError, FileNotFoundError, socket.gaierror)):
        return True
    return isinstance(error, OSError) and error.errno in (errno.EACCES, errno.EHOSTUNREACH, errno.ENETUNREACH)
