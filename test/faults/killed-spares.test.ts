// SIGKILL while a branch is being prepared, or begins to run: the next process finds the environment
// and its snapshot complete, and none of the spares.
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Environment } from '../../src/index.ts'
import { killWalks } from '../support/kill-walks.ts'
import { expectNothing } from '../support/remains.ts'
import { runProgram } from '../support/run-program.ts'
import { TestHome } from '../support/test-home.ts'
import { expectTidy } from '../support/tidiness.ts'

const home = new TestHome('killed-spares')
afterAll(() => home[Symbol.asyncDispose]())

const killed = { exitCode: null, signal: 'SIGKILL' }
const stateOf = async (env: Environment) =>
  (await env.exec('echo $X $(kill -0 $job && echo alive)')).stdout.trim()

beforeEach(async () => {
  await using fp = await home.open()
  const env = await fp.create({ name: 'victim' })
  await env.exec('X=early; sleep 1000 & job=$!')
})

afterEach(async () => {
  await home.removeAll()
  await expectNothing(home)
})

describe('a process that prepares branches and is killed', () => {
  test.each(killWalks.spares)('at %s leaves no trace of them', async (point) => {
    const ended = await runProgram(home, ['spares', 'victim'], { FORKPOINT_KILL_AT: point })
    expect(ended, `${point} was never reached: ${ended.stderr}`).toMatchObject(killed)
    await using fp = await home.open({ 'spares.count': 0 })
    expect(await fp.spares()).toEqual([])
    await expectTidy(home, fp)
    const env = await fp.get('victim')
    expect((await env.info()).status).toBe('running')
    // Until the restore is committed, the environment continues as it was.
    const states = point === 'spare:running' ? ['later alive'] : ['early alive', 'later alive']
    expect(states).toContain(await stateOf(env))
    const [taken] = await fp.snapshots()
    if (!taken) throw new Error('the snapshot is gone')
    await env.restore(taken)
    expect(await stateOf(env)).toBe('early alive')
    await expectTidy(home, fp)
  })
})
