// TCP connections inside an environment, in every state that a program may leave them in, continue in copies.
import { afterAll, expect, test } from 'vitest'
import type { Environment } from '../../src/index.ts'
import { TestHome } from '../support/test-home.ts'
import { type Dialogue, dialogue } from '../support/workloads/dialogue.ts'
import { bringDirectory } from '../support/workloads/run.ts'

const home = new TestHome('tcp-copies')
afterAll(() => home[Symbol.asyncDispose]())
const fp = await home.open({ 'spares.count': 0 })

const talkTo = (args: string) =>
  dialogue('tcp', `python3 /root/tcp/connections.py ${args}`, (mark) => mark)

async function started(program: Dialogue): Promise<Environment> {
  const env = await fp.create()
  await bringDirectory(env, 'tcp')
  await program.start(env)
  expect(await program.ask(env, 'begin')).toContain('ready')
  return env
}

/** What is wrong, by the name of the connection. */
async function faults(program: Dialogue, env: Environment): Promise<Record<string, string>> {
  const answer: Record<string, string> = JSON.parse(await program.ask(env, 'check'))
  expect(Object.keys(answer)).not.toEqual([])
  return Object.fromEntries(Object.entries(answer).filter(([, said]) => said !== 'ok'))
}

async function forkOf(env: Environment): Promise<Environment> {
  const snapshot = await env.snapshot()
  expect((await snapshot.info()).lost).toEqual([])
  const [fork] = await snapshot.fork(1)
  if (!fork) throw new Error('no fork')
  return fork
}

test('TCP connections continue in every copy', async () => {
  const program = talkTo('')
  const env = await started(program)
  const one = await forkOf(env)
  const two = await forkOf(one)
  expect(await faults(program, one), 'a fork').toEqual({})
  expect(await faults(program, two), 'a fork of a fork').toEqual({})
  await Promise.all([one.remove(), two.remove()])
  const base = await env.snapshot()
  expect(await faults(program, env), 'the original').toEqual({})
  await env.restore(base)
  await env.pause({ release: true })
  await env.resume()
  expect(await faults(program, env), 'restored, released and resumed').toEqual({})
})

test('data that only the kernel has are listed as lost, and their connections reset', async () => {
  const program = talkTo('lossy')
  const env = await started(program)
  const snapshot = await env.snapshot()
  const { lost } = await snapshot.info()
  expect(lost.map(({ what }) => what).toSorted()).toEqual([
    expect.stringMatching(/^ends early, without \d+ bytes .* its other end was closed$/),
    'is closed, with 7 bytes that were sent before anybody accepted it',
  ])
  expect(lost.map(({ process }) => process?.command)).toEqual([
    expect.stringContaining('python3'),
    expect.stringContaining('python3'),
  ])
  const [fork] = await snapshot.fork(1)
  if (!fork) throw new Error('no fork')
  expect(await faults(program, fork), 'the fork').toEqual({
    'closed, unsent': expect.stringContaining('reset by peer'),
    'not accepted, with data': expect.stringContaining('reset by peer'),
  })
  expect(await faults(program, env), 'the original').toEqual({})
})
