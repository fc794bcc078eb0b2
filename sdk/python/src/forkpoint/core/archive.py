"""Files of the caller's machine as archives, and archives as files. Nothing in an archive is trusted."""

from __future__ import annotations

import os
import shutil
import tarfile
import tempfile
from typing import BinaryIO, List, Optional, Tuple

from ..errors import ConflictError, NotFoundError

#: Archives that are larger are kept in a file, not in memory.
_IN_MEMORY = 16 * 1024**2
_MOST_ENTRIES = 5_000_000
#: Deeper trees come from hostile code, and could not even be removed again.
_MOST_LEVELS = 200


def scratch() -> BinaryIO:
    """Holds an archive until it is complete."""
    return tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # type: ignore[return-value]


def pack(path: str, name: str) -> BinaryIO:
    """A file or directory under another name, owned by root."""
    if not os.path.lexists(path):
        raise NotFoundError(f"no such file: {path!r}", remedy="check the path")
    archive = scratch()
    with tarfile.open(fileobj=archive, mode="w", format=tarfile.PAX_FORMAT) as tar:
        tar.add(path, arcname=name, filter=_ours)
    archive.seek(0)
    return archive


def _ours(entry: tarfile.TarInfo) -> Optional[tarfile.TarInfo]:
    if not (entry.isreg() or entry.isdir() or entry.issym() or entry.islnk()):
        return None
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry


def unpack(archive: BinaryIO, path: str) -> None:
    """The only entry of an archive, as `path`. A new one appears when it is complete; a directory that exists
    gets what is in the archive, file by file."""
    parent = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(parent):
        raise NotFoundError(f"no such directory: {parent!r}", remedy="make it first")
    draft = tempfile.mkdtemp(prefix=".forkpoint-", dir=parent)
    try:
        archive.seek(0)
        try:
            with tarfile.open(fileobj=archive, mode="r|") as tar:
                _extract(tar, draft)
        except (tarfile.TarError, OSError, ValueError, OverflowError) as error:
            raise ConflictError(f"the archive cannot be unpacked: {error}", remedy="copy a part of it") from error
        entries = os.listdir(draft)
        if len(entries) != 1:
            raise ConflictError("the archive does not hold one file or directory", remedy="check the path")
        _settle(os.path.join(draft, entries[0]), path)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _settle(source: str, target: str) -> None:
    if os.path.islink(source) or not os.path.isdir(source):
        if os.path.isdir(target) and not os.path.islink(target):
            raise ConflictError(f"{target!r} is a directory", remedy="give the name of the copy itself")
        os.replace(source, target)
    elif not os.path.lexists(target):
        os.rename(source, target)
    elif os.path.islink(target) or not os.path.isdir(target):
        raise ConflictError(
            f"{target!r} is no directory", remedy="move it out of the way; symlinks are never followed"
        )
    else:
        for name in os.listdir(source):
            _settle(os.path.join(source, name), os.path.join(target, name))


def _extract(tar: tarfile.TarFile, root: str) -> None:
    """Symlinks come last, and after all directories, so that nothing is ever written through one."""
    links: List[Tuple[str, str]] = []
    directories: List[Tuple[str, int]] = []
    for count, entry in enumerate(tar):
        place = _place(root, entry.name)
        if count >= _MOST_ENTRIES:
            raise ConflictError("the archive has too many entries", remedy="copy a part of it")
        if entry.isdir():
            os.makedirs(place, exist_ok=True)
            directories.append((place, entry.mode & 0o777))
        elif entry.isreg():
            os.makedirs(os.path.dirname(place), exist_ok=True)
            _write(tar, entry, place)
        elif entry.issym():
            links.append((place, entry.linkname))
        elif entry.islnk():
            # A second name becomes a separate file.
            shutil.copyfile(_place(root, entry.linkname), place, follow_symlinks=False)
    for place, _ in links:
        os.makedirs(os.path.dirname(place), exist_ok=True)
    for place, target in links:
        os.symlink(target, place)
    for place, mode in reversed(directories):
        os.chmod(place, mode)


def _write(tar: tarfile.TarFile, entry: tarfile.TarInfo, place: str) -> None:
    source = tar.extractfile(entry)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    with os.fdopen(os.open(place, flags, 0o600), "wb") as file:
        if source is not None:
            shutil.copyfileobj(source, file)
        os.fchmod(file.fileno(), entry.mode & 0o777)
    os.utime(place, (entry.mtime, entry.mtime))


def _place(root: str, name: str) -> str:
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if name.startswith("/") or ".." in parts or not parts or len(parts) > _MOST_LEVELS:
        raise ConflictError(
            f"the archive has a path that is not acceptable: {name[:200]!r}", remedy="copy a part of it"
        )
    return os.path.join(root, *parts)
