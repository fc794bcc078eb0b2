// A process is killed in the middle of a snapshot while another has the store open, and continues. What
// the other does next must find the environment as it was.
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ConflictError, type Environment, type Forkpoint } from '../../src/index.ts'
import { killWalks, lastFrozen, lastUnrecorded } from '../support/kill-walks.ts'
import { expectNothing } from '../support/remains.ts'
import { runProgram } from '../support/run-program.ts'
import { TestHome } from '../support/test-home.ts'
import { expectTidy } from '../support/tidiness.ts'

const home = new TestHome('killed-elsewhere', { 'spares.count': 0 })
afterAll(() => home[Symbol.asyncDispose]())

let fp: Forkpoint
let env: Environment

beforeEach(async () => {
  fp = await home.open()
  env = await fp.create({ name: 'victim' })
  await env.exec('X=old; echo old > /root/file; sleep 1000 & job=$!')
  // A file that is open under a name it no longer has.
  await env.exec('cd /srv; touch a; exec 8>>a; ln a b; rm a; cd')
  await env.snapshot({ name: 'gold' })
  await env.exec('X=new; echo new > /root/file')
})

afterEach(async () => {
  await fp.close()
  await home.removeAll()
  await expectNothing(home)
})

async function killAt(point: string, verb = 'snapshot'): Promise<void> {
  const ended = await runProgram(home, [verb, 'victim'], { FORKPOINT_KILL_AT: point })
  expect(ended, `${point} was never reached: ${ended.stderr}`).toMatchObject({ signal: 'SIGKILL' })
}

async function expectMemory(word: string): Promise<void> {
  const { stdout } = await env.exec('echo $X $(cat /root/file) $(kill -0 $job && echo alive)')
  expect(stdout).toBe(`${word} ${word} alive\n`)
}

describe('after another process was killed in its snapshot, the environment', () => {
  test.each(killWalks.snapshot)('at %s, continues', async (point) => {
    await killAt(point)
    await expectMemory('new')
    // If this process had nothing to repair, the next one finds what is left.
    await using _next = await home.open()
    await expectTidy(home, fp)
    await expectMemory('new')
  })

  test.each(['snapshot:frozen', lastFrozen, lastUnrecorded])(
    'at %s, can be snapshotted and restored',
    async (point) => {
      await killAt(point)
      const taken = await env.snapshot()
      await expectMemory('new')
      await killAt(point)
      await env.restore('gold')
      await expectMemory('old')
      // A later recovery must not bring the old files back.
      await using _later = await home.open()
      await expectMemory('old')
      await env.restore(taken)
      await expectMemory('new')
      await expectTidy(home, fp)
    },
  )

  test('can be removed, and no draft is left', async () => {
    await killAt(lastFrozen)
    await env.remove()
    expect((await fp.snapshots()).map(({ name }) => name)).toEqual(['gold'])
    await expectTidy(home, fp)
  })
})

test('waiting for a snapshot fails when the process that takes it is killed', async () => {
  await killAt(lastFrozen)
  const draft = (await fp.snapshots({ status: 'writing' }))[0]
  await expect(draft?.ready()).rejects.toBeInstanceOf(ConflictError)
  await expectMemory('new')
})

describe('a paused environment', () => {
  const isPaused = async () => {
    expect((await env.info()).status).toBe('paused')
    // Also checks its cgroup.
    await expectTidy(home, fp)
  }

  test('stays paused while its files are taken', async () => {
    await env.pause()
    const files = await env.snapshot({ mode: 'filesystem' })
    await isPaused()
    expect(files.lastInfo.captured).toEqual(['filesystem'])
    await env.resume()
    await expectMemory('new')
  })

  test.each([
    ['snapshot', 'snapshot:begun'],
    ['snapshot', lastFrozen],
    ['snapshot', lastUnrecorded],
    ['snapshot-files', 'snapshot:copied'],
  ])('stays paused if its %s is killed at %s', async (verb, point) => {
    await env.pause()
    await killAt(point, verb)
    await using _next = await home.open()
    await isPaused()
    await env.resume()
    await expectMemory('new')
  })
})
