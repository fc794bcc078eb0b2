# Made by tools/make_sync.py from forkpoint/aio/files.py; change that one.
from __future__ import annotations

import posixpath
from typing import Iterator, BinaryIO, List, Optional, Union

from ..core.archive import pack, scratch, unpack
from ..core.decode import decode, decode_list
from ..core.names import given
from ..core.request import Request, accepting, delete, filled, get, post, put
from ..data import FileEntry, FileInfo, WatchEvent
from .http import Answer
from .link import Link


class Files:
    """Files inside. Paths are absolute and resolved there."""

    def __init__(self, link: Link, environment: str) -> None:
        self._link = link
        self._environment = environment

    def read(
        self, path: str, *, offset_bytes: Optional[int] = None, length_bytes: Optional[int] = None
    ) -> bytes:
        query = given(path=path, offset_bytes=offset_bytes, length_bytes=length_bytes)
        return self._link.read(get(self._path(), query))

    def read_text(self, path: str, encoding: str = "utf-8") -> str:
        return (self.read(path)).decode(encoding)

    def write(
        self,
        path: str,
        data: Union[str, bytes, BinaryIO],
        *,
        mode: Optional[int] = None,
        make_parents: Optional[bool] = None,
        how: Optional[str] = None,
    ) -> None:
        """Replaces a file, all of it or nothing. `how` may be `append`, or `create` if it must not exist."""
        body = data.encode() if isinstance(data, str) else data
        query = given(path=path, mode=mode, make_parents=make_parents, how=how)
        is_whole = isinstance(body, bytes) and how in (None, "replace")
        self._link.json(put(self._path(), query, body, repeatable=is_whole))

    def list(self, path: str) -> List[FileEntry]:
        found = self._link.json(get(self._path("list"), {"path": path}))
        return decode_list(FileEntry, found, "files")

    def stat(self, path: str, *, symlink: Optional[str] = None) -> FileInfo:
        """Of what a symlink points to, or with `symlink="itself"` of the symlink."""
        query = given(path=path, symlink=symlink)
        return decode(FileInfo, self._link.json(get(self._path("stat"), query)), "file")

    def mkdir(
        self, path: str, *, parents: Optional[bool] = None, mode: Optional[int] = None
    ) -> None:
        body = given(path=path, parents=parents, mode=mode)
        self._link.json(post(self._path("mkdir"), body))

    def rename(self, source: str, target: str) -> None:
        self._link.json(post(self._path("rename"), {"from": source, "to": target}))

    def remove(
        self, path: str, *, recursive: Optional[bool] = None, force: Optional[bool] = None
    ) -> None:
        sent = delete(self._path(), given(path=path, recursive=recursive, force=force))
        self._link.json(Request(sent.method, sent.path, repeatable=False))

    def upload(self, source: str, target: str) -> None:
        """Copies a file or directory of this machine. `target` is the name of the copy itself."""
        directory, name = posixpath.split(posixpath.normpath(target))
        self.mkdir(directory, parents=True)
        with pack(source, name) as archive:
            sent = put(self._path("archive"), {"path": directory}, archive, repeatable=False)
            self._link.json(sent)

    def download(self, source: str, target: str) -> None:
        """Copies a file or directory to this machine. `target` is the name of the copy itself."""
        answer = self._link.open(get(self._path("archive"), {"path": source}))
        with scratch() as archive:
            try:
                for piece in answer.pieces():
                    archive.write(piece)
            finally:
                answer.close()
            unpack(archive, target)

    def watch(self, path: str, *, recursive: Optional[bool] = None) -> Watch:
        """Changes from now on. Returns when no later change is missed."""
        request = get(self._path("watch"), given(path=path, recursive=recursive))
        return Watch(self._link.open(accepting(request, "application/x-ndjson")))

    def _path(self, *rest: str) -> str:
        return filled("environments", self._environment, "files", *rest)


class Watch:
    """Changes of files, as they happen."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer

    def __iter__(self) -> Iterator[WatchEvent]:
        for document in self._answer.documents():
            yield decode(WatchEvent, document, "change")

    def close(self) -> None:
        """Ends the watch."""
        self._answer.close()

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
