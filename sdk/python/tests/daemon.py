"""The daemon that the tests use; test/python starts it."""

from __future__ import annotations

import os
import unittest
from typing import Any, ClassVar

from forkpoint import AsyncForkpoint, Environment, Forkpoint


def over_tls(kind: Any = Forkpoint) -> Any:
    environ = os.environ
    return kind.connect(
        environ["FORKPOINT_TEST_URL"],
        token=environ["FORKPOINT_TEST_TOKEN"],
        ca=environ["FORKPOINT_TEST_CA"],
    )


def over_socket(kind: Any = Forkpoint) -> Any:
    return kind.connect()


class WithEnvironment(unittest.TestCase):
    """One environment for all tests of a class."""

    fp: ClassVar[Forkpoint]
    env: ClassVar[Environment]

    @classmethod
    def setUpClass(cls) -> None:
        cls.fp = over_socket()
        cls.addClassCleanup(cls.fp.close)
        cls.env = cls.fp.create(name=cls.__name__.lower())
        cls.addClassCleanup(lambda: cls.env.remove(force=True))


__all__ = ["AsyncForkpoint", "WithEnvironment", "over_socket", "over_tls"]
