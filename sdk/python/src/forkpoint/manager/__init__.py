"""An environment with its snapshots and branches, as StateFork's users know it."""

from .create import create_env_manager
from .env_manager import EnvManager
from .methods import ENV_METHODS
from .tree import ManagedSnapshot

__all__ = ["ENV_METHODS", "EnvManager", "ManagedSnapshot", "create_env_manager"]
