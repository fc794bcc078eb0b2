// A process is killed in the middle of a snapshot while another has the store open, and goes on. What
// the other does next must find the environment as it was.
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ConflictError, type Environment, Forkpoint } from '../../src/index.ts'
import { environmentPlaces } from '../support/environment-places.ts'
import { killWalks } from '../support/kill-walks.ts'
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
  test.each(killWalks.snapshot)('at %s, goes on', async (point) => {
    await killAt(point)
    await expectMemory('new')
    // Where this process had nothing to put right, the next one finds what is left.
    await using _next = await home.open()
    await expectTidy(home, fp)
    await expectMemory('new')
  })

  test.each(['snapshot:frozen', 'snapshot:sealed', 'launch:alive'])(
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

  test('can be removed, and no draft stays', async () => {
    await killAt('snapshot:sealed')
    await env.remove()
    expect((await fp.snapshots()).map(({ name }) => name)).toEqual(['gold'])
    await expectTidy(home, fp)
  })
})

test('who waits for a snapshot is told when the process that takes it is killed', async () => {
  await killAt('snapshot:sealed')
  const draft = (await fp.snapshots({ status: 'writing' }))[0]
  await expect(draft?.ready()).rejects.toBeInstanceOf(ConflictError)
  await expectMemory('new')
})

test('what cannot be put right keeps nothing else from working, and doctor tells of it', async () => {
  await killAt('snapshot:sealed')
  // What was moved away cannot come back to a place that is taken.
  const { upper } = environmentPlaces(home.path, env.id)
  const obstacle = join(upper, 'root', 'obstacle')
  mkdirSync(obstacle, { recursive: true })
  await using next = await home.open()
  expect((await next.list()).map(({ name }) => name)).toEqual(['victim'])
  const other = await next.create({ name: 'other' })
  await other.remove()
  await expect((await next.get('victim')).snapshot()).rejects.toThrow('ENOTEMPTY')
  const { checks } = await Forkpoint.doctor({ settings: { home: home.path } })
  expect(checks.at(-1)).toMatchObject({
    ...{ name: 'unfinished work', status: 'warn' },
    found: expect.stringMatching(`^snapshot of ${env.id} by process .*ENOTEMPTY`),
  })
  rmSync(join(upper, 'root'), { recursive: true })
  await expectMemory('new')
  await expectTidy(home, fp)
})

test('an environment that cannot be put right can be removed', async () => {
  await killAt('snapshot:sealed')
  const { upper } = environmentPlaces(home.path, env.id)
  mkdirSync(join(upper, 'root', 'obstacle'), { recursive: true })
  await env.remove()
  await using next = await home.open()
  await expectTidy(home, next)
})

describe('a paused environment', () => {
  const isPaused = async () => {
    expect(env.refresh().status).toBe('paused')
    // Looks at its cgroup as well.
    await expectTidy(home, fp)
  }

  test('stays paused while its files are taken', async () => {
    await env.pause()
    const files = await env.snapshot({ mode: 'filesystem' })
    await isPaused()
    expect(files.captured).toEqual(['filesystem'])
    await env.resume()
    await expectMemory('new')
  })

  test.each([
    ['snapshot', 'snapshot:begun'],
    ['snapshot', 'snapshot:sealed'],
    ['snapshot', 'launch:alive'],
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
