"""Names in Python and names on the wire."""

from __future__ import annotations

import re
from typing import Any, Dict, Mapping


def camel(name: str) -> str:
    """`memory_bytes` is `memoryBytes` on the wire; `from_` is `from`."""
    first, *rest = name.rstrip("_").split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in rest)


def snake(name: str) -> str:
    """The other way round."""
    return re.sub(r"([A-Z])", lambda match: "_" + match.group(1).lower(), name)


def given(**options: Any) -> Dict[str, Any]:
    """The options that were given, by their names on the wire."""
    return {camel(name): value for name, value in options.items() if value is not None}


def renamed(options: Mapping[str, Any]) -> Dict[str, Any]:
    """A group of options, such as limits, by their names on the wire."""
    return {camel(name): value for name, value in options.items() if value is not None}
