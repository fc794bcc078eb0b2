// An agent that says hello and answers pings, but does nothing else, and operations that are stuck with an
// environment: the host's own clock ends everything, one signal is enough, and `rm` always works.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, expect, test, vi } from 'vitest'
import { type Environment, TimeoutError } from '../../src/index.ts'
import { patience } from '../../src/model/values/patience.ts'
import { openStore } from '../../src/store/open-store.ts'
import { CliHome, finished } from '../e2e/cli/cli-home.ts'
import { muteAgent } from '../support/muted-agent.ts'
import { patiently } from '../support/patiently.ts'
import { expectNothing } from '../support/remains.ts'
import { ended, startProgram } from '../support/run-program.ts'

// What never comes is awaited for less long, here and in the commands.
vi.stubEnv('FORKPOINT_SECOND_MS', '200')

const cli = new CliHome()
const { home } = cli
afterAll(() => cli[Symbol.asyncDispose]())
afterEach(async () => {
  await home.removeAll()
  await expectNothing(home)
})

const fp = await home.open({ 'spares.count': 0 })

async function muted(name: string): Promise<Environment> {
  const env = await fp.create({ name })
  muteAgent(home, env)
  return env
}

function holderOf(env: Environment): string | undefined {
  using store = openStore(home.path)
  return store.leases.holder(`env:${env.id}`)?.what
}

test('every request to an agent that does nothing ends in time, and rm works', async () => {
  const env = await muted('mute')
  await expect(env.snapshot()).rejects.toThrow(TimeoutError)
  await Promise.all([
    expect(env.exec(['true'], { mode: 'process', timeoutMs: 1000 })).rejects.toThrow(TimeoutError),
    expect(env.files.stat('/etc')).rejects.toThrow(TimeoutError),
  ])
  expect(holderOf(env)).toBe(undefined)
  expect((await cli.run(['rm', 'mute'])).stdout).toContain('removed mute')
})

test.each([
  ['snapshot', ['snapshot', 'deaf'], 'SIGINT', 130],
  ['exec', ['exec', 'deaf', '--', 'true'], 'SIGTERM', 143],
  ['cp', ['cp', 'deaf:/etc', '/nonexistent/x'], 'SIGINT', 130],
] as const)('one signal ends %s', async (_, args, signal, exitCode) => {
  await muted('deaf')
  const child = cli.start([...args])
  const done = finished(child)
  // Whatever it is doing at that moment: starting, asking or waiting.
  await sleep(1500)
  child.kill(signal)
  expect(await done).toMatchObject({ exitCode })
})

test('rm takes an environment from an operation that is stuck', async () => {
  const env = await fp.create({ name: 'held' })
  using store = openStore(home.path)
  const lease = await store.leases.acquire(`env:${env.id}`, 'snapshot')
  await env.remove()
  expect(lease.isHeld()).toBe(false)
  expect(() => lease.requireHeld()).toThrow(/was taken over/)
  expect(await fp.list()).toEqual([])
})

test('a snapshot whose environment was removed in the meantime says so and leaves nothing behind', async () => {
  const env = await muted('stopped')
  const child = startProgram(home, ['snapshot', 'stopped'])
  const outcome = ended(child)
  // Once it has written down what it begins, it waits for the agent, and has not locked the store.
  await expect.poll(async () => (await fp.snapshots()).length, patiently).toBe(1)
  await sleep(500)
  child.kill('SIGSTOP')
  try {
    await env.remove()
  } finally {
    child.kill('SIGCONT')
  }
  expect((await outcome).exitCode).toBe(1)
  expect(await fp.snapshots()).toEqual([])
})

test('a paused environment keeps its connections for as long as it is paused', async () => {
  const env = await fp.create({ name: 'asleep' })
  const running = env.exec('sleep 1; echo awake')
  await expect.poll(async () => (await env.commands()).length, patiently).toBe(1)
  await env.pause()
  // A little longer than a request may take.
  await sleep(patience(33))
  await env.resume()
  expect((await running).stdout).toBe('awake\n')
})
