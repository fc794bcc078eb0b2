"""Harbor: `harbor run --env forkpoint.integrations.harbor:ForkpointEnvironment`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Dict, Optional, Union

from ..aio.environment import AsyncEnvironment
from ..aio.forkpoint import AsyncForkpoint
from ..errors import InvalidInputError
from .shared import bash, create_options, missing, return_code, seconds

try:
    from harbor.environments.base import BaseEnvironment, ExecResult
except ImportError as error:
    raise ImportError(missing("Harbor", "harbor")) from error

#: Where agents and verifiers write inside.
_LOGS = ("/logs/agent", "/logs/verifier", "/logs/artifacts")


class ForkpointEnvironment(BaseEnvironment):
    """A task's environment, which `environment` can branch while the agent works."""

    def __init__(
        self,
        *args: Any,
        url: Optional[str] = None,
        token: Optional[str] = None,
        source: Optional[str] = None,
        create: Optional[Dict[str, Any]] = None,
        **kwargs: Any,
    ) -> None:
        # The base class validates the definition, which `source` may replace.
        self._source = source
        self._create = create
        self._connect = {"url_or_socket": url, "token": token}
        self._fp: Optional[AsyncForkpoint] = None
        self._environment: Optional[AsyncEnvironment] = None
        super().__init__(*args, **kwargs)

    @staticmethod
    def type() -> str:
        return "forkpoint"

    @property
    def is_mounted(self) -> bool:
        return False

    @property
    def supports_gpus(self) -> bool:
        return False

    @property
    def can_disable_internet(self) -> bool:
        return True

    @property
    def environment(self) -> AsyncEnvironment:
        """The live environment: snapshot, fork, restore, files."""
        if self._environment is None:
            raise RuntimeError("the environment is not started: await start() first")
        return self._environment

    def _validate_definition(self) -> None:
        self._from()

    async def start(self, force_build: bool) -> None:
        """An image is built again when its files change, so `force_build` changes nothing."""
        config = self.task_env_config
        limits = {
            "memory_bytes": _mebibytes(getattr(config, "memory_mb", None)),
            "disk_bytes": _mebibytes(getattr(config, "storage_mb", None)),
            "cpus": getattr(config, "cpus", None),
        }
        is_closed = getattr(config, "allow_internet", True) is False
        options = create_options(
            self._create,
            from_=self._from(),
            limits=limits,
            net="none" if is_closed else None,
            labels={"harbor.session": str(self.session_id)},
        )
        self._fp = AsyncForkpoint.connect(**self._connect)
        self._environment = await self._fp.create(**options)
        for path in _LOGS:
            await self._environment.files.mkdir(path, parents=True, mode=0o777)

    async def stop(self, delete: bool) -> None:
        if self._environment is not None and delete:
            await self._environment.remove(force=True)
        elif self._environment is not None:
            await self._environment.pause(release=True)
        if self._fp is not None:
            await self._fp.close()
        self._environment = self._fp = None

    async def upload_file(self, source_path: Union[Path, str], target_path: str) -> None:
        await self.environment.files.upload(str(source_path), target_path)

    async def upload_dir(self, source_dir: Union[Path, str], target_dir: str) -> None:
        await self.environment.files.upload(str(source_dir), target_dir)

    async def download_file(self, source_path: str, target_path: Union[Path, str]) -> None:
        await self.environment.files.download(source_path, str(target_path))

    async def download_dir(self, source_dir: str, target_dir: Union[Path, str]) -> None:
        await self.environment.files.download(source_dir, str(target_dir))

    async def exec(
        self,
        command: str,
        cwd: Optional[str] = None,
        env: Optional[Dict[str, str]] = None,
        timeout_sec: Optional[int] = None,
        user: Union[str, int, None] = None,
    ) -> ExecResult:
        result = await self.environment.exec(
            bash(command),
            mode="process",
            cwd=cwd,
            env=env,
            user=None if user is None else str(user),
            timeout_ms=seconds(timeout_sec),
        )
        if result.timed_out:
            raise RuntimeError(f"the command took more than {timeout_sec} s: {command!r}")
        return ExecResult(stdout=result.stdout, stderr=result.stderr, return_code=return_code(result))

    def _from(self) -> str:
        if self._source is not None:
            return self._source
        image = getattr(self.task_env_config, "docker_image", None)
        if image:
            return f"image:{image}"
        if (Path(self.environment_dir) / "Dockerfile").is_file():
            return f"dockerfile:{self.environment_dir}"
        raise InvalidInputError(
            f"{str(self.environment_dir)!r} has no Dockerfile, and the task names no docker_image",
            remedy="add one, or give `source`; several containers (docker-compose.yaml) are not supported",
        )


def _mebibytes(size: Any) -> Optional[int]:
    return int(size) * 1024**2 if size else None
