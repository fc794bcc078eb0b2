from __future__ import annotations

from typing import Any, Mapping, Optional

from ..sync.environment import Environment
from ..sync.forkpoint import Forkpoint
from .env_manager import MAIN, EnvManager
from .methods import Target, target_of
from .operations import OperationLog


def create_env_manager(
    method: str,
    *,
    forkpoint: Optional[Forkpoint] = None,
    url_or_socket: Optional[str] = None,
    token: Optional[str] = None,
    benchmark_log: Optional[str] = None,
    create: Optional[Mapping[str, Any]] = None,
    **arguments: Any,
) -> EnvManager:
    """Makes a manager by one of StateFork's methods, with StateFork's arguments, on the daemon that
    `Forkpoint.connect` finds. `create` has further options for a new environment, such as `limits`."""
    # Everything is checked before anything is made.
    target = target_of(method, arguments)
    log = OperationLog(benchmark_log)
    fp = forkpoint or Forkpoint.connect(url_or_socket, token=token)

    def close() -> None:
        if forkpoint is None:
            fp.close()

    try:
        environment = _environment(fp, target, dict(create or {}), log)
        is_attached = target.kind == "find"
        return EnvManager(fp, environment, log=log, is_attached=is_attached, close=close)
    except BaseException:
        close()
        raise


def _environment(
    fp: Forkpoint, target: Target, create: Mapping[str, Any], log: OperationLog
) -> Environment:
    if target.kind == "find":
        return fp.get(**target.options)
    with log.timed("create", MAIN) as note:
        options = {**target.options, **create}
        environment = fp.attach(**options) if target.kind == "attach" else fp.create(**options)
        note.environment = environment.id
        if target.inject is not None:
            try:
                environment.files.upload(target.inject, environment.last_info.workdir)
            except BaseException:
                environment.remove(force=True)
                raise
        return environment
