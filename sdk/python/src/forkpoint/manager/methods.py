"""StateFork's methods and their arguments, and what they mean here."""

from __future__ import annotations

import difflib
import os
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, FrozenSet, List, Optional, Sequence, Tuple

from ..errors import InvalidInputError

Arguments = Dict[str, Any]


@dataclass(frozen=True)
class Target:
    """`create`: options of `Forkpoint.create`; `attach`: of `Forkpoint.attach`; `find`: an environment."""

    kind: str
    options: Dict[str, Any] = field(default_factory=dict)
    #: Copied into the working directory once the environment runs.
    inject: Optional[str] = None


def _created(backend: str, from_: str, **more: Any) -> Target:
    given = {name: value for name, value in more.items() if value is not None}
    return Target("create", {"backend": backend, "from_": from_, **given})


def _attached(backend: str, target: Any, **more: Any) -> Target:
    given = {name: value for name, value in more.items() if value is not None}
    return Target("attach", {"backend": backend, "target": target, **given})


def _path(given: Optional[str]) -> Optional[str]:
    """StateFork's are relative to where its process runs."""
    return None if given is None else os.path.abspath(given)


def _image(arguments: Arguments) -> str:
    if arguments.get("dockerfile_dir") is not None:
        return f"dockerfile:{arguments['dockerfile_dir']}"
    if arguments.get("base_image") is not None:
        return f"image:{arguments['base_image']}"
    raise InvalidInputError(
        "neither a Dockerfile nor an image is named",
        remedy="give dockerfile_dir, a directory with a Dockerfile, or base_image",
    )


def _extra(arguments: Arguments) -> Optional[List[str]]:
    return list(arguments.get("extra_args") or []) or None


def _container_build(backend: str) -> Callable[[Arguments], Target]:
    return lambda given: _created(backend, _image(given), extra_args=_extra(given))


def _container_attach(backend: str) -> Callable[[Arguments], Target]:
    return lambda given: _attached(backend, given["container_name"], extra_args=_extra(given))


def _criu_build(given: Arguments) -> Target:
    return _created("criu", f"dir:{given.get('work_dir') or '.'}", command=given.get("command"))


def _criu_attach(given: Arguments) -> Target:
    return _attached("criu", given["target_pid"], workdir=_path(given.get("work_dir")))


def _hybrid_build(given: Arguments) -> Target:
    return _created(
        "podman-criu",
        _image(given),
        name=given.get("container_name"),
        export_dir=_path(given.get("export_dir")),
        extra_args=_extra(given),
    )


def _hybrid_attach(given: Arguments) -> Target:
    return _attached("podman-criu", given["container_name"], export_dir=_path(given.get("export_dir")))


def _firecracker_build(given: Arguments) -> Target:
    parent = given.get("fire_parent_dir")
    target = _created("microvm", "host" if parent is None else f"rootfs:{parent}")
    return Target(target.kind, target.options, inject=given.get("inject_dir"))


def _firecracker_attach(given: Arguments) -> Target:
    return _attached("microvm", given["target_pid"])


def _waypoint_build(given: Arguments) -> Target:
    directory, build = given.get("dockerfile_dir"), given.get("build", True)
    if directory is None:
        return _created("native", "host")
    return _created("native", f"{'dockerfile' if build else 'dir'}:{directory}")


def _waypoint_attach(given: Arguments) -> Target:
    # A session has all of its processes, so the pid of one of them adds nothing.
    if given.get("session_id") is not None:
        return Target("find", {"reference": given["session_id"]})
    if given.get("target_pid") is not None:
        return _attached("native", given["target_pid"])
    raise InvalidInputError(
        "neither a session nor a process is named",
        remedy="give session_id, the id or name of an environment, or target_pid",
    )


#: What a method accepts, what of that it needs, and what it means.
_Method = Tuple[FrozenSet[str], Sequence[str], Callable[[Arguments], Target]]


def _method(accepts: str, needs: str, meaning: Callable[[Arguments], Target]) -> _Method:
    return frozenset(accepts.split()), needs.split(), meaning


_METHODS: Dict[str, _Method] = {
    "criu_build": _method("work_dir command", "", _criu_build),
    "criu_attach": _method("target_pid work_dir", "target_pid", _criu_attach),
    "hybrid_build": _method(
        "container_name dockerfile_dir base_image export_dir extra_args", "", _hybrid_build
    ),
    "hybrid_attach": _method("container_name export_dir", "container_name", _hybrid_attach),
    "firecracker_build": _method("fire_parent_dir inject_dir", "", _firecracker_build),
    "firecracker_attach": _method("target_pid", "target_pid", _firecracker_attach),
}
for _backend in ("docker", "podman", "gvisor"):
    _METHODS[f"{_backend}_build"] = _method(
        "dockerfile_dir base_image extra_args", "", _container_build(_backend)
    )
    _METHODS[f"{_backend}_attach"] = _method(
        "container_name base_image extra_args", "container_name", _container_attach(_backend)
    )
for _name in ("waypoint", "ckpt"):
    _METHODS[f"{_name}_build"] = _method("dockerfile_dir build", "", _waypoint_build)
    _METHODS[f"{_name}_attach"] = _method("target_pid session_id", "", _waypoint_attach)

#: The ways to make a manager, as StateFork names them.
ENV_METHODS = tuple(sorted(_METHODS))


def target_of(method: str, arguments: Arguments) -> Target:
    """Pure: nothing is looked up or made."""
    if method not in _METHODS:
        meant = difflib.get_close_matches(method, ENV_METHODS)
        remedy = f"did you mean {' or '.join(meant)}?" if meant else f"use one of: {', '.join(ENV_METHODS)}"
        raise InvalidInputError(f"there is no method {method!r}", remedy=remedy)
    accepts, needs, meaning = _METHODS[method]
    for name in arguments:
        if name not in accepts:
            raise InvalidInputError(
                f"{method} has no argument {name!r}", remedy=f"it accepts {', '.join(sorted(accepts))}"
            )
    for name in needs:
        if arguments.get(name) is None:
            raise InvalidInputError(f"{method} needs {name}", remedy=f"give {name}")
    return meaning(arguments)
