// A process is killed after it has moved the files of an environment away, and they cannot be moved back.
// Only on ext4 does a snapshot move files.
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest'
import { type Environment, Forkpoint } from '../../src/index.ts'
import { environmentPlaces } from '../support/environment-places.ts'
import { expectNothing } from '../support/remains.ts'
import { runProgram } from '../support/run-program.ts'
import { TestHome } from '../support/test-home.ts'
import { expectTidy } from '../support/tidiness.ts'

const home = new TestHome('killed-sealing', { 'spares.count': 0, volume: 'ext4' })
afterAll(() => home[Symbol.asyncDispose]())

let fp: Forkpoint
let env: Environment

beforeEach(async () => {
  fp = await home.open()
  env = await fp.create({ name: 'victim' })
  await env.exec('X=new; echo new > /root/file; sleep 1000 & job=$!')
  const variables = { FORKPOINT_KILL_AT: 'snapshot:sealed' }
  expect(await runProgram(home, ['snapshot', 'victim'], variables)).toMatchObject({
    signal: 'SIGKILL',
  })
})

afterEach(async () => {
  await fp.close()
  await home.removeAll()
  await expectNothing(home)
})

test('what cannot be repaired does not disturb anything else, and doctor reports it', async () => {
  // What was moved away cannot be moved back to a place that is taken.
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
    name: 'unfinished work',
    status: 'warn',
    found: expect.stringMatching(`^snapshot of ${env.id} by process .*ENOTEMPTY`),
  })
  rmSync(join(upper, 'root'), { recursive: true })
  const { stdout } = await env.exec('echo $X $(cat /root/file) $(kill -0 $job && echo alive)')
  expect(stdout).toBe('new new alive\n')
  await expectTidy(home, fp)
})

test('an environment that cannot be repaired can be removed', async () => {
  const { upper } = environmentPlaces(home.path, env.id)
  mkdirSync(join(upper, 'root', 'obstacle'), { recursive: true })
  await env.remove()
  await using next = await home.open()
  await expectTidy(home, next)
})
