"""The synchronous client, over the Unix socket and over TLS."""

from __future__ import annotations

import os
import tempfile
import threading
import unittest
from pathlib import Path

import forkpoint
from forkpoint import Forkpoint

from .daemon import WithEnvironment, over_tls


class Branching(WithEnvironment):
    def test_snapshot_fork_restore_diff_and_promote(self) -> None:
        env = self.env
        env.exec("cd /root && echo one > note && export MODE=debug")
        ready = env.snapshot(name="ready", labels={"stage": "a"}, metadata={"n": [1]})
        self.assertEqual((ready.name, ready.last_info.metadata), ("ready", {"n": [1]}))
        self.assertIn("processes", ready.last_info.captured)
        forks = ready.fork(2, name="try", labels={"part": "of-test"})
        self.assertEqual(([each.name for each in forks], forks.errors), (["try-1", "try-2"], []))
        for number, fork in enumerate(forks):
            result = fork.exec(f"echo {number} >> note; echo $MODE; cat note")
            self.assertEqual(result.stdout, f"debug\none\n{number}\n")
        changes = {change.path: change.kind for change in forks[1].diff(paths=["/root/note"]).changes}
        self.assertEqual(changes, {"/root/note": "modified"})
        self.assertIn("+1", forks[1].diff(paths=["/root/note"], patch="text").patch)
        env.promote(forks[1])
        self.assertEqual(env.exec("cat note").stdout, "one\n1\n")
        env.restore(ready)
        self.assertEqual(env.exec("cat note").stdout, "one\n")
        self.assertEqual(len(self.fp.list(labels={"part": "of-test"})), 2)
        self.assertEqual([each.id for each in self.fp.snapshots(labels={"stage": "a"})], [ready.id])
        self.assertEqual(self.fp.find("ready").id, ready.id)
        (root,) = self.fp.tree(env.id)
        self.assertEqual((root.kind, root.id), ("snapshot", ready.id))
        self.assertIn(env.id, [child.id for child in root.children])
        for fork in forks:
            with fork:
                pass
        self.assertEqual(self.fp.list(labels={"part": "of-test"}), [])
        env.label({"part": "of-tests", "other": "x"})
        env.label({"other": None})
        self.assertEqual(env.info().labels.get("part"), "of-tests")
        self.assertNotIn("other", env.last_info.labels)
        ready.annotate({"score": [1]})
        self.assertEqual(ready.info().metadata, {"score": [1]})
        ready.label({"stage": None, "done": "yes"})
        self.assertEqual(ready.info().labels, {"done": "yes"})
        self.assertEqual(self.fp.prune(dry_run=True, keep_named=True).remove.count(ready.id), 0)

    def test_pause_stats_log_and_usage(self) -> None:
        env = self.env
        env.set_policy(wake="never", ttl_ms=3_600_000)
        self.assertIsNotNone(env.last_info.policy.expires_at)
        env.pause()
        self.assertEqual(env.info().status, "paused")
        with self.assertRaises(forkpoint.ConflictError):
            env.exec("true")
        env.resume()
        cut = env.set_net("nat", deny_out=["0.0.0.0/0"], allow_out=["192.0.2.1"])
        self.assertEqual((cut, env.last_info.net.allow_out), ([], ["192.0.2.1/32"]))
        env.set_net("none")
        self.assertEqual(env.info().net.mode, "none")
        env.set_policy(ttl_ms=None)
        self.assertEqual((env.info().status, env.last_info.policy.ttl_ms), ("running", None))
        self.assertGreater(env.stats().processes, 0)
        self.assertIn("pause", [entry.kind for entry in env.log()])
        self.assertGreater(self.fp.usage().totals.memory_bytes, 0)
        self.assertEqual(self.fp.operations(), [])
        event = next(iter(self.fp.events(after=0)))
        self.assertEqual((event.type, event.kind), ("operation", "create"))


class Commands(WithEnvironment):
    def test_exec_gives_exit_code_stdout_and_stderr(self) -> None:
        result = self.env.exec("echo out; echo err >&2; (exit 3)")
        self.assertEqual((result.exit_code, result.stdout, result.stderr), (3, "out\n", "err\n"))
        words = self.env.exec(["printf", "%s", "a b"], mode="process", env={"X": "1"}, cwd="/tmp")
        self.assertEqual(words.stdout, "a b")
        late = self.env.exec("sleep 60", timeout_ms=300)
        self.assertTrue(late.timed_out)
        self.assertEqual(self.env.exec("cat", stdin="téxt").stdout, "téxt")
        raw = os.urandom(100_000) + b"\0\xff"
        self.assertEqual(self.env.exec("cat", stdin=raw).raw.stdout, raw)

    def test_output_comes_as_it_is_printed(self) -> None:
        heard = threading.Event()
        pieces = []

        def listen(piece: bytes) -> None:
            pieces.append(piece)
            self.env.files.write("/tmp/heard", b"")
            heard.set()

        # It ends only because the listener was called while it ran.
        result = self.env.exec(
            "rm -f /tmp/heard; echo first; until [ -e /tmp/heard ]; do sleep 0.05; done; echo last",
            on_stdout=listen,
            timeout_ms=60_000,
        )
        self.assertEqual((result.exit_code, result.stdout, b"".join(pieces)), (0, "", b"first\nlast\n"))

    def test_a_command_is_fed_found_again_followed_and_ended(self) -> None:
        command = self.env.spawn(["cat"], mode="process", stdin="streamed", id="feed")
        command.write_stdin("he")
        command.write_stdin(b"llo\n")
        self.assertEqual(next(command.output()).data[:2], b"he")
        (info,) = [each for each in self.env.commands() if each.id == "feed"]
        self.assertTrue(info.running)
        again = self.env.command("feed", stdout=2)
        command.end_stdin()
        self.assertEqual((again.wait().stdout, again.wait().exit_code), ("llo\n", 0))
        sleeper = self.env.spawn(["sleep", "60"], mode="process")
        sleeper.kill()
        self.assertEqual(sleeper.wait().signal, "SIGKILL")
        with self.assertRaises(forkpoint.NotFoundError):
            self.env.command("nobody").wait()

    def test_many_threads_share_one_client(self) -> None:
        results = {}

        def run(number: int) -> None:
            results[number] = self.env.exec(["echo", str(number)], mode="process").stdout

        threads = [threading.Thread(target=run, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(results, {number: f"{number}\n" for number in range(6)})


class Inside(WithEnvironment):
    def test_files(self) -> None:
        files = self.env.files
        content = bytes(range(256)) * 5000
        files.write("/tmp/new/deep/a", content, mode=0o640, make_parents=True)
        self.assertEqual(files.read("/tmp/new/deep/a"), content)
        self.assertEqual(files.read("/tmp/new/deep/a", offset_bytes=2, length_bytes=3), b"\2\3\4")
        files.write("/tmp/new/b", "text\n")
        files.write("/tmp/new/b", "more\n", how="append")
        self.assertEqual(files.read_text("/tmp/new/b"), "text\nmore\n")
        info = files.stat("/tmp/new/deep/a")
        self.assertEqual((info.type, info.mode, info.size_bytes), ("file", 0o640, len(content)))
        self.assertEqual(sorted(entry.name for entry in files.list("/tmp/new")), ["b", "deep"])
        files.mkdir("/tmp/new/c")
        files.rename("/tmp/new/c", "/tmp/new/d")
        with files.watch("/tmp/new") as watch:
            files.write("/tmp/new/seen", b"")
            self.assertTrue(any(change.path == "seen" for change in watch))
        files.remove("/tmp/new", recursive=True)
        for call in (lambda: files.stat("/tmp/new"), lambda: files.read("/tmp/new/b")):
            with self.assertRaises(forkpoint.NotFoundError):
                call()

    def test_trees_are_copied_in_and_out(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            here = Path(name)
            (here / "tree" / "sub").mkdir(parents=True)
            (here / "tree" / "sub" / "file").write_bytes(os.urandom(300_000))
            self.env.files.upload(str(here / "tree"), "/tmp/in/tree")
            self.assertEqual(self.env.exec("stat -c %U /tmp/in/tree/sub/file").stdout, "root\n")
            self.env.files.download("/tmp/in/tree", str(here / "back"))
            sent, got = here / "tree" / "sub" / "file", here / "back" / "sub" / "file"
            self.assertEqual(sent.read_bytes(), got.read_bytes())
            self.env.files.download("/tmp/in/tree/sub/file", str(here / "one"))
            self.assertEqual(sent.read_bytes(), (here / "one").read_bytes())
            with self.assertRaises(forkpoint.NotFoundError):
                self.env.files.download("/tmp/none", str(here / "none"))

    def test_a_terminal_is_typed_into_and_seen(self) -> None:
        terminal = self.env.terminal("t")
        with terminal.attach() as viewer:
            viewer.resize(60, 10)
            viewer.write("echo $((40 + 2))\n")
            seen = b""
            for piece in viewer:
                seen += piece
                if b"42" in seen:
                    break
        terminal.resize(70, 20)
        terminal.write("touch /tmp/typed\n")
        self.env.exec("until [ -e /tmp/typed ]; do sleep 0.1; done", timeout_ms=60_000)
        screen = terminal.screen()
        self.assertEqual((screen.cols, screen.rows), (70, 20))
        self.assertIn("42", screen.text)
        self.assertEqual([each.name for each in self.env.terminals()], ["t"])
        terminal.close()

    def test_a_server_inside_is_reached(self) -> None:
        self.env.files.write("/tmp/www/index.html", "served", make_parents=True)
        words = ["python3", "-m", "http.server", "8080", "--bind", "127.0.0.1"]
        server = self.env.spawn(words, mode="process", cwd="/tmp/www")
        self.env.exec("until exec 3<>/dev/tcp/127.0.0.1/8080; do sleep 0.1; done 2>/dev/null; exec 3>&-")
        self.assertEqual(self.env.ports.request(8080).read(), b"served")
        with self.env.ports.request(8080, "/none") as missing:
            self.assertEqual(missing.status, 404)
        self.assertTrue(self.env.ports.url(8080, "/a").endswith(f"/{self.env.id}/ports/8080/a"))
        server.kill()


class Connecting(WithEnvironment):
    def test_over_tls_with_a_token(self) -> None:
        with over_tls() as far:
            env = far.get(self.env.id)
            big = os.urandom(2_000_000)
            env.files.write("/tmp/big", big)
            self.assertEqual(env.files.read("/tmp/big"), big)
            self.assertEqual(env.exec("echo far").stdout, "far\n")
            with env.terminal("far").attach() as viewer:
                viewer.write("echo $((6 * 7))\n")
                self.assertTrue(any(b"42" in piece for piece in viewer))
            weak = far.tokens.create(name="weak", scope="read")
            environ = os.environ
            url, ca = environ["FORKPOINT_TEST_URL"], environ["FORKPOINT_TEST_CA"]
            with Forkpoint.connect(url, token=weak.token, ca=ca) as reader:
                self.assertEqual(reader.get(env.id).id, env.id)
                with self.assertRaises(forkpoint.PermissionError):
                    reader.get(env.id).exec("true")
            far.tokens.remove("weak")
            self.assertNotIn("weak", [each.name for each in far.tokens.list()])
            with Forkpoint.connect(url, token="fp_wrong", ca=ca) as nobody:
                with self.assertRaises(forkpoint.PermissionError):
                    nobody.list()
        with Forkpoint.connect(url, token=weak.token) as untrusting:
            with self.assertRaises(forkpoint.ConnectionError) as caught:
                untrusting.list()
        self.assertIn("certificate", str(caught.exception))

    def test_failures_say_what_to_do(self) -> None:
        with self.assertRaises(forkpoint.NotFoundError) as missing:
            self.fp.get("nobody")
        self.assertIsNotNone(missing.exception.remedy)
        with self.assertRaises(forkpoint.InvalidInputError):
            self.fp.create(name="not/a name")
        with Forkpoint.connect("/nowhere/forkpoint.sock") as nowhere:
            with self.assertRaises(forkpoint.ConnectionError) as lost:
                nowhere.list()
        self.assertEqual(lost.exception.happened, "no")
        closed = Forkpoint.connect()
        closed.close()
        with self.assertRaises(forkpoint.ConnectionError):
            closed.list()

    def test_the_same_key_makes_one_environment(self) -> None:
        first = self.fp.create(name="keyed", idempotency_key="py-1")
        with first:
            self.assertEqual(self.fp.create(name="keyed", idempotency_key="py-1").id, first.id)

    def test_a_lost_connection_is_made_again(self) -> None:
        self.fp.get(self.env.id)
        # The daemon may close an idle connection at any time; here the client's own ends.
        for connection in self.fp._link._idle:
            connection.stream._socket.shutdown(2)
        self.assertEqual(self.fp.get(self.env.id).id, self.env.id)



if __name__ == "__main__":
    unittest.main()
