// What is left when the machine goes down, and what a snapshot on disk brings back.
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import type { Environment } from '../../src/index.ts'
import { patiently } from '../support/patiently.ts'
import { powerCut } from '../support/power-cut.ts'
import { expectNothing } from '../support/remains.ts'
import { TestHome } from '../support/test-home.ts'
import { expectTidy } from '../support/tidiness.ts'

const home = new TestHome('durable')
afterAll(() => home[Symbol.asyncDispose]())
afterEach(async () => {
  await home.removeAll()
  await expectNothing(home)
})

async function remember(env: Environment, word: string): Promise<void> {
  await env.exec(`X=${word}; echo ${word} > /root/file`)
}

const recall = async (env: Environment): Promise<string> =>
  (await env.exec('echo $X $(cat /root/file)')).stdout.trim()

describe('a snapshot', () => {
  test('becomes durable some time after the call, and then says so', async () => {
    await using fp = await home.open()
    const env = await fp.create()
    const taken = await env.snapshot()
    expect(taken.lastInfo.durable).toBe(false)
    await expect.poll(async () => (await taken.info()).durable, patiently).toBe(true)
    expect(taken.lastInfo.sizes.filesBytes).toBeGreaterThan(0)
  })

  test('is durable when a call that waits for it returns', async () => {
    await using fp = await home.open()
    const env = await fp.create()
    expect((await env.snapshot({ durable: true })).lastInfo.durable).toBe(true)
    const taken = await env.snapshot()
    expect((await taken.durable()).lastInfo.durable).toBe(true)
  })

  test('of a paused environment leaves it paused', async () => {
    await using fp = await home.open()
    const env = await fp.create()
    await remember(env, 'kept')
    await env.pause()
    const taken = await env.snapshot()
    expect((await env.info()).status).toBe('paused')
    await expectTidy(home, fp)
    await env.resume()
    expect(await recall(env)).toBe('kept kept')
    const [copy] = await taken.fork()
    expect(copy && (await recall(copy))).toBe('kept kept')
  })
})

describe('a released environment', () => {
  test('has no processes, and comes back with memory and files', async () => {
    await using fp = await home.open()
    const env = await fp.create({ name: 'asleep', net: 'nat' })
    await remember(env, 'kept')
    await env.pause({ release: true })
    expect((await env.info()).status).toBe('released')
    expect((await fp.snapshots()).map(({ lastInfo }) => lastInfo.durable)).toEqual([true])
    await expectTidy(home, fp)
    await expect(env.exec('true')).rejects.toMatchObject({
      code: 'conflict',
      remedy: 'bring it back with `forkpoint resume asleep`',
    })
    await env.resume()
    expect(await recall(env)).toBe('kept kept')
    await expectTidy(home, fp)
  })

  test('comes back in another process', async () => {
    await using before = await home.open()
    const env = await before.create({ name: 'asleep' })
    await remember(env, 'kept')
    await env.pause({ release: true })
    await before.close()
    await using fp = await home.open()
    const again = await fp.get('asleep')
    await again.resume()
    expect(await recall(again)).toBe('kept kept')
  })
})

describe('after the machine went down', () => {
  test('environments are dead, and come back from their snapshots', async () => {
    const before = await home.open()
    const made: Environment[] = []
    for (const name of ['one', 'two']) made.push(await before.create({ name, net: 'nat' }))
    for (const env of made) await remember(env, env.name ?? '')
    for (const env of made) await env.snapshot({ durable: true })
    for (const env of made) await remember(env, 'lost')
    await before.close()
    await powerCut(home, made)

    await using fp = await home.open()
    const found = await fp.list()
    expect(found.map(({ name, lastInfo }) => [name, lastInfo.status])).toEqual([
      ['one', 'dead'],
      ['two', 'dead'],
    ])
    for (const env of found) {
      await expect(env.exec('true')).rejects.toMatchObject({ code: 'conflict' })
      await env.resume()
      expect(await recall(env)).toBe(`${env.name} ${env.name}`)
    }
    await expectTidy(home, fp)
  })

  test('snapshots can be forked before anything else is done', async () => {
    const before = await home.open()
    const env = await before.create({ name: 'one' })
    await remember(env, 'kept')
    await env.snapshot({ name: 'gold', durable: true })
    await before.close()
    await powerCut(home, [env])

    await using fp = await home.open()
    const [copy] = await (await fp.snapshot('gold')).fork()
    expect(copy && (await recall(copy))).toBe('kept kept')
  })

  test('an environment without a snapshot is dead, and says so', async () => {
    const before = await home.open()
    const env = await before.create({ name: 'one' })
    await before.close()
    await powerCut(home, [env])
    await using fp = await home.open()
    await expect((await fp.get('one')).resume()).rejects.toThrow('environment one is dead')
  })
})
