import { execFileSync } from 'node:child_process'
import { rmdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { placesOf } from '../../src/backends/native/places.ts'
import { ConflictError, type Environment, ForkpointError } from '../../src/index.ts'
import { agentPid, cgroupsOf, hostPids } from '../support/cell-processes.ts'
import { patiently } from '../support/patiently.ts'
import { expectNothing } from '../support/remains.ts'
import { TestHome } from '../support/test-home.ts'

const home = new TestHome('dead')
afterAll(() => home[Symbol.asyncDispose]())
afterEach(() => home.removeAll())

async function killAgent(env: Environment): Promise<void> {
  process.kill(agentPid(home, env), 'SIGKILL')
  await expect.poll(() => hostPids(home, env), patiently).toEqual([])
}

describe('an environment whose agent was killed', () => {
  test('is listed as dead, immediately and by the next process', async () => {
    await using fp = await home.open()
    const env = await fp.create({ name: 'gone' })
    await killAgent(env)
    expect((await fp.list()).map(({ lastInfo }) => lastInfo.status)).toEqual(['dead'])
    expect((await env.info()).status).toBe('dead')
    await using next = await home.open()
    expect((await next.get('gone')).lastInfo.status).toBe('dead')
  })

  test('fails every call with a remedy', async () => {
    await using fp = await home.open()
    const env = await fp.create({ name: 'gone' })
    await env.exec('true')
    await killAgent(env)
    const calls = [
      () => env.exec('true'),
      () => env.pause(),
      () => env.resume(),
      () => env.files.read('/etc/passwd'),
      () => env.stats(),
    ]
    for (const call of calls) {
      const refusal = await call().catch((error: unknown) => error)
      expect(refusal).toBeInstanceOf(ConflictError)
      expect(refusal).toMatchObject({
        message: 'environment gone is dead',
        remedy: 'remove it with `forkpoint rm gone`',
      })
    }
  })

  test('does so even if it was paused', async () => {
    await using fp = await home.open()
    const env = await fp.create({ name: 'gone' })
    await env.pause()
    await killAgent(env)
    await expect(env.exec('true')).rejects.toThrow('environment gone is dead')
    expect((await fp.get('gone')).lastInfo.status).toBe('dead')
  })

  test('fails a command that was running, soon and with a clear error', async () => {
    await using fp = await home.open()
    const env = await fp.create()
    const running = env.exec('sleep 1000').catch((error: unknown) => error)
    await sleep(100)
    await killAgent(env)
    expect(await running).toBeInstanceOf(ForkpointError)
  })

  test('is removed like any other', async () => {
    await using fp = await home.open()
    const env = await fp.create({ net: 'nat', netAllow: ['192.0.2.0/24'] })
    await killAgent(env)
    await env.remove()
    await expectNothing(home)
  })
})

describe('after the machine went down', () => {
  /** Removes what does not survive a reboot. */
  async function powerCut(environments: readonly Environment[]): Promise<void> {
    for (const env of environments) {
      await killAgent(env)
      for (const dir of cgroupsOf(home, env)) rmdirSync(dir)
    }
    execFileSync('umount', [placesOf(home.path).data])
  }

  test('environments are listed as dead and can be removed', async () => {
    const before = await home.open()
    const made = [await before.create({ name: 'one' }), await before.create({ name: 'two' })]
    await before.close()
    await powerCut(made)
    await using fp = await home.open()
    expect((await fp.list()).map(({ name, lastInfo }) => [name, lastInfo.status])).toEqual([
      ['one', 'dead'],
      ['two', 'dead'],
    ])
    await expect((await fp.get('one')).exec('true')).rejects.toBeInstanceOf(ConflictError)
    await (await fp.get('one')).remove()
    await (await fp.get('two')).remove()
    expect(await fp.list()).toEqual([])
    await expectNothing(home)
  })

  test('new environments can be made next to dead ones, which can then be removed', async () => {
    const before = await home.open()
    const old = await before.create({ name: 'old' })
    await old.exec('echo kept > /root/file')
    await before.close()
    await powerCut([old])
    await using fp = await home.open()
    const fresh = await fp.create({ name: 'fresh' })
    expect((await fresh.exec('echo works')).stdout).toBe('works\n')
    await (await fp.get('old')).remove()
    expect((await fresh.exec('echo still')).stdout).toBe('still\n')
    await fresh.remove()
    await expectNothing(home)
  })

  test('a removal that the power cut interrupted is completed', async () => {
    const before = await home.open()
    const env = await before.create({ name: 'one' })
    await before.close()
    await powerCut([env])
    await using fp = await home.open()
    await (await fp.get('one')).remove()
    await fp.create({ name: 'one' })
  })
})
