// Memory that is copied must fit: into the machine, into the limit of the copy, into what spares may take.
// What does not fit is refused before anything is made, or waits.
import { totalmem } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { openEngine } from '../../../src/engine/engine.ts'
import { reserveCopies } from '../../../src/engine/memory/copy-memory.ts'
import { freeBytes } from '../../../src/engine/memory/fitting.ts'
import { create } from '../../../src/engine/operations/create/create.ts'
import { snapshot as takeSnapshot } from '../../../src/engine/operations/snapshot/snapshot.ts'
import { giveUpSpares } from '../../../src/engine/spares/discard.ts'
import { type Environment, Forkpoint, ResourceError, type Snapshot } from '../../../src/index.ts'
import { readMemory } from '../../../src/linux/memory-pressure.ts'
import { newSnapshotId } from '../../../src/model/ids.ts'
import { openStore, type Store } from '../../../src/store/open-store.ts'
import { failureOf } from '../../support/failure-of.ts'
import { patiently } from '../../support/patiently.ts'
import { expectNothing } from '../../support/remains.ts'
import { TestHome } from '../../support/test-home.ts'
import { expectTidy } from '../../support/tidiness.ts'

const home = new TestHome('copied')
afterAll(() => home[Symbol.asyncDispose]())
afterEach(async () => {
  await home.removeAll()
  await expectNothing(home)
})

const mib = 2 ** 20
const withoutSpares = { spares: 0 }

/** Fills memory. Its children have it in common with each other, and their parent ends. */
const hold = (megabytes: number, children: number) => `
import os, time
memory = os.urandom(${mib}) * ${megabytes}
is_child = any(os.fork() == 0 for _ in range(${children}))
if is_child or ${children} == 0:
    open(f'/root/holds-{os.getpid()}', 'w').close()
    time.sleep(1000)
`

interface Held {
  readonly megabytes: number
  readonly limit: number
  readonly children?: number
}

/** An environment whose processes have memory that is copied for everything made from it. */
async function holding(
  fp: Forkpoint,
  { megabytes, limit, children = 0 }: Held,
): Promise<Environment> {
  const env = await fp.create({ memory: 'copy', limits: { memoryBytes: limit * mib } })
  await env.files.write('/root/hold.py', hold(megabytes, children))
  const wait = `while [ $(ls /root | grep -c holds) -lt ${Math.max(1, children)} ]; do sleep 0.05; done`
  await env.exec(`(python3 /root/hold.py < /dev/null > /dev/null 2>&1 &); ${wait}`)
  return env
}

const neededBy = (snapshot: Snapshot) => snapshot.lastInfo.memory?.neededBytes ?? 0

interface Others extends Disposable {
  readonly store: Store
  giveUp(): void
}

/** Others are making copies, and have reserved all memory for them. */
function reservedByOthers({ path }: TestHome): Others {
  const store = openStore(path)
  const giveUp = () => store.reservations.set('others', 0)
  store.reservations.set('others', totalmem())
  const dispose = () => {
    giveUp()
    store.close()
  }
  return { store, giveUp, [Symbol.dispose]: dispose }
}

/** How many operations were ever begun. */
function begun(): unknown {
  using db = new DatabaseSync(join(home.path, 'db.sqlite'), { readOnly: true })
  return db.prepare('SELECT count(*) AS rows FROM journal').get()?.rows
}

/** What `work` is refused with before it begins. Everything is as before. */
async function refusalOf(fp: Forkpoint, work: () => Promise<unknown>): Promise<ResourceError> {
  const existing = async () => (await fp.list()).map(({ id }) => id)
  const before = [await existing(), begun()]
  const error = await failureOf(work())
  expect(error).toBeInstanceOf(ResourceError)
  expect([await existing(), begun()]).toEqual(before)
  await expectTidy(home, fp)
  return error as ResourceError
}

describe('the limit of the copy', () => {
  test('a restore or promotion into a smaller environment is refused, and it continues', async () => {
    await using fp = await home.open(withoutSpares)
    const env = await holding(fp, { megabytes: 120, limit: 512 })
    const taken = await env.snapshot()
    expect(neededBy(taken) / mib).toBeGreaterThan(90)
    expect(neededBy(taken) / mib).toBeLessThan(130)
    const small = await fp.create({ limits: { memoryBytes: 64 * mib } })
    await small.exec('X=kept')
    const figures = /takes 12\d(\.\d)? MiB of memory, and its limit would be 64 MiB/
    const restored = await refusalOf(fp, () => small.restore(taken))
    expect(restored.message).toMatch(figures)
    expect(restored.remedy).toContain('its forks have a limit of 512 MiB')
    expect((await refusalOf(fp, () => small.promote(taken))).message).toMatch(figures)
    expect((await small.exec('echo $X')).stdout).toBe('kept\n')
    const [fork] = await taken.fork(1)
    expect((await fork?.exec('echo here'))?.stdout).toBe('here\n')
  })

  test('memory that processes have in common only in the original counts for each', async () => {
    await using fp = await home.open()
    const env = await holding(fp, { megabytes: 30, limit: 84, children: 3 })
    expect((await env.stats()).memory.privateBytes / mib).toBeLessThan(60)
    const taken = await env.snapshot()
    await fp.sparesReady()
    expect(neededBy(taken) / mib).toBeGreaterThan(90)
    expect(await fp.spares()).toEqual([])
    expect((await fp.snapshot(taken.id)).lastInfo.proof).toBe('unproven')
    // Three times 30, and what Python itself needs.
    const figures = /takes (9|10)\d(\.\d)? MiB of memory, and its limit would be 84 MiB/
    const refused = await refusalOf(fp, () => taken.fork(1))
    expect(refused.message).toMatch(figures)
    expect(refused.remedy).toContain('end processes')
    expect((await failureOf(env.pause({ release: true })))?.toString()).toMatch(figures)
    expect((await env.exec('echo here')).stdout).toBe('here\n')
    await env.exec('kill $(pgrep -f hold.py | tail -n +2)')
    const next = await env.snapshot()
    expect(await next.fork(1)).toHaveLength(1)
  })

  test('memory that a process and its child have in common counts once for the limit', async () => {
    await using fp = await home.open(withoutSpares)
    const env = await fp.create({ memory: 'copy', limits: { memoryBytes: 84 * mib } })
    const family = hold(30, 2).replace('if is_child or 2 == 0', 'if True')
    await env.files.write('/root/hold.py', family)
    const wait = 'while [ $(ls /root | grep -c holds) -lt 3 ]; do sleep 0.05; done'
    await env.exec(`(python3 /root/hold.py < /dev/null > /dev/null 2>&1 &); ${wait}`)
    const taken = await env.snapshot()
    const { commonBytes = 0 } = taken.lastInfo.memory ?? {}
    expect(neededBy(taken) / mib).toBeGreaterThan(90)
    expect((neededBy(taken) - commonBytes) / mib).toBeLessThan(60)
    const [fork] = await taken.fork(1)
    expect((await fork?.stats())?.memory.privateBytes).toBeLessThan(neededBy(taken) - commonBytes)
  })

  test('a copy that is over its limit by a hair fails for lack of memory, not for another reason', async () => {
    await using fp = await home.open(withoutSpares)
    const env = await holding(fp, { megabytes: 120, limit: 512 })
    const taken = await env.snapshot()
    const limit = Math.ceil(neededBy(taken) / 4096) * 4096
    const small = await fp.create({ limits: { memoryBytes: limit } })
    await small.exec('X=kept')
    const error = await failureOf(small.restore(taken))
    expect(error).toBeInstanceOf(ResourceError)
    expect((error as ResourceError).message).toMatch(/for lack of memory; its limit is 12\d/)
    expect((await fp.snapshot(taken.id)).lastInfo.proof).toBe('unproven')
    expect((await small.exec('echo $X')).stdout).toBe('kept\n')
    await expectTidy(home, fp)
  })
})

describe('the memory of the machine', () => {
  test('more forks than fit are refused before the first is made', async () => {
    await using fp = await home.open(withoutSpares)
    const taken = await (await holding(fp, { megabytes: 240, limit: 512 })).snapshot()
    const count = Math.ceil(totalmem() / neededBy(taken))
    const refused = await refusalOf(fp, () => taken.fork(count, { name: 'many' }))
    expect(refused.message).toMatch(
      /^\d+ copies of snapshot \w+ would take .* of memory, and .* are free$/,
    )
    const [fork] = await taken.fork(1)
    expect((await fork?.exec('echo here'))?.stdout).toBe('here\n')
  })

  test('what is promised to others is not promised again: forks and restores wait for it', async () => {
    await using fp = await home.open(withoutSpares)
    const env = await holding(fp, { megabytes: 60, limit: 512 })
    const taken = await env.snapshot()
    await taken.prove()
    const [released] = await taken.fork(1)
    await released?.pause({ release: true })
    using others = reservedByOthers(home)
    const began = begun()
    const made = Promise.all([taken.fork(2), env.restore(taken), released?.resume()])
    expect(await Promise.race([made, sleep(500, 'waited')])).toBe('waited')
    expect(await fp.list()).toHaveLength(2)
    expect(begun()).toBe(began)
    others.giveUp()
    await made
    expect(await fp.list()).toHaveLength(4)
    expect(others.store.reservations.totalBytes()).toBe(0)
    await expectTidy(home, fp)
  })

  test('of two that fit alone but not together, one waits and is refused if the other takes too long', async () => {
    const { settings } = Forkpoint.settings({ settings: { home: home.path } })
    await using one = await openEngine(settings)
    await using other = await openEngine(settings)
    const needed = Math.floor(0.6 * freeBytes(readMemory()))
    const memory = { mode: 'copy', sharedBytes: 0, copiedBytes: needed, processes: [] } as const
    const large = { id: newSnapshotId(), name: null, memory }
    const [first, failure] = await Promise.all([
      reserveCopies(one, large, { count: 1 }),
      failureOf(reserveCopies(other, large, { count: 1, patienceMs: 200 })),
    ])
    expect(failure).toBeInstanceOf(ResourceError)
    expect((failure as Error).message).toMatch(/are free, of which copies that others are making/)
    const waiting = reserveCopies(other, large, { count: 1 })
    expect(await Promise.race([waiting, sleep(200, 'waited')])).toBe('waited')
    expect(await first.fill(async () => 'made')).toBe('made')
    using _second = await waiting
    expect(one.store.reservations.totalBytes()).toBe(needed)
  })

  test('spares are given up for what was asked for, if that helps', async () => {
    const { settings } = Forkpoint.settings({ settings: { home: home.path } })
    await using engine = await openEngine(settings)
    const { id } = await create(engine, { name: 'web' })
    const { id: snapshot } = await takeSnapshot(engine, id, {})
    await engine.spares.settled()
    const ready = () => engine.store.spares.list().map(({ kind }) => kind)
    expect(ready()).toEqual(['restore', 'fork'])
    await giveUpSpares(engine, { bytes: 2 ** 40 })
    expect(ready()).toEqual(['restore', 'fork'])
    await giveUpSpares(engine, { bytes: 1, keep: { kind: 'restore', snapshot } })
    expect(ready()).toEqual(['restore'])
  })

  test('spares and proofs that do not fit are made when they do', async () => {
    await using fp = await home.open()
    const env = await holding(fp, { megabytes: 60, limit: 512 })
    using others = reservedByOthers(home)
    const taken = await env.snapshot()
    await fp.sparesReady()
    expect(await fp.spares()).toEqual([])
    const proof = async () => (await fp.snapshot(taken.id)).lastInfo.proof
    expect(await proof()).toBe('unproven')
    others.giveUp()
    await expect.poll(proof, patiently).toBe('proven')
    await expect.poll(() => fp.spares(), patiently).toHaveLength(2)
  })
})

test('where a snapshot replaces the original, one whose copy does not fit is refused, and it continues', async () => {
  await using elsewhere = new TestHome('copied-ext4', { volume: 'ext4' })
  await using fp = await elsewhere.open(withoutSpares)
  const env = await holding(fp, { megabytes: 60, limit: 512 })
  const pid = async () => (await env.exec('pgrep -f hold.py; cat /proc/$$/stat')).stdout
  const before = await pid()
  using others = reservedByOthers(elsewhere)
  expect(await failureOf(env.snapshot())).toBeInstanceOf(ResourceError)
  expect(await fp.snapshots()).toEqual([])
  expect((await pid()).split(' ')[21]).toBe(before.split(' ')[21])
  others.giveUp()
  expect((await env.snapshot()).lastInfo.original).toBe('replaced')
  await expectTidy(elsewhere, fp)
})

describe('the memory of spares', () => {
  test('a spare that would be over `spares.memory` is not kept, and its snapshot is proven', async () => {
    await using fp = await home.open({ 'spares.memory': '64m' })
    const taken = await (await holding(fp, { megabytes: 120, limit: 512 })).snapshot()
    await fp.sparesReady()
    expect(await fp.spares()).toEqual([])
    expect((await fp.snapshot(taken.id)).lastInfo.proof).toBe('proven')
    await expectTidy(home, fp)
  })

  test('older spares make room first', async () => {
    await using fp = await home.open({ 'spares.memory': '160m' })
    const taken = await (await holding(fp, { megabytes: 60, limit: 512 })).snapshot()
    await fp.sparesReady()
    expect(await fp.spares()).toHaveLength(2)
    const larger = await (await holding(fp, { megabytes: 120, limit: 512 })).snapshot()
    await fp.sparesReady()
    const spares = await fp.spares()
    expect(spares.map(({ snapshot }) => snapshot)).toEqual([larger.id])
    const [fork] = await taken.fork(1)
    expect((await fork?.exec('echo here'))?.stdout).toBe('here\n')
  })
})
