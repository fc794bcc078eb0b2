// Ready means that it restores. A snapshot that does not leaves its environment and all others as they were.
import { truncateSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  ConflictError,
  type Environment,
  type Forkpoint,
  ForkpointError,
  type Snapshot,
} from '../../src/index.ts'
import { killCriu, whenPassed } from '../support/criu-process.ts'
import { failureOf } from '../support/failure-of.ts'
import { patiently } from '../support/patiently.ts'
import { expectNothing } from '../support/remains.ts'
import { TestHome } from '../support/test-home.ts'
import { expectTidy } from '../support/tidiness.ts'
import { run, runUntilDone } from '../support/workloads/run.ts'

const home = new TestHome('proofs', { 'spares.count': 0 })
afterAll(() => home[Symbol.asyncDispose]())

let fp: Forkpoint
let env: Environment
let earlier: Snapshot

beforeEach(async () => {
  fp = await home.open()
  env = await fp.create({ name: 'sleeper' })
  await run(env, 'X=early; echo early > /root/file; sleep 1000 & job=$!')
  earlier = await (await env.snapshot()).prove()
  await run(env, 'X=late; echo late > /root/file')
})

afterEach(async () => {
  await fp.close()
  await home.removeAll()
  await expectNothing(home)
})

const look = 'echo $X $(cat /root/file) $(kill -0 $job && echo alive)'

/** A process with a socket in a directory that was moved, and is a file by now. It is dumped, and cannot be restored. */
const lost = `
import os, socket, time
os.mkdir('/root/a')
s = socket.socket(socket.AF_UNIX); s.bind('/root/a/sock'); s.listen()
os.rename('/root/a', '/root/b')
open('/root/a', 'w').close()
print('ready', flush=True); time.sleep(1000)
`

async function startLost(): Promise<void> {
  await env.files.write('/root/lost.py', lost)
  await run(env, 'python3 /root/lost.py > /root/said & lost=$!')
  await runUntilDone(env, 'grep -q ready /root/said')
}

function truncateImage({ id }: Snapshot, name: string): void {
  truncateSync(join(home.path, 'data/snapshots', id, 'images', name), 30)
}

/** How a snapshot can be one that does not restore, and what the reason says. */
const kinds: Readonly<Record<string, { take(): Promise<Snapshot>; reason: RegExp }>> = {
  'a name that leads nowhere': {
    take: async () => {
      await startLost()
      return await env.snapshot()
    },
    reason: /name \/root\/a\/sock/,
  },
  'images that CRIU cannot read': {
    take: async () => {
      const taken = await env.snapshot()
      truncateImage(taken, 'pstree.img')
      return taken
    },
    reason: /pstree|criu restore failed|damaged/,
  },
  'images that changed on the disk': {
    take: async () => {
      const taken = await (await env.snapshot()).durable()
      truncateImage(taken, 'core-1.img')
      return taken
    },
    reason: /core-1.img changed on disk/,
  },
}

async function expectAllKept(): Promise<void> {
  expect((await env.info()).status).toBe('running')
  expect(await run(env, look)).toBe('late late alive')
  const [copy] = await earlier.fork(1)
  if (!copy) throw new Error('no fork')
  expect(await run(copy, look)).toBe('early early alive')
  await copy.remove()
  await expectTidy(home, fp)
}

describe.each(Object.entries(kinds))('a snapshot with %s', (_, { take, reason }) => {
  test('is found out, and harms nothing', async () => {
    const taken = await take()
    expect(taken.lastInfo).toMatchObject({ status: 'ready', proof: 'unproven' })
    const failure = await failureOf(taken.prove())
    expect(failure).toBeInstanceOf(ConflictError)
    expect(String(failure)).toMatch(reason)
    expect(await taken.info()).toMatchObject({
      status: 'failed',
      proof: 'failed',
      failure: { message: expect.stringMatching(reason), remedy: expect.stringMatching(/./) },
    })
    for (const use of [() => taken.fork(1), () => env.restore(taken), () => env.promote(taken)]) {
      const refusal = await failureOf(use())
      expect(refusal).toBeInstanceOf(ConflictError)
      expect(String(refusal)).toMatch(reason)
    }
    await expectAllKept()
  })

  const ends: Readonly<Record<string, () => Promise<unknown>>> = {
    restore: () => env.restore(earlier),
    promote: () => env.promote(earlier),
    remove: () => env.remove(),
  }
  test.each(Object.entries(ends))('keeps %s from ending the only copy', async (__, end) => {
    await take()
    const failure = await failureOf(end())
    expect(failure).toBeInstanceOf(ConflictError)
    expect(String(failure)).toMatch(/sleeper is the only copy of its state/)
    expect(String(failure)).toMatch(reason)
    await expectAllKept()
    // Told once more, and not tried again.
    await expect(end()).rejects.toThrow(reason)
  })
})

test('what the errors advise works: another snapshot, or --force', async () => {
  await startLost()
  await env.snapshot()
  await expect(env.restore(earlier)).rejects.toThrow(/--force|only copy/)
  await run(env, 'kill $lost; wait $lost; true')
  await env.snapshot()
  await env.restore(earlier)
  expect(await run(env, look)).toBe('early early alive')
  await run(env, 'rm -rf /root/a /root/b')
  await startLost()
  await env.snapshot()
  await expect(env.remove()).rejects.toThrow('only copy')
  await env.restore(earlier, { force: true })
  expect(await run(env, look)).toBe('early early alive')
})

test.each(['running', 'paused'] as const)(
  'a release of a %s environment that would not come back is refused',
  async (status) => {
    await startLost()
    if (status === 'paused') await env.pause()
    const failure = await failureOf(env.pause({ release: true }))
    expect(failure).toBeInstanceOf(ForkpointError)
    expect(String(failure)).toContain('sleeper was not released and continues')
    expect((await env.info()).status).toBe(status)
    if (status === 'paused') await env.resume()
    await expectAllKept()
    expect(await fp.snapshots()).toHaveLength(1)
    await run(env, 'kill $lost; wait $lost; true')
    await env.pause({ release: true })
    await env.resume()
    expect(await run(env, look)).toBe('late late alive')
  },
)

test('a CRIU that is killed proves nothing, and the snapshot stays as it is', {
  retry: 5,
}, async () => {
  const taken = await env.snapshot()
  const killed = killCriu('restore', whenPassed(0))
  await expect(taken.prove()).rejects.toMatchObject({ code: 'backend_failed' })
  await killed
  expect(await taken.info()).toMatchObject({ status: 'ready', proof: 'unproven' })
  expect(await taken.prove()).toMatchObject({ lastInfo: { proof: 'proven' } })
  await expectAllKept()
})

test('whatever is made from a snapshot proves it', async () => {
  const [first, second, third] = [await env.snapshot(), await env.snapshot(), await env.snapshot()]
  const [copy] = await first.fork(1)
  await copy?.remove()
  expect((await first.info()).proof).toBe('proven')
  expect((await second.info()).proof).toBe('unproven')
  await env.restore(third)
  expect((await third.info()).proof).toBe('proven')
  await env.pause({ release: true })
  const { head } = await env.info()
  expect((await fp.snapshot(head ?? '')).lastInfo.proof).toBe('proven')
})

test('a snapshot of files, and one that replaced the original, need no proof', async () => {
  const files = await env.snapshot({ mode: 'filesystem' })
  expect(files.lastInfo.proof).toBe('proven')
  await using other = new TestHome('proofs-ext4', {
    'spares.count': 0,
    volume: 'ext4',
  })
  const on = await other.open()
  const replaced = await (await on.create()).snapshot()
  expect(replaced.lastInfo).toMatchObject({ original: 'replaced', proof: 'proven' })
})

test('a spare proves a snapshot in the background, or finds out that it does not restore', async () => {
  await using lively = await home.open({ 'spares.count': 2 })
  const same = await lively.get('sleeper')
  // None is made while memory is scarce, as on a machine that runs other tests.
  const proofOfNext = async () => {
    const taken = await same.snapshot()
    await lively.sparesReady()
    return (await taken.info()).proof
  }
  await expect.poll(proofOfNext, patiently).toBe('proven')
  await startLost()
  await expect.poll(proofOfNext, patiently).toBe('failed')
  expect((await lively.warnings()).map(String).join()).toContain('/root/a/sock')
  expect(await run(same, look)).toBe('late late alive')
})
