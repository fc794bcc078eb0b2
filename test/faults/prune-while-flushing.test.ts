import { afterAll, test } from 'vitest'
import { expectNothing } from '../support/remains.ts'
import { TestHome } from '../support/test-home.ts'

const home = new TestHome('flushing', { 'spares.count': 0 })
afterAll(() => home[Symbol.asyncDispose]())

test('the volume is removed with the last snapshot, even while that is being flushed', async () => {
  await using fp = await home.open()
  const env = await fp.create()
  await env.exec('head -c 300000000 /dev/urandom > /root/large')
  await env.snapshot()
  await env.remove()
  await fp.prune()
  await expectNothing(home)
})
