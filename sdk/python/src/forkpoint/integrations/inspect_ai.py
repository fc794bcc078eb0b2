"""inspect_ai: `sandbox="forkpoint"`, or `sandbox=("forkpoint", "image:python:3.12")`."""

from __future__ import annotations

import os
import posixpath
from typing import Any, Dict, List, Optional, Union

from ..aio.environment import AsyncEnvironment
from ..aio.forkpoint import AsyncForkpoint
from ..errors import BackendError, NotFoundError
from .shared import missing, return_code, seconds

try:
    from inspect_ai.util import (
        ExecResult,
        OutputLimitExceededError,
        SandboxEnvironment,
        sandboxenv,
    )
except ImportError as error:
    raise ImportError(missing("inspect_ai", "inspect-ai")) from error

_MOST_OUTPUT = 10 * 1024**2
_MOST_FILE = 100 * 1024**2
#: How a shell ends if there is no such program.
_NOT_FOUND = 127


@sandboxenv(name="forkpoint")
class ForkpointSandboxEnvironment(SandboxEnvironment):
    """One environment a sample. `environment` branches it: snapshot, fork, restore."""

    def __init__(self, fp: AsyncForkpoint, environment: AsyncEnvironment) -> None:
        super().__init__()
        self._fp = fp
        self.environment = environment

    @classmethod
    async def sample_init(
        cls, task_name: str, config: Any, metadata: Dict[str, str]
    ) -> Dict[str, SandboxEnvironment]:
        """`config` is the source of the files, or an object with options of `Forkpoint.create`."""
        fp = AsyncForkpoint.connect()
        try:
            environment = await fp.create(**_options(config))
        except BaseException:
            await fp.close()
            raise
        return {"default": cls(fp, environment)}

    @classmethod
    async def sample_cleanup(
        cls,
        task_name: str,
        config: Any,
        environments: Dict[str, SandboxEnvironment],
        interrupted: bool,
    ) -> None:
        for each in environments.values():
            if isinstance(each, ForkpointSandboxEnvironment):
                await each.environment.remove(force=True)
                await each._fp.close()

    async def exec(
        self,
        cmd: List[str],
        input: Union[str, bytes, None] = None,
        cwd: Optional[str] = None,
        env: Optional[Dict[str, str]] = None,
        user: Optional[str] = None,
        timeout: Optional[int] = None,
        timeout_retry: bool = True,
        concurrency: bool = True,
    ) -> ExecResult:
        try:
            result = await self.environment.exec(
                cmd,
                mode="process",
                stdin=input,
                cwd=self._inside(cwd or ""),
                env=env or {},
                user=user,
                timeout_ms=seconds(timeout),
            )
        except NotFoundError as error:
            return ExecResult(False, _NOT_FOUND, "", str(error))
        except BackendError as error:
            if error.detail.get("errno") == "EACCES":
                raise PermissionError(str(error)) from error
            raise
        if result.timed_out:
            raise TimeoutError(f"the command took more than {timeout} s")
        for raw in (result.raw.stdout, result.raw.stderr):
            if len(raw) > _MOST_OUTPUT:
                raise OutputLimitExceededError("10 MiB", raw[-_MOST_OUTPUT:].decode("utf-8", "replace"))
        code = return_code(result)
        return ExecResult(code == 0, code, result.raw.stdout.decode(), result.raw.stderr.decode())

    async def write_file(self, file: str, contents: Union[str, bytes]) -> None:
        path = self._inside(file)
        if await self._type(path) == "directory":
            raise IsADirectoryError(f"{file!r} is a directory")
        await self.environment.files.write(path, contents, make_parents=True)

    async def read_file(self, file: str, text: bool = True) -> Any:
        path = self._inside(file)
        kind = await self._type(path)
        if kind is None:
            raise FileNotFoundError(f"no such file: {file!r}")
        if kind == "directory":
            raise IsADirectoryError(f"{file!r} is a directory")
        if (await self.environment.files.stat(path)).size_bytes > _MOST_FILE:
            raise OutputLimitExceededError("100 MiB", None)
        content = await self.environment.files.read(path)
        return content.decode() if text else content

    async def _type(self, path: str) -> Optional[str]:
        try:
            return (await self.environment.files.stat(path)).type
        except NotFoundError:
            return None

    def _inside(self, path: str) -> str:
        """Relative paths are those of the working directory."""
        return posixpath.join(self.environment.last_info.workdir, path)


def _options(config: Any) -> Dict[str, Any]:
    if config is None:
        return {}
    if hasattr(config, "model_dump"):
        return dict(config.model_dump(exclude_none=True))
    text = str(config)
    # inspect_ai finds a file beside the task, and names it.
    if os.path.basename(text) == "Dockerfile":
        return {"from_": f"dockerfile:{os.path.dirname(os.path.abspath(text))}"}
    return {"from_": text}
