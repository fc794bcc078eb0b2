import abc
from dataclasses import dataclass

registry = {}


def sandboxenv(name):
    def register(kind):
        registry[name] = kind
        return kind

    return register


@dataclass
class ExecResult:
    success: bool
    returncode: int
    stdout: str
    stderr: str


class OutputLimitExceededError(Exception):
    def __init__(self, limit_str, truncated_output):
        super().__init__(f"more than {limit_str}")
        self.limit_str = limit_str
        self.truncated_output = truncated_output


class SandboxEnvironment(abc.ABC):
    @classmethod
    async def sample_init(cls, task_name, config, metadata):
        return {}

    @classmethod
    @abc.abstractmethod
    async def sample_cleanup(cls, task_name, config, environments, interrupted): ...

    @abc.abstractmethod
    async def exec(self, cmd, input=None, cwd=None, env={}, user=None, timeout=None, timeout_retry=True, concurrency=True): ...

    @abc.abstractmethod
    async def write_file(self, file, contents): ...

    @abc.abstractmethod
    async def read_file(self, file, text=True): ...
