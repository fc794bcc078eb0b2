"""Where the files of a new environment come from."""

from __future__ import annotations

import os
from typing import Any, Mapping, Union

Source = Union[str, Mapping[str, Any]]

_PLACES = ("dir", "rootfs", "dockerfile", "oci", "archive")


def absolute(source: Source) -> Source:
    """Relative paths mean the caller's working directory, which the daemon does not know."""
    if isinstance(source, str):
        kind, colon, path = source.partition(":")
        return f"{kind}:{os.path.abspath(path)}" if colon and path and kind in _PLACES else source
    paths = {
        key: os.path.abspath(value)
        for key, value in source.items()
        if key in (*_PLACES, "path") and isinstance(value, str)
    }
    return {**source, **paths}
