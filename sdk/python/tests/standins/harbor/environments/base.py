from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Optional


@dataclass
class ExecResult:
    return_code: int
    stdout: Optional[str] = None
    stderr: Optional[str] = None


class BaseEnvironment(ABC):
    def __init__(self, environment_dir, environment_name, session_id, trial_paths, task_env_config, **kwargs: Any):
        self.environment_dir = environment_dir
        self.environment_name = environment_name
        self.session_id = session_id
        self.trial_paths = trial_paths
        self.task_env_config = task_env_config
        self._validate_definition()

    @staticmethod
    @abstractmethod
    def type(): ...

    @property
    @abstractmethod
    def is_mounted(self): ...

    @property
    @abstractmethod
    def supports_gpus(self): ...

    @property
    @abstractmethod
    def can_disable_internet(self): ...

    @abstractmethod
    def _validate_definition(self): ...

    @abstractmethod
    async def start(self, force_build): ...

    @abstractmethod
    async def stop(self, delete): ...

    @abstractmethod
    async def upload_file(self, source_path, target_path): ...

    @abstractmethod
    async def upload_dir(self, source_dir, target_dir): ...

    @abstractmethod
    async def download_file(self, source_path, target_path): ...

    @abstractmethod
    async def download_dir(self, source_dir, target_dir): ...

    @abstractmethod
    async def exec(self, command, cwd=None, env=None, timeout_sec=None, user=None): ...
