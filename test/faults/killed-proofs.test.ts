// SIGKILL while a snapshot is being proven, by itself or by a release. The next process finds the environment
// as it was, the snapshot as good as before, and nothing of the copy.
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest'
import type { KillPoint } from '../../src/linux/kill-points.ts'
import { killWalks } from '../support/kill-walks.ts'
import { expectNothing } from '../support/remains.ts'
import { runProgram } from '../support/run-program.ts'
import { TestHome } from '../support/test-home.ts'
import { expectTidy } from '../support/tidiness.ts'

const home = new TestHome('killed-proofs', { 'spares.count': 0 })
afterAll(() => home[Symbol.asyncDispose]())

const killed = { exitCode: null, signal: 'SIGKILL' }
const look = 'echo $X $(kill -0 $job && echo alive)'

beforeEach(async () => {
  await using fp = await home.open()
  const env = await fp.create({ name: 'victim', net: 'nat' })
  await env.exec('X=kept; sleep 1000 & job=$!')
  await env.snapshot({ name: 'taken' })
})

afterEach(async () => {
  await home.removeAll()
  await expectNothing(home)
})

async function die(words: readonly string[], point: KillPoint): Promise<void> {
  const ended = await runProgram(home, words, { FORKPOINT_KILL_AT: point })
  expect(ended, `${point} was never reached: ${ended.stderr}`).toMatchObject(killed)
}

async function expectAllWell(): Promise<void> {
  await using fp = await home.open()
  await expectTidy(home, fp)
  const env = await fp.get('victim')
  if ((await env.info()).status === 'released') await env.resume()
  expect((await env.exec(look)).stdout).toBe('kept alive\n')
  for (const snapshot of await fp.snapshots()) {
    expect((await snapshot.prove()).lastInfo.proof).toBe('proven')
    await env.restore(snapshot)
    expect((await env.exec(look)).stdout).toBe('kept alive\n')
  }
  await expectTidy(home, fp)
}

test.each(killWalks.prove)('a proof that is killed at %s can be made again', async (point) => {
  await die(['prove-taken', 'taken'], point)
  await expectAllWell()
})

const steps = ['proof:begun', 'proof:made', 'release:proven', 'release:committed'] as const

test.each(steps)(
  'a release that is killed at %s leaves the environment, or its snapshot',
  async (point) => {
    await die(['release', 'victim'], point)
    await expectAllWell()
  },
)

const before = ['proof:begun', 'proof:made', 'proof:recorded'] as const

test.each(before)('a removal that is killed at %s has not begun', async (point) => {
  await die(['remove', 'victim'], point)
  await expectAllWell()
})
