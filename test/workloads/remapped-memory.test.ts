import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Environment, Forkpoint, Snapshot } from '../../src/index.ts'
import { TestHome } from '../support/test-home.ts'
import { ask, startProgram } from '../support/workloads/checksum-program.ts'
import { askAreas, startAreas, type Told } from '../support/workloads/remapped-areas.ts'
import { run } from '../support/workloads/run.ts'

// After a snapshot, processes map their memory from its files, so that the next one writes only what changed.

let home: TestHome
let fp: Forkpoint

beforeAll(async () => {
  home = new TestHome('remapped', { 'memory.tracking': 'remapped' })
  fp = await home.open()
})

afterAll(() => home[Symbol.asyncDispose](), 120_000)

/** What a program could tell a replacement by. */
async function identity(env: Environment): Promise<string> {
  return await run(env, `stat -c %d /root/program.py; cut -d' ' -f22 /proc/$(cat /root/pid)/stat`)
}

function trackingOf(snapshot: Snapshot) {
  return snapshot.lastInfo.memory?.tracking
}

test('the next snapshot writes what changed, and nothing is replaced', {
  timeout: 180_000,
}, async () => {
  const env = await fp.create({ memory: 'share' })
  await startProgram(env, 300)
  const before = await identity(env)
  const first = await env.snapshot()
  expect(trackingOf(first)).toEqual({ mode: 'full', why: 'it is the first snapshot' })
  const taken: { snapshot: Snapshot; said: string }[] = []
  for (let turn = 0; turn < 4; turn += 1) {
    const said = await ask(env, 'change')
    const snapshot = await env.snapshot()
    taken.push({ snapshot, said })
    expect(trackingOf(snapshot)?.mode).toBe('remapped')
    expect(snapshot.lastInfo.sizes.imagesBytes).toBeLessThan(8e6)
    expect(await ask(env, 'look')).toBe(said)
  }
  expect(first.lastInfo.sizes.imagesBytes).toBeGreaterThan(300e6)
  expect(await identity(env)).toBe(before)
  for (const { snapshot, said } of taken) {
    const [fork] = await snapshot.fork(1)
    expect(fork && (await ask(fork, 'look'))).toBe(said)
    await fork?.remove()
  }
  const [second] = taken
  if (!second) throw new Error('no snapshot')
  await env.restore(second.snapshot)
  expect(await ask(env, 'look')).toBe(second.said)
  await env.remove()
})

/** Areas that programs may only have as memory, or that may be more than memory. */
const left = ['wiped', 'growing', 'code', 'locked']

function wrongIn({ areas }: Told): string[] {
  return Object.entries(areas).flatMap(([name, [content]]) => (content === 'right' ? [] : [name]))
}

test('a program cannot tell, whatever memory it has', { timeout: 180_000 }, async () => {
  const env = await fp.create({ memory: 'share' })
  await startAreas(env)
  const before = await askAreas(env)
  expect(Object.values(before.areas).map(([, from]) => from)).not.toContain('file')
  for (let turn = 1; turn <= 3; turn += 1) {
    await env.snapshot()
    await settled(env, before, turn)
    const { areas, numbers } = await askAreas(env)
    for (const [name, [content, from, flags]] of Object.entries(areas)) {
      expect([name, content, from]).toEqual([
        name,
        'right',
        left.includes(name) ? 'memory' : 'file',
      ])
      // The kernel promises memory for what can be written, and a file that cannot be needs none.
      const same = name === 'read-only' ? /^rd mr mw me( ac)?$/ : before.areas[name]?.[2]
      expect(flags).toMatch(same ?? '')
    }
    expect(numbers).toMatchObject({ interruptions: 0, early: 0, child: 1, heap: 1 })
    expect(numbers.descriptors).toBe(before.numbers.descriptors)
  }
  await env.remove()
})

/** Waits until what was moved aside is freed. Each question makes the heap grow by 1 MiB. */
async function settled(env: Environment, before: Told, turn: number): Promise<void> {
  let asked = 2 * (turn - 1)
  const surplus = async () => {
    asked += 1
    const { numbers } = await askAreas(env)
    return (numbers.size ?? 0) - (before.numbers.size ?? 0) - 1024 * asked
  }
  // Pieces of the heap that the C library takes meanwhile.
  await expect.poll(surplus, { timeout: 10_000 }).toBeLessThan(1024)
}

test('a program that locks all its memory is left alone, and the record says so', {
  timeout: 120_000,
}, async () => {
  const env = await fp.create({ memory: 'share' })
  await startProgram(env, 20, 'locks')
  await env.snapshot()
  const said = await ask(env, 'change')
  const second = await env.snapshot()
  expect(trackingOf(second)).toEqual({
    mode: 'full',
    why: expect.stringMatching(/^pid \d+ has the kernel lock all memory that it maps$/),
  })
  expect(await ask(env, 'look')).toBe(said)
  await env.remove()
})

test('a paused environment maps its memory, too', { timeout: 120_000 }, async () => {
  const env = await fp.create({ memory: 'share' })
  await startProgram(env, 40)
  const said = await ask(env, 'change')
  await env.pause()
  await env.snapshot()
  await env.resume()
  expect(await ask(env, 'look')).toBe(said)
  const changed = await ask(env, 'change')
  const second = await env.snapshot()
  expect(trackingOf(second)?.mode).toBe('remapped')
  expect(second.lastInfo.sizes.imagesBytes).toBeLessThan(8e6)
  const [fork] = await second.fork(1)
  expect(fork && (await ask(fork, 'look'))).toBe(changed)
  await env.remove()
  await fork?.remove()
})

const killer = fileURLToPath(new URL('../support/workloads/kill-remapping.py', import.meta.url))

/** Kills the process that maps memory, this long after it could begin. */
async function snapshotKilled(env: Environment, seconds: number): Promise<Snapshot> {
  const words = [killer, home.path, env.id, String(seconds)]
  const child = spawn('python3', words, { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  const ended = once(child, 'close')
  const snapshot = await env.snapshot()
  // If it has not found the helper by now, it never will.
  child.kill()
  await ended
  return snapshot
}

// After one such kill of about a hundred, the snapshot could not be restored (docs/limitations.md).
test('if the process that maps is killed, no page is wrong', {
  timeout: 300_000,
  retry: 2,
}, async () => {
  const env = await fp.create({ memory: 'share' })
  await startAreas(env)
  await askAreas(env)
  for (let turn = 0; turn < 8; turn += 1) {
    const snapshot = await snapshotKilled(env, turn * 0.0005)
    const isAlive = await run(env, 'pgrep -x areas > /dev/null && echo yes || echo no')
    // Between moving memory aside and mapping the file, it cannot continue without us, so it ends.
    if (isAlive.trim() === 'no') await env.restore(snapshot)
    expect(wrongIn(await askAreas(env))).toEqual([])
  }
  await env.remove()
})
