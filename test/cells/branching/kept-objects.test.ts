// What CRIU cannot dump by itself is there in copies: queues, packets, connections nobody has accepted.
import { afterAll, expect, test } from 'vitest'
import { TestHome } from '../../support/test-home.ts'
import { inFlightPrograms } from '../../undisturbed/catalogue/sockets.ts'
import { asked, started } from '../../undisturbed/support/stage.ts'

const home = new TestHome('kept-objects', { log: 'error' })
afterAll(() => home[Symbol.asyncDispose]())

const allFine = inFlightPrograms.map(({ name }) => [name, 'ok'])

test('forks and restores keep what waits in the kernel', { timeout: 200_000 }, async () => {
  const fp = await home.open()
  const env = await fp.create()
  await started(env, inFlightPrograms)
  const snapshot = await env.snapshot()
  expect((await snapshot.info()).lost).toEqual([])
  const [fork] = await snapshot.fork()
  if (fork === undefined) throw new Error('no fork')
  const again = await fork.snapshot()
  expect([...(await asked(fork, inFlightPrograms))]).toEqual(allFine)
  await fork.restore(again.id)
  expect([...(await asked(fork, inFlightPrograms))]).toEqual(allFine)
  await env.restore(snapshot.id)
  expect([...(await asked(env, inFlightPrograms))]).toEqual(allFine)
})
