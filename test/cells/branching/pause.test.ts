import { afterAll, expect, test } from 'vitest'
import { pauseSeenInside } from '../../../src/bench/groups/pause.ts'
import { TestHome } from '../../support/test-home.ts'

const home = new TestHome('pause')
afterAll(() => home[Symbol.asyncDispose]())

test('the pause of a snapshot is visible from inside, however late the observer starts', async () => {
  const fp = await home.open()
  const env = await fp.create({ from: 'host' })
  await env.exec('perl() { sleep 0.4; exec perl "$@"; }')
  const before = Date.now()
  const pause = await pauseSeenInside(env)
  expect(pause).toBeGreaterThan(1)
  expect(pause).toBeLessThan(Date.now() - before)
  expect((await env.exec('jobs')).stdout).toBe('')
})
