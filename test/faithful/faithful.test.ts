// Copies keep what programs rely on: those that would notice run through everything that makes a copy.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Environment, Snapshot, SnapshotInfo } from '../../src/index.ts'
import { noteCopied } from '../support/evidence.ts'
import { powerCut } from '../support/power-cut.ts'
import { TestHome } from '../support/test-home.ts'
import { programs } from '../undisturbed/catalogue/all.ts'
import type { Program } from '../undisturbed/catalogue/program.ts'
import { compiledPrograms } from '../undisturbed/support/compiled.ts'
import { askCopy, started } from '../undisturbed/support/stage.ts'
import { losses } from './catalogue/losses.ts'
import { tenfold } from './catalogue/tenfold.ts'
import { needlessExcuses, wrongIn } from './judge.ts'

// A spare of so many processes would only take the processors from those that are asked.
const home = new TestHome('faithful', { log: 'error', spares: 0 })
beforeAll(() => void compiledPrograms())
afterAll(() => home[Symbol.asyncDispose]())

const copied = programs.filter(({ outside }) => !outside)

/** Lets the programs run in a copy for a moment, and asks each. */
async function wrong(copy: Environment, those: readonly Program[]): Promise<string[]> {
  await sleep(1_000)
  const said = await askCopy(copy, those)
  return [...said].flatMap(([name, lines]) => {
    const found = wrongIn(name, lines)
    noteCopied(name, found.length === 0)
    return found.map((line) => `${name}: ${line}`)
  })
}

async function only<T>(list: Promise<readonly T[]>): Promise<T> {
  const [first] = await list
  if (first === undefined) throw new Error('there is no fork')
  return first
}

describe('all programs', () => {
  let original: Environment
  let snapshot: Snapshot
  let info: SnapshotInfo

  beforeAll(async () => {
    const fp = await home.open()
    original = await fp.create()
    await started(original, copied)
    snapshot = await original.snapshot()
    info = await snapshot.info()
    await original.pause()
  }, 300_000)

  test('find a fork, and a fork of it, as the original was', { timeout: 300_000 }, async () => {
    const fork = await only(snapshot.fork())
    const forkOfFork = await only(fork.fork())
    // Programs that work all the time leave the processors to those that are asked.
    await forkOfFork.pause()
    expect(await wrong(fork, copied)).toEqual([])
    await fork.remove({ force: true })
    await forkOfFork.resume()
    expect(await wrong(forkOfFork, copied)).toEqual([])
    await forkOfFork.remove({ force: true })
  })

  test('find it so after it was released and resumed', { timeout: 300_000 }, async () => {
    const { status } = await original.info()
    // It runs if this is tried again.
    if (status === 'paused') await original.resume()
    else await original.restore(snapshot)
    await original.pause({ release: true })
    await original.resume()
    expect(await wrong(original, copied)).toEqual([])
  })

  test('find it so after a restore', { timeout: 300_000 }, async () => {
    await original.restore(snapshot)
    expect(await wrong(original, copied)).toEqual([])
    await original.remove({ force: true })
  })

  test('differ only in what the tables say', () => {
    expect(needlessExcuses()).toEqual([])
  })

  test.each(losses)('lose what the record says: $programs', ({ lost }) => {
    const words = info.lost.map(({ object, what }) => `${object} ${what}`)
    expect(words.filter((each) => lost.test(each))).not.toEqual([])
  })
})

test('ten forks at once, a fork of a fork, and what a reboot leaves, are as the original was', {
  timeout: 300_000,
}, async () => {
  await using other = new TestHome('faithful-ten', { log: 'error', spares: 0 })
  const those = copied.filter(({ name }) => tenfold.has(name))
  expect(those.length).toBe(tenfold.size)
  const before = await other.open()
  const env = await before.create({ name: 'one' })
  await started(env, those)
  const snapshot = await env.snapshot({ durable: true })
  const forks = await snapshot.fork(10)
  const [first] = forks
  const forkOfFork = first && (await only(first.fork()))
  const found = await Promise.all(forks.map((fork) => wrong(fork, those)))
  expect(found).toEqual(forks.map(() => []))
  await Promise.all(forks.map((fork) => fork.remove({ force: true })))
  expect(forkOfFork && (await wrong(forkOfFork, those))).toEqual([])
  await forkOfFork?.remove({ force: true })
  await before.close()
  await powerCut(other, [env])
  const after = await (await other.open()).get('one')
  await after.resume()
  expect(await wrong(after, those)).toEqual([])
})
