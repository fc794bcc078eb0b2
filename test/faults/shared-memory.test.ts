// Memory that snapshots and environments share, when things go wrong: a kill at each step,
// a full disk, damage, and the removal of what others still use.
import { readdirSync, rmSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { placesOf } from '../../src/backends/native/places.ts'
import type { Environment, Snapshot } from '../../src/index.ts'
import { ResourceError } from '../../src/index.ts'
import { failureOf } from '../support/failure-of.ts'
import { fillVolume } from '../support/fill-volume.ts'
import { killWalks } from '../support/kill-walks.ts'
import { runProgram } from '../support/run-program.ts'
import { TestHome } from '../support/test-home.ts'
import { expectTidy } from '../support/tidiness.ts'
import { dialogue } from '../support/workloads/dialogue.ts'
import { bring } from '../support/workloads/run.ts'

const home = new TestHome('shared-memory')
afterAll(() => home[Symbol.asyncDispose]())
afterEach(() => home.removeAll())

const mib = 2 ** 20
const program = dialogue('holder', 'python3 /root/memory-holder.py 40', (mark) => `say ${mark}`)

async function start(env: Environment): Promise<void> {
  await bring(env, 'memory-holder.py')
  await program.start(env)
  expect(await program.ask(env, 'say ready')).toBe('ready')
}

const digest = (env: Environment) => program.ask(env, 'digest')

/** Those that it had when it was taken. */
function pagesOf({ id }: Snapshot): string[] {
  const dir = placesOf(home.path).pages(id)
  return readdirSync(dir).map((name) => join(dir, name))
}

describe('a snapshot that is killed', () => {
  const unneeded = ['snapshot:begun', 'snapshot:named', 'snapshot:committed']
  test.each(
    killWalks.snapshot.filter(
      (point) => point.startsWith('snapshot:') && !unneeded.includes(point),
    ),
  )('at %s leaves memory and its pages as they were', async (point) => {
    await using fp = await home.open({ 'spares.count': 0 })
    const env = await fp.create({ name: 'victim' })
    await start(env)
    // The first time it has memory of its own, the second time mapped pages.
    for (const round of ['own', 'mapped']) {
      const before = await digest(env)
      const ended = await runProgram(home, ['snapshot', 'victim'], { FORKPOINT_KILL_AT: point })
      expect(ended, `${point} was never reached: ${ended.stderr}`).toMatchObject({
        signal: 'SIGKILL',
      })
      await using again = await home.open({ 'spares.count': 0 })
      await expectTidy(home, again)
      expect(await digest(await again.get('victim')), round).toBe(before)
      const victim = await again.get('victim')
      await victim.restore(await victim.snapshot())
      expect(await digest(env), round).toBe(before)
      await program.ask(env, 'change 2')
    }
  })
})

test('at whatever step of sharing the disk is full, the environment continues', async () => {
  await using small = new TestHome('full-pages')
  await using fp = await small.open({ 'volume.size': '400m', 'spares.count': 0 })
  const { data } = placesOf(small.path)
  const env = await fp.create()
  await start(env)
  const before = await digest(env)
  const needed = 43 * mib
  let [failed, succeeded] = [0, 0]
  for (let left = needed - mib; succeeded < 1; left += mib / 4) {
    const filling = fillVolume(data, left)
    const failure = await failureOf(env.snapshot())
    filling[Symbol.dispose]()
    if (failure === null) succeeded += 1
    else {
      failed += 1
      expect(failure).toBeInstanceOf(ResourceError)
    }
    expect(await digest(env)).toBe(before)
  }
  expect(failed).toBeGreaterThan(0)
})

describe('pages that are damaged', () => {
  const damages: [string, (path: string) => void][] = [
    ['are missing', (path) => rmSync(path)],
    ['end early', (path) => truncateSync(path, 4096)],
    [
      'have lost their content',
      (path) => {
        const { size } = statSync(path)
        truncateSync(path, 0)
        truncateSync(path, size)
      },
    ],
  ]
  test.each(damages)(
    'when they %s, the snapshot is refused with a clear error',
    async (_what, damage) => {
      await using fp = await home.open({ 'spares.count': 0 })
      const env = await fp.create({ memory: 'auto' })
      await start(env)
      const snapshot = await env.snapshot({ durable: true })
      const kept = await fp.create()
      await env.remove()
      const [path = ''] = pagesOf(snapshot)
      damage(path)
      await expect(snapshot.fork(1)).rejects.toThrow(/the snapshot is damaged: pages\//)
      await expectTidy(home, fp)
      await kept.remove()
    },
  )
})

test('memory stays as long as one snapshot uses it, and is removed with the last', async () => {
  await using fp = await home.open({ 'spares.count': 0 })
  const env = await fp.create()
  await start(env)
  const base = await env.snapshot({ durable: true })
  const [left, right] = await base.fork(2)
  if (!left || !right) throw new Error('fewer than two forks')
  await program.ask(left, 'change 1')
  const changed = await digest(left)
  const ofLeft = await left.snapshot({ durable: true })
  const ofRight = await right.snapshot({ durable: true })
  const usage = async (snapshot: Snapshot) => {
    const { snapshots, totals } = await fp.usage()
    const found = snapshots.find(({ id }) => id === snapshot.id)
    if (!found) throw new Error('no such snapshot')
    return { ...found, total: totals.snapshotBytes }
  }
  // The memory of the first is not unique while the others map it.
  const before = await usage(base)
  expect(before.ownBytes).toBeGreaterThan(40 * mib)
  expect(before.uniqueBytes).toBeLessThan(5 * mib)
  expect((await usage(ofLeft)).sharedBytes).toBeGreaterThan(40 * mib)
  expect((await usage(ofLeft)).ownBytes).toBeLessThan(10 * mib)
  expect(before.total).toBeLessThan(60 * mib)
  await expect(base.remove()).rejects.toThrow('still needed')

  await right.remove()
  await ofRight.remove()
  await left.remove()
  await env.restore(ofLeft)
  expect(await digest(env)).toBe(changed)
  expect((await usage(base)).uniqueBytes).toBeLessThan(5 * mib)
  await env.restore(base)
  await ofLeft.remove()
  expect(await digest(env)).not.toBe(changed)
  await env.remove()
  expect((await usage(base)).uniqueBytes).toBeGreaterThan(40 * mib)
})

describe('memory that is made its own', () => {
  /** An environment whose memory is in files of three snapshots, which are returned. */
  async function scatter(env: Environment): Promise<{ snapshot: Snapshot; digest: string }[]> {
    await start(env)
    const taken: { snapshot: Snapshot; digest: string }[] = []
    for (const seed of [0, 1, 2, 3]) {
      // Enough to be worth a file.
      if (seed > 0) await program.ask(env, `shift ${seed}`)
      const now = await digest(env)
      const snapshot = await env.snapshot({ durable: true })
      taken.push({ snapshot, digest: now })
      // From here on, its memory is that of the snapshot.
      await env.restore(snapshot)
    }
    return taken
  }

  test('is the same, and no longer needs the pages of other snapshots', async () => {
    await using fp = await home.open({ 'spares.count': 0 })
    const env = await fp.create({ name: 'scattered' })
    const taken = await scatter(env)
    const last = taken.at(-1)
    if (!last) throw new Error('no snapshot')
    expect(pagesOf(last.snapshot).length).toBeGreaterThan(2)
    const [fork] = await last.snapshot.fork(1)
    const { memoryBytes } = await last.snapshot.compact()
    expect(memoryBytes).toBeGreaterThan(40 * mib)
    const { snapshots } = await fp.usage()
    const used = snapshots.find(({ id }) => id === last.snapshot.id)
    expect(used?.uniqueBytes).toBeGreaterThan(40 * mib)
    expect(used?.imagesBytes).toBe(memoryBytes)
    // Running processes keep what they have mapped, also in the next snapshot.
    for (const branch of [env, fork]) {
      if (!branch) throw new Error('no fork')
      expect(await digest(branch)).toBe(last.digest)
      await program.ask(branch, 'change 4')
      const changed = await digest(branch)
      const next = await branch.snapshot()
      await branch.restore(last.snapshot)
      expect(await digest(branch)).toBe(last.digest)
      await branch.restore(next)
      expect(await digest(branch)).toBe(changed)
    }
    for (const { snapshot, digest: expected } of taken) {
      await env.restore(snapshot)
      expect(await digest(env)).toBe(expected)
    }
    // Doing it again does nothing, and forks share the memory.
    expect((await last.snapshot.compact()).memoryBytes).toBe(0)
    const [again] = await last.snapshot.fork(1)
    if (!again) throw new Error('no fork')
    const { memory } = await again.stats()
    expect(memory.privateBytes).toBeLessThan(10 * mib)
  })

  test('frees what it has taken if the disk is full', async () => {
    await using small = new TestHome('full-owning')
    await using fp = await small.open({ 'volume.size': '400m', 'spares.count': 0 })
    const last = (await scatter(await fp.create())).at(-1)
    if (!last) throw new Error('no snapshot')
    const { data, snapshot } = placesOf(small.path)
    using _filling = fillVolume(data, 8 * mib)
    const before = readdirSync(snapshot(last.snapshot.id))
    await expect(last.snapshot.compact()).rejects.toBeInstanceOf(ResourceError)
    expect(readdirSync(snapshot(last.snapshot.id))).toEqual(before)
    const [fork] = await last.snapshot.fork()
    expect(fork && (await digest(fork))).toBe(last.digest)
  })

  test('is complete after a kill at the moment of the switch', async () => {
    await using fp = await home.open({ 'spares.count': 0 })
    const env = await fp.create({ name: 'scattered' })
    const last = (await scatter(env)).at(-1)
    if (!last) throw new Error('no snapshot')
    const dir = placesOf(home.path).snapshot(last.snapshot.id)
    const ended = await runProgram(home, ['compact', last.snapshot.id], {
      FORKPOINT_KILL_AT: 'squash:owned',
    })
    expect(ended.signal, ended.stderr).toBe('SIGKILL')
    expect(readdirSync(dir)).toContain('images')
    await using again = await home.open({ 'spares.count': 0 })
    // The old ones are gone.
    expect(readdirSync(dir).toSorted()).toEqual(['2', 'current'])
    await (await again.get('scattered')).restore(last.snapshot.id)
    expect(await digest(env)).toBe(last.digest)
  })
})
