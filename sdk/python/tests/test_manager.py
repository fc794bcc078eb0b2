"""Managers, as programs written for StateFork use them."""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
import unittest
from pathlib import Path

import forkpoint
from forkpoint import create_env_manager
from forkpoint.manager.methods import target_of

from .daemon import over_socket


class Methods(unittest.TestCase):
    def test_have_statefork_s_arguments(self) -> None:
        for method, arguments, kind, options in (
            ("docker_build", {"base_image": "debian:12"}, "create", {"backend": "docker", "from_": "image:debian:12"}),
            ("podman_build", {"dockerfile_dir": "./x"}, "create", {"backend": "podman", "from_": "dockerfile:./x"}),
            ("docker_attach", {"container_name": "c", "base_image": "b"}, "attach", {"backend": "docker", "target": "c"}),
            ("criu_attach", {"target_pid": 7}, "attach", {"backend": "criu", "target": 7}),
            (
                "hybrid_build",
                {"container_name": "c", "dockerfile_dir": "d", "export_dir": "/e", "extra_args": ["-v"]},
                "create",
                {
                    "backend": "podman-criu",
                    "from_": "dockerfile:d",
                    "name": "c",
                    "export_dir": "/e",
                    "extra_args": ["-v"],
                },
            ),
            ("ckpt_build", {}, "create", {"backend": "native", "from_": "host"}),
            ("ckpt_build", {"dockerfile_dir": "d", "build": False}, "create", {"backend": "native", "from_": "dir:d"}),
            ("ckpt_attach", {"session_id": "e1", "target_pid": 3}, "find", {"reference": "e1"}),
        ):
            target = target_of(method, dict(arguments))
            self.assertEqual((target.kind, target.options), (kind, options), method)

    def test_are_refused_before_anything_is_made(self) -> None:
        for method, arguments in (
            ("docker_bild", {}),
            ("docker_build", {}),
            ("docker_attach", {}),
            ("ckpt_attach", {}),
            ("ckpt_build", {"dockerfileDir": "x"}),
        ):
            with self.assertRaises(forkpoint.InvalidInputError):
                create_env_manager(method, **arguments)


class Sessions(unittest.TestCase):
    def test_snapshot_restore_fork_park_discard_and_continue(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            log = Path(directory) / "log"
            env = create_env_manager("waypoint_build", benchmark_log=str(log), create={"labels": {"a": "b"}})
            try:
                env.exec_command("cd /root && echo prepared > data; export MODE=debug")
                first = env.snapshot(name="first")
                self.assertEqual(env.exec_command("echo A >> data; cat data").stdout, "prepared\nA\n")
                second = env.snapshot()
                env.restore("first")
                result = env.exec_command("cat data; echo $MODE")
                self.assertEqual((result.stdout, env.current_snapshot), ("prepared\ndebug\n", first))
                branches = env.fork(second, 2, ["left", "right"])
                self.assertEqual([(each["id"], each["base"]) for each in branches], [("left", second), ("right", second)])
                env.checkout("left")
                self.assertEqual(env.exec_command("cat data").stdout, "prepared\nA\n")
                with self.assertRaises(forkpoint.ConflictError):
                    env.discard_branch("left")
                parked = env.park_branch("left")
                self.assertEqual(env.current_branch, "main")
                env.discard_branch("right")
                self.assertEqual([node.parent for node in env.list_snapshots()], [None, first, second])
                with contextlib.redirect_stdout(io.StringIO()) as shown:
                    env.print_snapshot_tree()
                self.assertIn("▸ main *", shown.getvalue())
                self.assertEqual(env.stats()["snapshot"]["count"], 2)
                lines = [json.loads(line)["operation"] for line in log.read_text().splitlines()]
                self.assertEqual(lines, [entry.operation for entry in env.history])
                with self.assertRaises(forkpoint.NotFoundError):
                    env.restore("nobody")
                with create_env_manager("ckpt_attach", session_id=env.session_id) as again:
                    self.assertIn(parked, [node.id for node in again.list_snapshots()])
                    self.assertEqual(again.exec_command("echo $MODE").stdout, "debug\n")
            finally:
                done = env.cleanup()
        self.assertEqual((len(done["environments"]), done["kept"]), (1, []))
        with over_socket() as fp:
            self.assertEqual(fp.snapshots(labels={"forkpoint.session": env.session_id}), [])


if __name__ == "__main__":
    unittest.main()
