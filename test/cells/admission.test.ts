import { afterAll, afterEach, expect, test } from 'vitest'
import { engineControl } from '../../src/engine/control/engine-control.ts'
import { openEngine } from '../../src/engine/engine.ts'
import { Forkpoint, ResourceError } from '../../src/index.ts'
import { TestHome } from '../support/test-home.ts'

const home = new TestHome('admission')
afterAll(() => home[Symbol.asyncDispose]())
afterEach(() => home.removeAll())

test('a machine that may have two environments refuses a third, and nothing is left of it', async () => {
  const fp = await home.open({ 'admission.environments': 2 })
  const env = await fp.create()
  // At the same time: the last place is given once.
  const made = await Promise.allSettled([env.fork(1), fp.create(), fp.create()])
  expect(made.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected'])
  const [refusal] = made.flatMap((each) => (each.status === 'rejected' ? each.reason : []))
  expect(refusal).toBeInstanceOf(ResourceError)
  expect(refusal).toMatchObject({
    detail: { scarce: 'environments', retryAfterMs: expect.any(Number) },
    remedy: expect.stringContaining('admission.environments'),
  })
  expect(await fp.list()).toHaveLength(2)
  expect((await env.exec('echo on')).stdout).toBe('on\n')
})

test('memory that is promised to one environment is not promised to another', async () => {
  const mib = 1024 ** 2
  const fp = await home.open({ 'admission.memory': '256m', 'limits.memory': '128m' })
  const env = await fp.create()
  await expect(fp.create({ limits: { memoryBytes: 192 * mib } })).rejects.toMatchObject({
    detail: { scarce: 'memoryBytes' },
  })
  await expect(env.fork(2)).rejects.toMatchObject({ detail: { scarce: 'memoryBytes' } })
  // One that is released has given its memory back, and needs it again to come back.
  await env.pause({ release: true })
  const second = await fp.create({ limits: { memoryBytes: 192 * mib } })
  await expect(env.resume()).rejects.toMatchObject({ detail: { scarce: 'memoryBytes' } })
  await second.remove()
  await env.resume()
  expect((await env.info()).status).toBe('running')
})

test('a disk that is nearly full takes nothing new, and what runs can still be removed', async () => {
  const open = await home.open()
  const env = await open.create()
  const fp = await home.open({ 'admission.disk': '8000t' })
  const same = await fp.get(env.id)
  for (const attempt of [() => fp.create(), () => same.snapshot(), () => same.fork(1)]) {
    await expect(attempt()).rejects.toMatchObject({
      code: 'resource',
      detail: { scarce: 'diskBytes', retryAfterMs: expect.any(Number) },
    })
  }
  expect((await same.exec('echo on')).stdout).toBe('on\n')
  await same.remove()
})

test('one principal cannot take the share of another', async () => {
  const flags = { home: home.path, 'admission.each.environments': 1 }
  const { settings } = Forkpoint.settings({ settings: flags })
  await using control = engineControl(await openEngine(settings))
  const create = (principal: string) => control.call('environment.create', {}, { principal })
  const first = await create('a')
  await expect(create('a')).rejects.toMatchObject({
    message: expect.stringContaining('a may have 1 environments'),
    detail: { scarce: 'environments' },
  })
  const forking = { id: first.id, count: 1 }
  await expect(
    control.call('environment.fork', forking, { principal: 'a' }),
  ).rejects.toBeInstanceOf(ResourceError)
  const made = await control.call('environment.fork', forking, { principal: 'b' })
  expect(made).toHaveLength(1)
  await expect(create('b')).rejects.toBeInstanceOf(ResourceError)
  await control.call('environment.remove', { id: first.id }, { principal: 'a' })
  await create('a')
})
