"""The adapters, against stand-ins of the base classes (tests/standins) and a real daemon."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
import types
import unittest
from pathlib import Path

import forkpoint

STANDINS = str(Path(__file__).parent / "standins")


class Lazy(unittest.TestCase):
    def test_a_framework_is_imported_only_by_its_adapter_and_a_missing_one_is_named(self) -> None:
        code = """
import sys, importlib, forkpoint, forkpoint.integrations
assert not {'harbor', 'inspect_ai', 'minisweagent', 'openhands'} & set(sys.modules)
for name in ('harbor', 'inspect_ai', 'mini_swe_agent', 'openhands'):
    try:
        importlib.import_module(f'forkpoint.integrations.{name}')
    except ImportError as error:
        assert 'pip install' in str(error), error
    else:
        raise SystemExit(f'{name} did not need its framework')
"""
        subprocess.run([sys.executable, "-c", code], check=True, cwd="/")


class WithStandins(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        sys.path.insert(0, STANDINS)
        cls.addClassCleanup(sys.path.remove, STANDINS)

    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.dir = Path(directory.name)


class Harbor(WithStandins):
    def make(self, **options: object) -> object:
        from forkpoint.integrations.harbor import ForkpointEnvironment

        config = types.SimpleNamespace(
            docker_image=None, cpus=1, memory_mb=512, storage_mb=None, allow_internet=False
        )
        return ForkpointEnvironment(
            environment_dir=self.dir,
            environment_name="task",
            session_id="trial-1",
            trial_paths=None,
            task_env_config=config,
            **options,
        )

    def test_runs_copies_and_branches(self) -> None:
        asyncio.run(self.trial())

    async def trial(self) -> None:
        env = self.make(source="host")
        await env.start(force_build=False)
        try:
            self.assertEqual(env.environment.last_info.limits.memory_bytes, 512 * 1024**2)
            self.assertEqual(env.environment.last_info.net.mode, "none")
            (self.dir / "tests").mkdir()
            (self.dir / "tests" / "run.sh").write_text("echo $WORD; echo bad >&2; exit 3\n")
            await env.upload_dir(self.dir / "tests", "/tests")
            await env.upload_file(self.dir / "tests" / "run.sh", "/opt/new/run.sh")
            result = await env.exec("bash /tests/run.sh", cwd="/tmp", env={"WORD": "hi"}, timeout_sec=30)
            self.assertEqual((result.return_code, result.stdout, result.stderr), (3, "hi\n", "bad\n"))
            self.assertEqual((await env.exec("id -un", user="nobody")).stdout, "nobody\n")
            self.assertEqual((await env.exec("kill -9 $$")).return_code, 137)
            with self.assertRaises(RuntimeError):
                await env.exec("sleep 60", timeout_sec=1)
            ready = await env.environment.snapshot()
            await env.exec("echo lost > /logs/agent/log")
            await env.environment.restore(ready)
            await env.exec("echo kept > /logs/agent/log")
            (self.dir / "logs").mkdir()
            await env.download_dir("/logs/agent", self.dir / "logs")
            await env.download_file("/logs/agent/log", self.dir / "one")
            self.assertEqual((self.dir / "logs" / "log").read_text(), "kept\n")
            self.assertEqual((self.dir / "one").read_text(), "kept\n")
        finally:
            await env.stop(delete=True)

    def test_needs_a_definition(self) -> None:
        with self.assertRaises(forkpoint.InvalidInputError):
            self.make()
        (self.dir / "Dockerfile").write_text("FROM scratch\n")
        self.assertEqual(self.make()._from(), f"dockerfile:{self.dir}")


class InspectAi(WithStandins):
    def test_runs_and_keeps_files(self) -> None:
        asyncio.run(self.sample())

    async def sample(self) -> None:
        from forkpoint.integrations.inspect_ai import ForkpointSandboxEnvironment
        from inspect_ai.util import registry

        self.assertIs(registry["forkpoint"], ForkpointSandboxEnvironment)
        made = await ForkpointSandboxEnvironment.sample_init("task", "host", {})
        try:
            box = made["default"]
            await box.write_file("deep/file.txt", "text")
            self.assertEqual(await box.read_file("deep/file.txt"), "text")
            self.assertEqual(await box.read_file("/root/deep/file.txt", text=False), b"text")
            result = await box.exec(["cat", "-"], input=b"fed", cwd="deep", env={"A": "b"}, timeout=30)
            self.assertEqual((result.success, result.stdout), (True, "fed"))
            self.assertEqual((await box.exec(["pwd"], cwd="deep")).stdout, "/root/deep\n")
            failed = await box.exec(["bash", "-c", "exit 4"])
            self.assertEqual((failed.success, failed.returncode), (False, 4))
            self.assertEqual((await box.exec(["no-such-program"])).returncode, 127)
            for error, call in (
                (FileNotFoundError, box.read_file("none")),
                (IsADirectoryError, box.read_file("deep")),
                (IsADirectoryError, box.write_file("deep", "x")),
                (TimeoutError, box.exec(["sleep", "60"], timeout=1)),
                (PermissionError, box.exec(["/etc/hostname"])),
            ):
                with self.assertRaises(error):
                    await call
            await box.write_file("raw", b"\xff")
            with self.assertRaises(UnicodeDecodeError):
                await box.read_file("raw")
        finally:
            await ForkpointSandboxEnvironment.sample_cleanup("task", None, made, False)


class MiniSweAgent(WithStandins):
    def test_executes_actions_until_one_submits(self) -> None:
        from forkpoint.integrations.mini_swe_agent import ForkpointEnvironment
        from minisweagent.exceptions import Submitted

        env = ForkpointEnvironment(cwd="/tmp", env={"PAGER": "cat"}, timeout=20)
        try:
            output = env.execute({"command": "echo out; echo err >&2; pwd; echo $PAGER; exit 2"})
            self.assertEqual((output["output"], output["returncode"]), ("out\nerr\n/tmp\ncat\n", 2))
            self.assertEqual(env.execute({"command": "pwd"}, "/var")["output"], "/var\n")
            late = env.execute({"command": "echo early; sleep 60"}, timeout=1)
            self.assertEqual((late["output"], late["returncode"]), ("early\n", -1))
            ready = env.environment.snapshot()
            env.execute({"command": "rm -rf /usr/bin/python3"})
            env.environment.restore(ready)
            self.assertEqual(env.execute({"command": "ls /usr/bin/python3"})["returncode"], 0)
            with self.assertRaises(Submitted) as done:
                env.execute({"command": "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT; echo patch"})
            self.assertEqual(done.exception.messages[0]["content"], "patch\n")
            self.assertEqual(env.get_template_vars(task="x")["system"], "Linux")
            self.assertEqual(env.serialize()["info"]["config"]["environment"]["cwd"], "/tmp")
        finally:
            env.cleanup()


class OpenHands(WithStandins):
    def test_is_a_workspace(self) -> None:
        from forkpoint.integrations.openhands import ForkpointWorkspace

        with ForkpointWorkspace(working_dir="/root/work") as workspace:
            result = workspace.execute_command("pwd; echo bad >&2; exit 3")
            self.assertEqual(
                (result.exit_code, result.stdout, result.stderr, result.timeout_occurred),
                (3, "/root/work\n", "bad\n", False),
            )
            self.assertTrue(workspace.execute_command("sleep 60", timeout=0.5).timeout_occurred)
            (self.dir / "up").write_text("one\n")
            sent = workspace.file_upload(self.dir / "up", "a")
            self.assertEqual((sent.success, sent.file_size), (True, 4))
            workspace.execute_command(
                "git init -q . && git config user.email a@b && git config user.name n"
                " && git add a && git commit -qm first && echo two > a && echo new > b && mkdir c && touch c/d"
            )
            changes = {str(each.path): each.status.value for each in workspace.git_changes(".")}
            self.assertEqual(changes, {"a": "UPDATED", "b": "ADDED", "c/d": "ADDED"})
            diff = workspace.git_diff("a")
            self.assertEqual((diff.original, diff.modified), ("one\n", "two\n"))
            self.assertIsNone(workspace.git_diff("b").original)
            with self.assertRaises(RuntimeError):
                workspace.git_changes("/tmp")
            self.assertTrue(workspace.file_download("a", self.dir / "down").success)
            self.assertEqual((self.dir / "down").read_text(), "two\n")
            self.assertIn("none", workspace.file_download("none", self.dir / "x").error or "")
            workspace.pause()
            workspace.resume()


if __name__ == "__main__":
    unittest.main()
