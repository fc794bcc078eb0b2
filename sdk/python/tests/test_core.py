"""What needs no daemon."""

from __future__ import annotations

import ast
import builtins
import io
import os
import tarfile
import tempfile
import unittest
from pathlib import Path
from typing import Callable

import forkpoint
from forkpoint.core import frames
from forkpoint.core.address import parse_address
from forkpoint.core.archive import pack, unpack
from forkpoint.core.command import Follower, plain_stdin
from forkpoint.core.decode import decode
from forkpoint.core.head import not_http, parse_head
from forkpoint.core.names import camel, given, snake
from forkpoint.core.request import filled, with_query
from forkpoint.core.sources import absolute
from forkpoint.data import ExitStatus, FileChange
from forkpoint.errors import error_from_json
from forkpoint.sync.websocket import WebSocket


class Endless:
    """A server that never ends a message: frames of one MiB."""

    def __init__(self) -> None:
        self.given = 0

    def some(self, _most: int) -> bytes:
        self.given += 1
        return b"\x02\x7f" + (1024**2).to_bytes(8, "big") + bytes(1024**2)

    def close(self) -> None:
        pass


class Messages(unittest.TestCase):
    def test_that_never_end_are_cut(self) -> None:
        endless = Endless()
        socket = WebSocket(endless)  # type: ignore[arg-type]
        self.assertIsNone(socket.receive())
        self.assertLessEqual(endless.given, 17)


class Errors(unittest.TestCase):
    def test_are_named_by_their_code_and_are_the_built_in_ones_too(self) -> None:
        error = error_from_json({"code": "not_found", "message": "no x", "remedy": "look"})
        self.assertIsInstance(error, forkpoint.NotFoundError)
        self.assertEqual((error.code, error.remedy, str(error)), ("not_found", "look", "no x (look)"))
        for code, kind in (
            ("timeout", builtins.TimeoutError),
            ("connection", builtins.ConnectionError),
            ("permission", builtins.PermissionError),
            ("invalid_input", ValueError),
        ):
            error = error_from_json({"code": code, "message": "m"})
            self.assertIsInstance(error, kind)
            self.assertEqual(str(error), "m")

    def test_of_a_later_version_are_still_errors(self) -> None:
        for given_error in ({"code": "new", "message": "m"}, None, {"detail": 3}):
            self.assertIs(type(error_from_json(given_error)), forkpoint.ForkpointError)


class Names(unittest.TestCase):
    def test_are_translated(self) -> None:
        self.assertEqual((camel("from_"), camel("ttl_ms"), snake("ttlMs")), ("from", "ttlMs", "ttl_ms"))
        self.assertEqual(given(a_b=1, c=None, d=False), {"aB": 1, "d": False})

    def test_in_paths_and_queries_cannot_leave_them(self) -> None:
        self.assertEqual(filled("environments", "../x?y#é"), "/v1/environments/..%2Fx%3Fy%23%C3%A9")
        query = with_query("/v1/x", {"name": "a&b", "labels": {"k": "v"}, "force": True, "no": None})
        self.assertEqual(query, "/v1/x?name=a%26b&labels=%7B%22k%22%3A+%22v%22%7D&force=true")

    def test_of_sources_become_absolute(self) -> None:
        self.assertEqual(absolute("dir:x"), f"dir:{os.getcwd()}/x")
        self.assertEqual(absolute({"dir": "x"}), {"dir": f"{os.getcwd()}/x"})
        self.assertEqual(absolute("image:debian:12"), "image:debian:12")


class Addresses(unittest.TestCase):
    def test_are_read_or_refused(self) -> None:
        for text, shown in (
            ("/run/x.sock", "unix:///run/x.sock"),
            ("unix:///run/x.sock", "unix:///run/x.sock"),
            ("http://localhost:7070", "http://localhost:7070"),
            ("https://[::1]:7070/", "https://[::1]:7070"),
        ):
            self.assertEqual(str(parse_address(text)), shown)
        for text in ("x", "ftp://x", "http://u@x", "http://x/path", "http://x:port"):
            with self.assertRaises(forkpoint.InvalidInputError):
                parse_address(text)


class Documents(unittest.TestCase):
    def test_become_data(self) -> None:
        status = decode(ExitStatus, {"exitCode": None, "signal": "SIGTERM", "later": 1}, "exit")
        self.assertEqual(status, ExitStatus(None, "SIGTERM"))
        change = decode(FileChange, {"path": "/a", "kind": "renamed", "sizeDelta": 0, "from": "/b"}, "c")
        self.assertEqual(change.from_, "/b")

    def test_of_another_form_are_errors(self) -> None:
        for document in ({}, [], None, {"exitCode": "0", "signal": None}, {"exitCode": True, "signal": None}):
            with self.assertRaises(forkpoint.BackendError):
                decode(ExitStatus, document, "exit")

    def test_that_are_not_http_are_errors(self) -> None:
        for lines in ([b"SSH-2.0"], [b"HTTP/1.1 two"], [b"HTTP/1.1 -1"]):
            with self.assertRaises(type(not_http())):
                parse_head(lines)

    def test_of_lost_output_are_errors(self) -> None:
        follower = Follower("c")
        follower.read({"type": "stdout", "data": "YQ==", "offset": 1})
        with self.assertRaises(forkpoint.ConnectionError):
            follower.read({"type": "stdout", "data": "YQ==", "offset": 3})

    def test_stdin_is_text_only_if_text_can_carry_it(self) -> None:
        self.assertEqual(plain_stdin("é".encode()), "é")
        self.assertIsNone(plain_stdin(b"\xff"))
        self.assertIsNone(plain_stdin("\0"))


class Frames(unittest.TestCase):
    def test_are_masked_and_have_their_length(self) -> None:
        for size in (0, 5, 126, 70_000):
            payload = os.urandom(size)
            frame = frames.frame(frames.BINARY, payload)
            opcode, is_last, length, more = frames.head_of(frame[0], frame[1])
            self.assertEqual((opcode, is_last), (frames.BINARY, True))
            if more:
                length = int.from_bytes(frame[2 : 2 + more], "big")
            mask = frame[2 + more : 6 + more]
            self.assertEqual((length, frames.masked(frame[6 + more :], mask)), (size, payload))

    def test_accept_is_that_of_the_standard(self) -> None:
        self.assertEqual(frames.accept_of("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")


class Archives(unittest.TestCase):
    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.dir = Path(directory.name)

    def hostile(self, *add: Callable[[tarfile.TarFile], None]) -> io.BytesIO:
        archive = io.BytesIO()
        with tarfile.open(fileobj=archive, mode="w") as tar:
            for each in add:
                each(tar)
        return archive

    def test_keep_files_directories_modes_and_links(self) -> None:
        tree = self.dir / "tree"
        (tree / "sub").mkdir(parents=True)
        (tree / "sub" / "run").write_text("x")
        (tree / "sub" / "run").chmod(0o751)
        (tree / "link").symlink_to("/nowhere")
        os.mkfifo(tree / "pipe")
        with pack(str(tree), "copy") as archive:
            unpack(archive, str(self.dir / "other"))
            # A directory that exists gets what is in the archive.
            (self.dir / "other" / "own").write_text("stays")
            unpack(archive, str(self.dir / "other"))
        other = self.dir / "other"
        self.assertEqual((other / "sub" / "run").stat().st_mode & 0o777, 0o751)
        self.assertEqual(os.readlink(other / "link"), "/nowhere")
        self.assertEqual((other / "own").read_text(), "stays")
        self.assertEqual(sorted(os.listdir(other)), ["link", "own", "sub"])

    def test_cannot_write_elsewhere(self) -> None:
        outside = self.dir / "outside"
        outside.mkdir()

        def file(name: str) -> Callable[[tarfile.TarFile], None]:
            entry = tarfile.TarInfo(name)
            entry.size = 4
            return lambda tar: tar.addfile(entry, io.BytesIO(b"evil"))

        def link(name: str, kind: bytes = tarfile.SYMTYPE) -> Callable[[tarfile.TarFile], None]:
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = kind, str(outside)
            return lambda tar: tar.addfile(entry)

        for archive in (
            self.hostile(file("../outside/f")),
            self.hostile(file(f"{outside}/f")),
            self.hostile(link("a/l"), file("a/l/f")),
            self.hostile(link("a/l"), link("a/l/f")),
            self.hostile(link("a/l", tarfile.LNKTYPE)),
            self.hostile(file("a"), file("b")),
            self.hostile(file("/".join("d" * 300))),
            self.hostile(link("a/l"), file("a/l")),
            io.BytesIO(b"no archive at all"),
        ):
            with self.assertRaises(forkpoint.ConflictError):
                unpack(archive, str(self.dir / "target"))
        self.assertEqual(list(outside.iterdir()), [])
        self.assertEqual([each.name for each in self.dir.iterdir()], ["outside"])

    def test_do_not_follow_a_link_of_the_target(self) -> None:
        outside = self.dir / "outside"
        outside.mkdir()
        tree = self.dir / "tree"
        tree.mkdir()
        (tree / "f").write_text("x")
        (self.dir / "target").symlink_to(outside)
        with pack(str(tree), "tree") as archive, self.assertRaises(forkpoint.ConflictError):
            unpack(archive, str(self.dir / "target"))
        self.assertEqual(list(outside.iterdir()), [])


class Source(unittest.TestCase):
    def test_is_python_3_9(self) -> None:
        package = Path(forkpoint.__file__).parent
        for path in package.rglob("*.py"):
            ast.parse(path.read_text(), feature_version=(3, 9))


if __name__ == "__main__":
    unittest.main()
