from __future__ import annotations

import posixpath
from typing import AsyncIterator, BinaryIO, List, Optional, Union

from ..core.archive import pack, scratch, unpack
from ..core.decode import decode, decode_list
from ..core.names import given
from ..core.request import Request, accepting, delete, filled, get, post, put
from ..data import FileEntry, FileInfo, WatchEvent
from .http import AsyncAnswer
from .link import AsyncLink


class AsyncFiles:
    """Files inside. Paths are absolute and resolved there."""

    def __init__(self, link: AsyncLink, environment: str) -> None:
        self._link = link
        self._environment = environment

    async def read(
        self, path: str, *, offset_bytes: Optional[int] = None, length_bytes: Optional[int] = None
    ) -> bytes:
        query = given(path=path, offset_bytes=offset_bytes, length_bytes=length_bytes)
        return await self._link.read(get(self._path(), query))

    async def read_text(self, path: str, encoding: str = "utf-8") -> str:
        return (await self.read(path)).decode(encoding)

    async def write(
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
        await self._link.json(put(self._path(), query, body, repeatable=is_whole))

    async def list(self, path: str) -> List[FileEntry]:
        found = await self._link.json(get(self._path("list"), {"path": path}))
        return decode_list(FileEntry, found, "files")

    async def stat(self, path: str, *, symlink: Optional[str] = None) -> FileInfo:
        """Of what a symlink points to, or with `symlink="itself"` of the symlink."""
        query = given(path=path, symlink=symlink)
        return decode(FileInfo, await self._link.json(get(self._path("stat"), query)), "file")

    async def mkdir(
        self, path: str, *, parents: Optional[bool] = None, mode: Optional[int] = None
    ) -> None:
        body = given(path=path, parents=parents, mode=mode)
        await self._link.json(post(self._path("mkdir"), body))

    async def rename(self, source: str, target: str) -> None:
        await self._link.json(post(self._path("rename"), {"from": source, "to": target}))

    async def remove(
        self, path: str, *, recursive: Optional[bool] = None, force: Optional[bool] = None
    ) -> None:
        sent = delete(self._path(), given(path=path, recursive=recursive, force=force))
        await self._link.json(Request(sent.method, sent.path, repeatable=False))

    async def upload(self, source: str, target: str) -> None:
        """Copies a file or directory of this machine. `target` is the name of the copy itself."""
        directory, name = posixpath.split(posixpath.normpath(target))
        await self.mkdir(directory, parents=True)
        with pack(source, name) as archive:
            sent = put(self._path("archive"), {"path": directory}, archive, repeatable=False)
            await self._link.json(sent)

    async def download(self, source: str, target: str) -> None:
        """Copies a file or directory to this machine. `target` is the name of the copy itself."""
        answer = await self._link.open(get(self._path("archive"), {"path": source}))
        with scratch() as archive:
            try:
                async for piece in answer.pieces():
                    archive.write(piece)
            finally:
                answer.close()
            unpack(archive, target)

    async def watch(self, path: str, *, recursive: Optional[bool] = None) -> AsyncWatch:
        """Changes from now on. Returns when no later change is missed."""
        request = get(self._path("watch"), given(path=path, recursive=recursive))
        return AsyncWatch(await self._link.open(accepting(request, "application/x-ndjson")))

    def _path(self, *rest: str) -> str:
        return filled("environments", self._environment, "files", *rest)


class AsyncWatch:
    """Changes of files, as they happen."""

    def __init__(self, answer: AsyncAnswer) -> None:
        self._answer = answer

    async def __aiter__(self) -> AsyncIterator[WatchEvent]:
        async for document in self._answer.documents():
            yield decode(WatchEvent, document, "change")

    def close(self) -> None:
        """Ends the watch."""
        self._answer.close()

    async def __aenter__(self) -> AsyncWatch:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()
