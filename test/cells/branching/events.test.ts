import { afterAll, expect, test } from 'vitest'
import type { ForkpointEvent } from '../../../src/index.ts'
import { TestHome } from '../../support/test-home.ts'

const home = new TestHome('events')
afterAll(() => home[Symbol.asyncDispose]())

test('a process gets events of what it does, even of work that ends after the call returned', async () => {
  const fp = await home.open()
  const aborted = new AbortController()
  const seen: ForkpointEvent[] = []
  const listening = (async () => {
    for await (const event of fp.events({ signal: aborted.signal })) seen.push(event)
  })()
  const env = await fp.create()
  const taken = await env.snapshot()
  await expect(env.snapshot({ name: '-' })).rejects.toThrow()
  await expect
    .poll(() => seen.find((event) => event.type === 'durable'))
    .toMatchObject({ snapshot: taken.id })
  expect((await taken.info()).durable).toBe(true)
  await env.remove()
  await expect
    .poll(() => seen.flatMap((event) => (event.type === 'operation' ? [event.kind] : [])))
    .toEqual(['create', 'snapshot', 'remove'])
  aborted.abort()
  await listening
  const untilClosed = fp.events()
  await fp.close()
  expect((await untilClosed.next()).done).toBe(true)
})
