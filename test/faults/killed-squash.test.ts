// SIGKILL while layers are squashed: the snapshots have not changed, and nothing is left behind. Only on ext4
// do snapshots have layers.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { fanIn } from '../../src/backends/native/overlay/squash/plan.ts'
import { squashLease } from '../../src/engine/background/compact.ts'
import type { Environment } from '../../src/index.ts'
import { openStore } from '../../src/store/open-store.ts'
import { killWalksOn } from '../support/kill-walks.ts'
import { lastDepth } from '../support/layer-lists.ts'
import { expectNothing } from '../support/remains.ts'
import { runProgram } from '../support/run-program.ts'
import { TestHome } from '../support/test-home.ts'
import { expectTidy } from '../support/tidiness.ts'

const home = new TestHome('killed-squash', { volume: 'ext4' })
afterAll(() => home[Symbol.asyncDispose]())
afterEach(async () => {
  await home.removeAll()
  await expectNothing(home)
})

/** With spares, there are more cells than environments. */
const settings = { 'spares.count': 0 }
const variables = { FORKPOINT_SPARES_COUNT: '0' }

const words = ['one', 'two', 'three']
const killed = { exitCode: null, signal: 'SIGKILL' }

async function expectWord(env: Environment, word: string): Promise<void> {
  expect((await env.exec('echo $X $(cat /root/file)')).stdout).toBe(`${word} ${word}\n`)
}

async function makeChain(length: number): Promise<void> {
  await using fp = await home.open(settings)
  const env = await fp.create({ name: 'victim' })
  for (const word of words) {
    await env.exec(`X=${word}; echo ${word} > /root/file`)
    await env.snapshot({ name: word })
  }
  for (let i = words.length; i < length; i += 1) {
    await env.exec(`echo ${i} > /root/other`)
    await env.snapshot()
  }
}

describe('a compaction that is killed', () => {
  test.each(killWalksOn('ext4').compact)('at %s leaves every snapshot as it was', async (point) => {
    await makeChain(words.length)
    const ended = await runProgram(home, ['compact', 'three'], {
      ...variables,
      FORKPOINT_KILL_AT: point,
    })
    expect(ended, ended.stderr).toMatchObject(killed)

    await using fp = await home.open(settings)
    await expectTidy(home, fp)
    const recorded = ['squash:recorded', 'squash:owned'].includes(point)
    expect(lastDepth(home)).toBe(recorded ? 1 : words.length)
    const victim = await fp.get('victim')
    await expectWord(victim, 'three')
    for (const word of words) {
      await victim.restore(word)
      await expectWord(victim, word)
    }
    await fp.compact('three')
    expect(lastDepth(home)).toBe(1)
    await victim.restore('three')
    await expectWord(victim, 'three')
    await expectTidy(home, fp)
  })
})

test('what a killed compaction left stays while another process squashes, and is then removed', async () => {
  await makeChain(words.length)
  await runProgram(home, ['compact', 'three'], {
    ...variables,
    FORKPOINT_KILL_AT: 'squash:renamed',
  })
  {
    using store = openStore(home.path)
    using _squashing = store.leases.tryAcquire(squashLease, 'squashing')
    await using _fp = await home.open(settings)
    expect(squashed()).toHaveLength(1)
  }
  await using fp = await home.open(settings)
  expect(squashed()).toEqual([])
  await expectTidy(home, fp)
})

test('a snapshot that is killed while its layers are squashed keeps them, and the next one squashes them', async () => {
  await makeChain(fanIn - 1)
  const ended = await runProgram(home, ['snapshot-changed', 'victim'], {
    ...variables,
    FORKPOINT_KILL_AT: 'squash:renamed',
  })
  expect(ended, ended.stderr).toMatchObject(killed)
  await using fp = await home.open(settings)
  await expectTidy(home, fp)
  expect(lastDepth(home)).toBe(fanIn)
  expect(squashed()).toEqual([])

  expect((await runProgram(home, ['snapshot-changed', 'victim'], variables)).stderr).toBe('')
  expect(lastDepth(home)).toBe(2)
  expect(squashed()).toHaveLength(1)
  await expectTidy(home, fp)
  const victim = await fp.get('victim')
  await victim.restore('two')
  await expectWord(victim, 'two')
})

const squashed = () =>
  readdirSync(join(home.path, 'data/layers')).filter((name) => /\.\d+-\w+$/.test(name))
