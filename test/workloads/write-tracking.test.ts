import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Forkpoint, Snapshot } from '../../src/index.ts'
import { nativeProgram } from '../../src/linux/native-program.ts'
import { TestHome } from '../support/test-home.ts'
import { ask, startProgram } from '../support/workloads/checksum-program.ts'
import { run } from '../support/workloads/run.ts'

let home: TestHome
let fp: Forkpoint

beforeAll(async () => {
  home = new TestHome('tracking')
  fp = await home.open()
})

afterAll(() => home[Symbol.asyncDispose](), 120_000)

function trackingOf(snapshot: Snapshot) {
  return snapshot.lastInfo.memory?.tracking
}

/** The holder of this home's only life that has one. */
function holders(): number[] {
  const cell = nativeProgram('cell')
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        if (readlinkSync(`/proc/${pid}/exe`) !== cell) return false
        const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
        return words[1] === 'hold' && (words[2] ?? '').startsWith(home.path)
      } catch {
        // It has ended, or is none of ours.
        return false
      }
    })
    .map(Number)
}

test('the next snapshot writes what changed, and says so', { timeout: 120_000 }, async () => {
  const env = await fp.create()
  await startProgram(env, 200)
  const first = await env.snapshot({ live: false })
  expect(trackingOf(first)).toEqual({ mode: 'full', why: expect.any(String) })
  const said = await ask(env, 'change')
  const second = await env.snapshot()
  expect(trackingOf(second)?.mode).toBe('written')
  const [before, after] = [first, second].map(({ lastInfo }) => lastInfo.sizes.imagesBytes)
  expect(before).toBeGreaterThan(200e6)
  expect(after).toBeLessThan(8e6)
  const [fork] = await second.fork(1)
  expect(fork && (await ask(fork, 'look'))).toBe(said)
  expect(await ask(env, 'look')).toBe(said)
  await env.remove()
  await fork?.remove()
})

test('what a process once wrote to a private mapping of a file is not written again', {
  timeout: 120_000,
}, async () => {
  const env = await fp.create()
  await startProgram(env, 20)
  const first = await env.snapshot({ live: false })
  const said = await ask(env, 'look')
  const second = await env.snapshot()
  // Python writes to a megabyte of its own program when it starts.
  expect(second.lastInfo.sizes.imagesBytes).toBeLessThan(1.2e6)
  const [copied, again] = [first, second].map(({ lastInfo }) => lastInfo.memory?.copiedBytes ?? 0)
  expect(again).toBeLessThan((copied ?? 0) + 400e3)
  const [fork] = await second.fork(1)
  expect(fork && (await ask(fork, 'look'))).toBe(said)
  await env.remove()
  await fork?.remove()
})

test('without its holder a life is dumped in full, and then tracked again', {
  timeout: 120_000,
}, async () => {
  const env = await fp.create()
  await startProgram(env, 20)
  await env.snapshot()
  await ask(env, 'change')
  const [holder, ...others] = holders()
  expect(others).toEqual([])
  process.kill(holder ?? 0, 'SIGKILL')
  await expect.poll(holders).toEqual([])
  const full = await env.snapshot()
  expect(trackingOf(full)?.mode).toBe('full')
  const said = await ask(env, 'change')
  const written = await env.snapshot()
  expect(trackingOf(written)?.mode).toBe('written')
  const [fork] = await written.fork(1)
  expect(fork && (await ask(fork, 'look'))).toBe(said)
  await env.remove()
  await fork?.remove()
  await expect.poll(holders, { timeout: 60_000 }).toEqual([])
})

test('a snapshot of another line is no baseline', { timeout: 120_000 }, async () => {
  const env = await fp.create()
  await startProgram(env, 20)
  const first = await env.snapshot()
  const before = await ask(env, 'look')
  await ask(env, 'change')
  await env.snapshot()
  await env.restore(first)
  expect(await ask(env, 'look')).toBe(before)
  const said = await ask(env, 'change')
  const next = await env.snapshot()
  expect(trackingOf(next)?.mode).toBe('full')
  const [fork] = await next.fork(1)
  expect(fork && (await ask(fork, 'look'))).toBe(said)
  await env.remove()
  await fork?.remove()
})

test('stopped, limited and replaced programs are right, too', { timeout: 120_000 }, async () => {
  const env = await fp.create()
  await startProgram(env, 20)
  const sleeper = (prefix: string) => `(${prefix} exec python3 -c '
import time
held = b"x" * (8 << 20)
time.sleep(1000)') > /dev/null 2>&1 &`
  await run(env, sleeper('ulimit -n 3;'))
  await run(env, `${sleeper('')} echo $! > /root/stopped`)
  await sleep(500)
  await run(env, 'kill -STOP $(cat /root/stopped)')
  await env.snapshot()
  // A program that becomes another one keeps its pid.
  await run(env, `(read line < /root/asked2; exec sleep 1000) & echo $! > /root/replaced`)
  const second = await env.snapshot()
  expect(trackingOf(second)?.mode).toBe('written')
  const said = await ask(env, 'change')
  const third = await env.snapshot()
  const [fork] = await third.fork(1)
  for (const one of [env, fork].flatMap((it) => it ?? [])) {
    expect(await ask(one, 'look')).toBe(said)
    expect(await run(one, 'grep State /proc/$(cat /root/stopped)/status')).toMatch(/stopped/)
    expect(await run(one, 'ls /proc/$(cat /root/pid)/fd | sort -n | tail -1')).toMatch(/^[0-9]$/)
  }
  await env.remove()
  await fork?.remove()
})
