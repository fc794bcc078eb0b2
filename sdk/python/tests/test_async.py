"""The asynchronous client: what differs from the synchronous one is below these calls."""

from __future__ import annotations

import asyncio
import os
import unittest

import forkpoint
from forkpoint import AsyncForkpoint

from .daemon import over_socket, over_tls


class Async(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        self.fp: AsyncForkpoint = over_socket(AsyncForkpoint)
        self.env = await self.fp.create(labels={"made": "async"})

    async def asyncTearDown(self) -> None:
        await self.env.remove(force=True)
        await self.fp.close()

    async def test_branches_at_the_same_time(self) -> None:
        await self.env.exec("cd /root; export MODE=debug")
        ready = await self.env.snapshot()
        forks = await ready.fork(3)
        results = await asyncio.gather(
            *(fork.exec(f"echo $MODE {number}") for number, fork in enumerate(forks))
        )
        self.assertEqual([each.stdout for each in results], [f"debug {number}\n" for number in range(3)])
        await self.env.promote(forks[0])
        await asyncio.gather(*(fork.remove(force=True) for fork in forks))

    async def test_commands_files_terminals_and_ports(self) -> None:
        env = self.env
        raw = os.urandom(1_500_000)
        self.assertEqual((await env.exec("cat", stdin=raw[:100_000])).raw.stdout, raw[:100_000])
        await env.files.write("/tmp/f", raw)
        self.assertEqual(await env.files.read("/tmp/f"), raw)
        command = await env.spawn("echo a; sleep 0.1; echo b >&2")
        seen = {(part.stream, part.data) async for part in command.output()}
        self.assertEqual(seen, {("stdout", b"a\n"), ("stderr", b"b\n")})
        self.assertEqual((await command.wait()).exit_code, 0)
        async with await env.terminal("t").attach() as viewer:
            await viewer.write("echo $((40 + 2))\n")
            async for piece in viewer:
                if b"42" in piece:
                    break
        async with await env.files.watch("/tmp") as watch:
            await env.files.write("/tmp/seen", b"")
            async for change in watch:
                if change.path == "seen":
                    break
        async for event in self.fp.events(after=0):
            self.assertEqual(event.type, "operation")
            break

    async def test_cancelling_ends_a_command(self) -> None:
        task = asyncio.create_task(self.env.exec(["sleep", "1000"], mode="process"))
        for _ in range(100):
            if any(each.running for each in await self.env.commands()):
                break
            await asyncio.sleep(0.05)
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task
        for _ in range(100):
            running = [each for each in await self.env.commands() if each.running]
            if not running:
                break
            await asyncio.sleep(0.05)
        self.assertEqual(running, [])

    async def test_over_tls(self) -> None:
        async with over_tls(AsyncForkpoint) as far:
            self.assertEqual((await far.get(self.env.id)).id, self.env.id)
            with self.assertRaises(forkpoint.NotFoundError):
                await far.get("nobody")


if __name__ == "__main__":
    unittest.main()
