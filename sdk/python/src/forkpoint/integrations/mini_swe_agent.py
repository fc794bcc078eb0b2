"""mini-swe-agent: `environment_class: forkpoint.integrations.mini_swe_agent.ForkpointEnvironment`."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, field
from typing import Any, Dict, Optional, Union

from ..errors import ForkpointError
from ..sync.environment import Environment
from ..sync.forkpoint import Forkpoint
from .shared import bash, create_options, missing, return_code, seconds

try:
    from minisweagent.exceptions import Submitted
except ImportError as error:
    raise ImportError(missing("mini-swe-agent", "mini-swe-agent")) from error

_FINISHED = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"


@dataclass
class ForkpointEnvironmentConfig:
    #: Where the files come from, such as `image:python:3.12`.
    source: str = "host"
    cwd: str = ""
    env: Dict[str, str] = field(default_factory=dict)
    #: Of one command, in seconds.
    timeout: int = 30
    url: Optional[str] = None
    #: Further options of `Forkpoint.create`.
    create: Dict[str, Any] = field(default_factory=dict)

    def model_dump(self, mode: str = "python") -> Dict[str, Any]:
        return asdict(self)


class ForkpointEnvironment:
    """Runs every action as a process of its own in one environment, which `environment` can branch."""

    def __init__(self, *, token: Optional[str] = None, config_class: Any = ForkpointEnvironmentConfig, **kwargs: Any):
        self.config = config_class(**kwargs)
        self._fp = Forkpoint.connect(self.config.url, token=token)
        try:
            options = create_options(self.config.create, from_=self.config.source)
            self.environment: Environment = self._fp.create(**options)
        except BaseException:
            self._fp.close()
            raise

    def execute(
        self, action: Union[str, Dict[str, Any]], cwd: str = "", *, timeout: Optional[int] = None
    ) -> Dict[str, Any]:
        command = action if isinstance(action, str) else str(action.get("command", ""))
        output = self._run(command, cwd or self.config.cwd, timeout or self.config.timeout)
        lines = output["output"].lstrip().splitlines(keepends=True)
        if lines and lines[0].strip() == _FINISHED and output["returncode"] == 0:
            submission = "".join(lines[1:])
            extra = {"exit_status": "Submitted", "submission": submission}
            raise Submitted({"role": "exit", "content": submission, "extra": extra})
        return output

    def get_template_vars(self, **kwargs: Any) -> Dict[str, Any]:
        said = self._run("uname -s; uname -n; uname -r; uname -v; uname -m", "", self.config.timeout)
        keys = ("system", "node", "release", "version", "machine")
        system = dict(zip(keys, said["output"].splitlines()))
        return {**self.config.model_dump(), **system, **os.environ, **kwargs}

    def serialize(self) -> Dict[str, Any]:
        kind = type(self)
        config = {
            "environment": self.config.model_dump(mode="json"),
            "environment_type": f"{kind.__module__}.{kind.__name__}",
        }
        return {"info": {"config": config}}

    def cleanup(self) -> None:
        """Removes the environment."""
        self.environment.remove(force=True)
        self._fp.close()

    def _run(self, command: str, cwd: str, timeout: float) -> Dict[str, Any]:
        try:
            # Both streams as one, in the order in which they are written.
            result = self.environment.exec(
                bash(f"exec 2>&1\n{command}"),
                mode="process",
                cwd=cwd or None,
                env=self.config.env,
                timeout_ms=seconds(timeout),
            )
        except ForkpointError as error:
            return _failed("", error)
        if result.timed_out:
            return _failed(result.stdout, TimeoutError(f"{command!r} took more than {timeout:g} s"))
        return {"output": result.stdout, "returncode": return_code(result), "exception_info": ""}


def _failed(output: str, error: Exception) -> Dict[str, Any]:
    return {
        "output": output,
        "returncode": -1,
        "exception_info": f"the command could not be run: {error}",
        "extra": {"exception_type": type(error).__name__, "exception": str(error)},
    }
