"""Makes the synchronous client from the asynchronous one: `python3 tools/make_sync.py [--check]`."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Iterator, Tuple

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "forkpoint"

#: Written by hand on both sides: they are what differs.
OWN = {"__init__.py", "stream.py"}

NOTE = "# Made by tools/make_sync.py from forkpoint/aio/{name}; change that one.\n"

RULES: Tuple[Tuple[str, str], ...] = (
    (r"\basync (def|for|with) ", r"\1 "),
    (r"\bawait ", ""),
    (r"\b__aenter__\b", "__enter__"),
    (r"\b__aexit__\b", "__exit__"),
    (r"\b__aiter__\b", "__iter__"),
    (r"\b__anext__\b", "__next__"),
    (r"\bStopAsyncIteration\b", "StopIteration"),
    (r"\bAsync([A-Z])", r"\1"),
)


def made() -> Iterator[Tuple[Path, str]]:
    for source in sorted((PACKAGE / "aio").glob("*.py")):
        if source.name in OWN:
            continue
        text = source.read_text()
        for pattern, replacement in RULES:
            text = re.sub(pattern, replacement, text)
        yield PACKAGE / "sync" / source.name, NOTE.format(name=source.name) + text


def main() -> int:
    is_check = sys.argv[1:] == ["--check"]
    expected = dict(made())
    names = {path.name for path in expected} | OWN
    stale = [path for path in (PACKAGE / "sync").glob("*.py") if path.name not in names]
    stale += [path for path, text in expected.items() if not path.exists() or path.read_text() != text]
    if is_check:
        for path in stale:
            print(f"{path} is not what tools/make_sync.py makes", file=sys.stderr)
        return 1 if stale else 0
    for path, text in expected.items():
        path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
