// What goes wrong on the way to a snapshot, a restore or a fork: the environment goes on, the error
// says what happened, and nothing is left over.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { placesOf } from '../../src/backends/native/places.ts'
import { BackendError, type Environment, ForkpointError, type Snapshot } from '../../src/index.ts'
import { agentPid } from '../support/cell-processes.ts'
import { hasWritten, killCriu, killTraced, whenPassed } from '../support/criu-process.ts'
import { failureOf } from '../support/failure-of.ts'
import { patiently } from '../support/patiently.ts'
import { expectNothing } from '../support/remains.ts'
import { TestHome } from '../support/test-home.ts'
import { expectTidy } from '../support/tidiness.ts'

// What fails here is the making of a branch, so none is made ahead.
const home = new TestHome('branching', { 'spares.count': 0 })
afterAll(() => home[Symbol.asyncDispose]())
afterEach(async () => {
  await home.removeAll()
  await expectNothing(home)
})

const megabytesHeld = 150

/** Holds memory that takes CRIU a while, and counts; a second thread waits all the time. */
const counting = `
import os, threading, time
memory = bytearray(os.urandom(1024 * 1024)) * ${megabytesHeld}
threading.Thread(target=threading.Event().wait, daemon=True).start()
count = 0
while True:
    count += 1
    open('/root/count', 'w').write(str(count))
    time.sleep(0.01)
`

async function startCounting(env: Environment): Promise<void> {
  await env.files.write('/root/counting.py', counting)
  await env.exec('python3 /root/counting.py & job=$!; X=kept; trap "echo trapped" USR1')
  await expectCounting(env)
}

async function expectCounting(env: Environment): Promise<void> {
  const count = async () => Number((await env.exec('cat /root/count')).stdout)
  await expect.poll(count, { timeout: 20_000 }).toBeGreaterThan(0)
  const before = await count()
  await expect.poll(count, { timeout: 20_000 }).toBeGreaterThan(before)
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
      expect(await failureOf(env.snapshot())).toBeInstanceOf(BackendError)
      await kill
      await expectCounting(env)
      await expectTidy(home, fp)
      const taken = await env.snapshot()
      await env.restore(taken)
      await expectCounting(env)
    },
  )

  // A process that has just then CRIU's code in it ends with CRIU; it may be the agent.
  test.each([5, 15, 45, 60])('%i ms into a dump leaves an environment that works', async (ms) => {
    await using fp = await home.open()
    const env = await fp.create()
    const base = await env.snapshot()
    await startCounting(env)
    const kill = killCriu('dump', whenPassed(ms))
    expect(await failureOf(env.snapshot())).toBeInstanceOf(ForkpointError)
    await kill
    // Whether CRIU had the agent in its hands shows when the agent runs again, not before.
    const works = async () => {
      if (env.refresh().status === 'dead') await env.resume()
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

  // CRIU would wait for the first of them for ever.
  test('what it restores, while CRIU traces it, leaves the old one running', async () => {
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
    await using fp = await home.open()
    const env = await fp.create({ net: 'nat' })
    await startCounting(env)
    const kill = killCriu('restore', whenPassed(3))
    expect(await failureOf(env.snapshot())).toBeInstanceOf(BackendError)
    await kill
    expect((await env.exec('ip route show default')).stdout).toContain('eth0')
    await expectCounting(env)
    await expectTidy(home, fp)
  })

  // A restore may be over before the kill finds it.
  test('in one of several forks leaves the others', { retry: 8 }, async () => {
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
    await expect.poll(() => env.refresh().status, patiently).toBe('dead')
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
    await expect.poll(() => env.refresh().status, patiently).toBe('dead')
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
    await expect.poll(() => env.refresh().status, patiently).toBe('dead')
    await expect(env.exec('true')).rejects.toThrow('is dead')
    await env.resume()
    await expectCounting(env)
  })
})

describe('a full disk', () => {
  /** Takes all space that is left inside, but for some kilobytes. */
  async function fill(env: Environment, leaveKb: number): Promise<void> {
    // What was set aside for writes under way is free again after each pass.
    const pass = 'cat /dev/zero >> /root/filling; sync'
    await env.exec(`for pass in 1 2 3; do ${pass}; done 2> /dev/null`)
    await env.exec(`truncate -s -${leaveKb}K /root/filling; sync`)
  }

  test.each([0, 40, 100_000])(
    'with %i KB left fails a snapshot, and the environment goes on',
    async (leaveKb) => {
      await using fp = await home.open({ 'volume.size': '400m' })
      const env = await fp.create({ net: 'nat' })
      await startCounting(env)
      await fill(env, leaveKb)
      const failure = await failureOf(env.snapshot())
      expect(failure).toBeInstanceOf(ForkpointError)
      expect((failure as Error).message).toMatch(/space/)
      await env.exec('rm /root/filling')
      await expectCounting(env)
      await expectTidy(home, fp)
      await env.snapshot()
    },
  )

  test('fails a snapshot of files, and the environment goes on', async () => {
    await using fp = await home.open({ 'volume.size': '400m' })
    const env = await fp.create()
    await startCounting(env)
    await fill(env, 100)
    expect(await failureOf(env.snapshot({ mode: 'filesystem' }))).toBeInstanceOf(ForkpointError)
    await expectTidy(home, fp)
    await env.exec('rm /root/filling')
    await expectCounting(env)
  })

  test('fails forks that are to be all or none, and the environment goes on', async () => {
    await using fp = await home.open({ 'volume.size': '400m' })
    const env = await fp.create()
    await startCounting(env)
    const taken = await env.snapshot({ durable: true })
    await fill(env, 0)
    expect(await failureOf(taken.fork(8, { atomic: true }))).toBeInstanceOf(ForkpointError)
    expect(await fp.list()).toHaveLength(1)
    await env.exec('rm /root/filling')
    await expectCounting(env)
    await expectTidy(home, fp)
  })
})

describe('a damaged snapshot', () => {
  /** Turns some bits of one image, as a failing disk would. */
  function damage(snapshot: Snapshot, name: RegExp): void {
    const images = join(placesOf(home.path).snapshot(snapshot.id), 'images')
    const file = readdirSync(images).find((image) => name.test(image)) ?? ''
    const bytes = readFileSync(join(images, file))
    const middle = bytes.length >> 1
    bytes.writeUInt8(bytes.readUInt8(middle) ^ 0xff, middle)
    writeFileSync(join(images, file), bytes)
  }

  test.each([/^core-1\.img$/, /^pages-1\.img$/, /^files\.img$/, /^pstree\.img$/])(
    '(%s) is refused in words, the old one runs on and other snapshots work',
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
      expect((await fp.list()).map(({ status }) => status)).toEqual(['running'])
      expect(await fp.snapshots()).toHaveLength(2)
      await expectTidy(home, fp)
      const [copy] = await good.fork()
      expect((await copy?.exec('echo $X'))?.stdout).toBe('first\n')
      await env.restore(good)
      expect((await env.exec('echo $X')).stdout).toBe('first\n')
      await bad.remove()
    },
  )
})
