import { afterAll, afterEach, expect, test } from 'vitest'
import type { Environment } from '../../../src/index.ts'
import { TestHome } from '../../support/test-home.ts'

const home = new TestHome('root-directory', { 'spares.count': 0 })
afterAll(() => home[Symbol.asyncDispose]())
afterEach(() => home.removeAll())

const look = async (env: Environment) => (await env.exec('stat -c "%a %u:%g" /')).stdout.trim()

test('the mode and owner of / are part of a snapshot', async () => {
  await using fp = await home.open()
  const env = await fp.create()
  expect(await look(env)).toBe('755 0:0')
  const plain = await env.snapshot()
  await env.exec('chmod 1711 /; chown 5:6 /')
  const taken = await env.snapshot()
  expect(await look(env)).toBe('1711 5:6')
  const again = await env.snapshot()
  await again.compact()
  for (const snapshot of [taken, again, await env.snapshot({ mode: 'filesystem' })]) {
    const [fork] = await snapshot.fork()
    expect(fork && (await look(fork))).toBe('1711 5:6')
  }
  await env.restore(plain)
  expect(await look(env)).toBe('755 0:0')
})
