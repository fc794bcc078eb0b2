import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Environment, Forkpoint, Snapshot } from '../../src/index.ts'
import { TestHome } from '../support/test-home.ts'
import { run } from '../support/workloads/run.ts'

// Memory is copied while a program writes to it. A copy of the program must have the memory of one moment.

let home: TestHome
let fp: Forkpoint

beforeAll(async () => {
  home = new TestHome('live-copy')
  fp = await home.open()
})

afterAll(() => home[Symbol.asyncDispose](), 120_000)

/**
 * Writes the number of its turn into every page, in order, over and over. At any moment, pages up to some
 * point have the number of this turn, and all others that of the turn before. `grow` adds pages.
 */
const program = `
import mmap, os, sys
page = 4096
count = int(sys.argv[1]) << 8
held = [mmap.mmap(-1, count * page, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)]
def write(turn):
    for part in held:
        for at in range(0, len(part), page): part[at:at + 4] = turn.to_bytes(4, 'little')
def look():
    numbers = [int.from_bytes(part[at:at + 4], 'little') for part in held for at in range(0, len(part), page)]
    ups = sum(1 for a, b in zip(numbers, numbers[1:]) if a != b)
    return f'{len(numbers)} pages, {ups} steps, {max(numbers) - min(numbers)} turns apart'
turn = 1
write(turn)
open('/root/ready', 'w').close()
while True:
    turn += 1
    for part in held:
        for at in range(0, len(part), page):
            part[at:at + 4] = turn.to_bytes(4, 'little')
            if not at % (64 * page) and os.path.exists('/root/asked'):
                words = open('/root/asked').read().split()
                os.unlink('/root/asked')
                if words[0] == 'look':
                    open('/root/new', 'w').write(look())
                    os.rename('/root/new', '/root/answer')
                    while not os.path.exists('/root/asked'): pass
                    os.unlink('/root/asked')
    if os.path.exists('/root/grow'):
        held.append(mmap.mmap(-1, count * page, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
        os.unlink('/root/grow')
        write(turn)
        open('/root/ready', 'w').close()
`

async function start(env: Environment, megabytes: number): Promise<void> {
  await env.files.write('/root/program.py', program)
  await run(env, `setsid -f python3 /root/program.py ${megabytes} < /dev/null > /root/log 2>&1`)
  await appears(env, '/root/ready')
}

async function appears(env: Environment, path: string): Promise<string> {
  return await run(env, `until [ -e ${path} ]; do sleep 0.05; done; cat ${path}; rm ${path}`)
}

/** What the program finds in its memory. It writes nothing meanwhile. */
async function look(env: Environment): Promise<string> {
  await run(env, 'echo look > /root/word; mv /root/word /root/asked')
  const said = await appears(env, '/root/answer')
  await run(env, 'echo on > /root/word; mv /root/word /root/asked')
  return said
}

/** One step where this turn ends, or none; and no page is older than the turn before. */
const whole = /^\d+ pages, [01] steps, [01] turns apart$/

async function expectWhole(snapshot: Snapshot, pages: number): Promise<void> {
  const [fork] = await snapshot.fork(1)
  if (!fork) throw new Error('no fork')
  const said = await look(fork)
  expect(said).toMatch(whole)
  expect(said).toMatch(new RegExp(`^${pages} pages`))
  await fork.remove()
}

function trackingOf({ lastInfo }: Snapshot) {
  return lastInfo.memory?.tracking
}

describe.each(['share', 'copy'] as const)('with memory to %s', (memory) => {
  test('what is written meanwhile is in the copy, and nothing is torn', {
    timeout: 200_000,
  }, async () => {
    const env = await fp.create({ memory })
    await start(env, 60)
    const first = await env.snapshot({ live: true })
    expect(trackingOf(first)).toEqual({
      mode: 'live',
      why: expect.stringMatching(/MiB were copied/),
    })
    await expectWhole(first, 60 * 256)
    const second = await env.snapshot({ live: true })
    await expectWhole(second, 60 * 256)
    const third = await env.snapshot({ live: false })
    expect(trackingOf(third)?.mode).toBe('written')
    await expectWhole(third, 60 * 256)
    await env.restore(first)
    await expect(look(env)).resolves.toMatch(whole)
    await env.remove()
  })
})

test('much new memory is copied live by itself, and only the new', {
  timeout: 200_000,
}, async () => {
  const env = await fp.create()
  await start(env, 140)
  const first = await env.snapshot()
  expect(trackingOf(first)?.mode).toBe('live')
  await run(env, 'touch /root/grow')
  await appears(env, '/root/ready')
  const second = await env.snapshot()
  expect(trackingOf(second)?.mode).toBe('live')
  await expectWhole(second, 2 * 140 * 256)
  await env.remove()
})

test('little new memory is not', async () => {
  const env = await fp.create()
  const snapshot = await env.snapshot()
  expect(trackingOf(snapshot)?.mode).toBe('full')
  await env.remove()
})

const family = `
import os, time
held = bytearray(os.urandom(60 << 20))
for _ in range(3):
    if os.fork() == 0: break
else: open('/root/ready', 'w').close()
while True: time.sleep(1)
`

test('processes still have in common what they had before', { timeout: 100_000 }, async () => {
  const env = await fp.create()
  await env.files.write('/root/family.py', family)
  await run(env, 'setsid -f python3 /root/family.py < /dev/null > /root/log 2>&1')
  await appears(env, '/root/ready')
  const before = (await env.stats()).memory.privateBytes
  const snapshot = await env.snapshot({ live: true })
  expect(trackingOf(snapshot)?.mode).toBe('live')
  const after = (await env.stats()).memory.privateBytes
  expect(after - before).toBeLessThan(20e6)
  await env.remove()
})
