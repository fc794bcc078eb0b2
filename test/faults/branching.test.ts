// What goes wrong during a snapshot, a restore or a fork: the environment continues, the error
// says what happened, and nothing is left behind.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { placesOf } from '../../src/backends/native/places.ts'
import { BackendError, type Environment, ForkpointError, type Snapshot } from '../../src/index.ts'
import { agentPid } from '../support/cell-processes.ts'
import { hasWritten, killCriu, killTraced, stopCriu, whenPassed } from '../support/criu-process.ts'
import { failureOf } from '../support/failure-of.ts'
import { fillVolume } from '../support/fill-volume.ts'
import { patiently } from '../support/patiently.ts'
import { expectNothing } from '../support/remains.ts'
import { TestHome } from '../support/test-home.ts'
import { expectTidy } from '../support/tidiness.ts'
import { volumeKind } from '../support/volume-kind.ts'

// These tests make branching fail, so no spare may be ready.
const home = new TestHome('branching', { 'spares.count': 0 })
afterAll(() => home[Symbol.asyncDispose]())
afterEach(async () => {
  await home.removeAll()
  await expectNothing(home)
})

const megabytesHeld = 150

/** A live copy would leave little for CRIU to write. */
const inOneStop = { live: false } as const

/** Holds memory that takes CRIU a while, and counts; a second thread waits all the time. */
const counting = `
import os, threading, time
memory = bytearray(os.urandom(1024 * 1024)) * ${megabytesHeld}
threading.Thread(target=threading.Event().wait, daemon=True).start()
count = 0
while True:
    count += 1
    try: open('/root/count', 'w').write(str(count))
    except OSError: pass # the disk is full
    time.sleep(0.01)
`

async function startCounting(env: Environment): Promise<void> {
  await env.files.write('/root/counting.py', counting)
  await env.exec('python3 /root/counting.py & job=$!; X=kept; trap "echo trapped" USR1')
  await expectCounting(env)
}

async function expectCounting(env: Environment): Promise<void> {
  const count = async () => Number((await env.exec('cat /root/count')).stdout)
  await expect.poll(count, { timeout: 60_000 }).toBeGreaterThan(0)
  const before = await count()
  await expect.poll(count, { timeout: 60_000 }).toBeGreaterThan(before)
  expect((await env.exec('kill -USR1 $$; echo $X; kill -0 $job')).stdout).toBe('trapped\nkept\n')
}

/** CRIU builds mounts below such a directory, and leaves it behind if it is killed. */
const criusDirectories = (): string[] =>
  readdirSync('/tmp').filter((name) => name.startsWith('.criu'))

describe('CRIU killed half-way', () => {
  test.each([10, 20, 60])(
    'while it writes memory (%i MB) leaves the environment running',
    async (mb) => {
      await using fp = await home.open()
      const env = await fp.create()
      await startCounting(env)
      const kill = killCriu('dump', hasWritten(home, mb * 1e6))
      expect(await failureOf(env.snapshot(inOneStop))).toBeInstanceOf(BackendError)
      await kill
      await expectCounting(env)
      await expectTidy(home, fp)
      const taken = await env.snapshot()
      await env.restore(taken)
      await expectCounting(env)
    },
  )

  test('and a dump that hangs is ended, and leaves the environment running', async () => {
    await using fp = await home.open()
    const env = await fp.create()
    await startCounting(env)
    const stop = stopCriu('dump', hasWritten(home, 20e6))
    const began = performance.now()
    const failure = await failureOf(env.snapshot(inOneStop))
    await stop
    expect(failure).toBeInstanceOf(BackendError)
    expect(String(failure)).toContain('the dump did not end')
    expect(performance.now() - began).toBeLessThan(20_000)
    await expectCounting(env)
    await expectTidy(home, fp)
    const taken = await env.snapshot()
    await env.restore(taken)
    await expectCounting(env)
  })

  // A process that has CRIU's code in it at that moment ends with CRIU; it may be the agent.
  test.each([5, 15, 45, 60])('%i ms into a dump leaves an environment that works', async (ms) => {
    await using fp = await home.open()
    const env = await fp.create()
    const base = await env.snapshot()
    await startCounting(env)
    const kill = killCriu('dump', whenPassed(ms))
    expect(await failureOf(env.snapshot(inOneStop))).toBeInstanceOf(ForkpointError)
    await kill
    // Whether CRIU had the agent in its hands shows when the agent runs again, not before.
    const works = async () => {
      if ((await env.info()).status === 'dead') await env.resume()
      return (await env.exec('echo works').catch(() => ({ stdout: '' }))).stdout
    }
    await expect.poll(works, patiently).toBe('works\n')
    await expectTidy(home, fp)
    await env.restore(base)
    await env.restore(await env.snapshot())
  })

  test.each([0, 3, 8])(
    '%i ms into a restore leaves the old one running',
    { retry: 8 },
    async (ms) => {
      await using fp = await home.open()
      const env = await fp.create({ net: 'nat' })
      await startCounting(env)
      const taken = await env.snapshot()
      await env.exec('later=yes')
      const before = criusDirectories()
      const kill = killCriu('restore', whenPassed(ms))
      expect(await failureOf(env.restore(taken))).toBeInstanceOf(BackendError)
      await kill
      expect((await env.exec('echo $later')).stdout).toBe('yes\n')
      expect((await env.exec('ip route show default')).stdout).toContain('eth0')
      await expectCounting(env)
      await expectTidy(home, fp)
      expect(criusDirectories()).toEqual(before)
    },
  )

  // CRIU would wait for the first of them forever. It may be through with it before the kill.
  test('killing a restored process while CRIU traces it leaves the old one running', {
    retry: 3,
  }, async () => {
    await using fp = await home.open()
    const env = await fp.create()
    await startCounting(env)
    await env.exec('for i in $(seq 100); do sleep 1000 & done')
    const taken = await env.snapshot()
    const kill = killTraced('restore')
    expect(await failureOf(env.restore(taken))).toBeInstanceOf(BackendError)
    await kill
    await expectCounting(env)
    await expectTidy(home, fp)
  })

  test('while the environment is brought back after a dump leaves it running', {
    retry: 8,
  }, async () => {
    // Only there does a snapshot restore anything.
    await using swapping = new TestHome('brought-back', { 'spares.count': 0, volume: 'ext4' })
    await using fp = await swapping.open()
    const env = await fp.create({ net: 'nat' })
    await startCounting(env)
    const kill = killCriu('restore', whenPassed(3))
    expect(await failureOf(env.snapshot())).toBeInstanceOf(BackendError)
    await kill
    expect((await env.exec('ip route show default')).stdout).toContain('eth0')
    await expectCounting(env)
    await expectTidy(swapping, fp)
  })

  // A restore may be over before the kill finds it.
  test('in one of several forks leaves the others intact', { retry: 8 }, async () => {
    await using fp = await home.open()
    const env = await fp.create()
    await startCounting(env)
    const taken = await env.snapshot()
    const kill = killCriu('restore', whenPassed(0))
    const forks = await taken.fork(3)
    await kill
    expect(forks).toHaveLength(2)
    expect(forks.errors).toEqual([expect.any(BackendError)])
    for (const fork of forks) await expectCounting(fork)
    await expectTidy(home, fp)
  })

  test('in one of several forks that are atomic leaves none of them', { retry: 8 }, async () => {
    await using fp = await home.open()
    const env = await fp.create()
    await startCounting(env)
    const taken = await env.snapshot()
    const kill = killCriu('restore', whenPassed(0))
    expect(await failureOf(taken.fork(3, { atomic: true }))).toBeInstanceOf(BackendError)
    await kill
    expect(await fp.list()).toHaveLength(1)
    await expectTidy(home, fp)
  })
})

describe('an environment whose agent is killed', () => {
  test('during a snapshot is dead, and comes back from its head', async () => {
    await using fp = await home.open()
    const env = await fp.create({ name: 'gone', net: 'nat' })
    await startCounting(env)
    await env.snapshot()
    const agent = agentPid(home, env)
    const failed = failureOf(env.snapshot())
    process.kill(agent, 'SIGKILL')
    expect(await failed).toBeInstanceOf(ForkpointError)
    await expect.poll(async () => (await env.info()).status, patiently).toBe('dead')
    await env.resume()
    await expectCounting(env)
    expect(await fp.snapshots()).toHaveLength(1)
    await expectTidy(home, fp)
  })

  test('while CRIU dumps it is dead, and comes back from its head', async () => {
    await using fp = await home.open()
    const env = await fp.create({ name: 'gone' })
    await startCounting(env)
    await env.exec('for i in $(seq 100); do sleep 1000 & done')
    await env.snapshot()
    const kill = killTraced('dump', agentPid(home, env))
    expect(await failureOf(env.snapshot())).toBeInstanceOf(ForkpointError)
    await kill
    await expect.poll(async () => (await env.info()).status, patiently).toBe('dead')
    await env.resume()
    await expectCounting(env)
    expect(await fp.snapshots()).toHaveLength(1)
    await expectTidy(home, fp)
  })

  test('comes back from its head with what it had then', async () => {
    await using fp = await home.open()
    const env = await fp.create({ name: 'gone' })
    await startCounting(env)
    await env.snapshot()
    await env.exec('X=lost')
    process.kill(agentPid(home, env), 'SIGKILL')
    await expect.poll(async () => (await env.info()).status, patiently).toBe('dead')
    await expect(env.exec('true')).rejects.toThrow('is dead')
    await env.resume()
    await expectCounting(env)
  })
})

describe('a full disk', () => {
  /** Takes all space that is left inside, except for some kilobytes. */
  async function fill(env: Environment, leaveKb: number): Promise<void> {
    // What was reserved for writes in progress is free again after each pass.
    const pass = 'cat /dev/zero >> /root/filling; sync'
    await env.exec(`for pass in 1 2 3; do ${pass}; done 2> /dev/null`)
    await env.exec(`truncate -s -${leaveKb}K /root/filling; sync`)
  }

  /** In place, a snapshot needs hardly any space where the environment writes. */
  function expectNoSpace(failure: unknown): void {
    if (failure === null && volumeKind === 'btrfs') return
    expect(failure).toBeInstanceOf(ForkpointError)
    expect((failure as Error).message).toMatch(/space/)
  }

  test.each([0, 40, 100_000])(
    'with %i KB left where images go fails a snapshot, and the environment continues',
    async (leaveKb) => {
      await using fp = await home.open({ 'volume.size': '400m' })
      const env = await fp.create({ net: 'nat' })
      await startCounting(env)
      {
        using _filling = fillVolume(placesOf(home.path).data, leaveKb * 1024)
        const failure = await failureOf(env.snapshot())
        expect(failure).toBeInstanceOf(ForkpointError)
        expect((failure as Error).message).toMatch(/space/)
      }
      await expectCounting(env)
      await expectTidy(home, fp)
      await env.snapshot()
    },
  )

  test.each([0, 40, 100_000])(
    'with %i KB left inside gives a snapshot or an error, and the environment continues',
    async (leaveKb) => {
      await using fp = await home.open({ 'volume.size': '400m' })
      const env = await fp.create({ net: 'nat' })
      await startCounting(env)
      await fill(env, leaveKb)
      expectNoSpace(await failureOf(env.snapshot()))
      await env.exec('rm /root/filling')
      await expectCounting(env)
      await expectTidy(home, fp)
      await env.snapshot()
    },
  )

  test('gives a snapshot of files or an error, and the environment continues', async () => {
    await using fp = await home.open({ 'volume.size': '400m' })
    const env = await fp.create()
    await startCounting(env)
    await fill(env, 100)
    expectNoSpace(await failureOf(env.snapshot({ mode: 'filesystem' })))
    await expectTidy(home, fp)
    await env.exec('rm /root/filling')
    await expectCounting(env)
  })

  test('fails atomic forks, and the environment continues', async () => {
    await using fp = await home.open({ 'volume.size': '400m' })
    const env = await fp.create()
    await startCounting(env)
    const taken = await env.snapshot({ durable: true })
    {
      using _filling = fillVolume(placesOf(home.path).data, 0)
      expect(await failureOf(taken.fork(8, { atomic: true }))).toBeInstanceOf(ForkpointError)
      expect(await fp.list()).toHaveLength(1)
    }
    await expectCounting(env)
    await expectTidy(home, fp)
  })
})

describe('a damaged snapshot', () => {
  /** Flips some bits of one image, as a failing disk would. */
  function damage(snapshot: Snapshot, name: RegExp): void {
    const images = join(placesOf(home.path).snapshot(snapshot.id), 'images')
    const file = readdirSync(images).find((image) => name.test(image)) ?? ''
    const bytes = readFileSync(join(images, file))
    const middle = bytes.length >> 1
    bytes.writeUInt8(bytes.readUInt8(middle) ^ 0xff, middle)
    writeFileSync(join(images, file), bytes)
  }

  test.each([/^core-1\.img$/, /^pages-1\.img$/, /^files\.img$/, /^pstree\.img$/])(
    '(%s) is refused with a clear error, the old life keeps running and other snapshots work',
    async (image) => {
      await using fp = await home.open()
      const env = await fp.create({ name: 'web' })
      await env.exec('X=first')
      const good = await env.snapshot({ durable: true })
      const bad = await env.snapshot({ durable: true })
      await env.exec('X=later')
      damage(bad, image)
      await expect(env.restore(bad)).rejects.toThrow('the snapshot is damaged')
      await expect(bad.fork(2)).rejects.toThrow('the snapshot is damaged')
      expect((await env.exec('echo $X')).stdout).toBe('later\n')
      expect((await fp.list()).map(({ lastInfo }) => lastInfo.status)).toEqual(['running'])
      expect(await fp.snapshots()).toHaveLength(2)
      await expectTidy(home, fp)
      const [copy] = await good.fork()
      expect((await copy?.exec('echo $X'))?.stdout).toBe('first\n')
      // What runs is the only copy of what that snapshot should hold.
      await expect(env.restore(good)).rejects.toThrow('web is the only copy of its state')
      await env.restore(good, { force: true })
      expect((await env.exec('echo $X')).stdout).toBe('first\n')
      await bad.remove()
    },
  )
})
