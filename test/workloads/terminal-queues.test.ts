// What was typed and not read, and printed and not shown, is neither changed nor shown twice.
import { afterAll, expect, test } from 'vitest'
import { TestHome } from '../support/test-home.ts'
import { bring, run, runUntilDone } from '../support/workloads/run.ts'

const home = new TestHome('queues')
afterAll(() => home[Symbol.asyncDispose]())
const fp = await home.open()

const unchanged = [
  String.raw`b'line one\r\nline two' b'typed\n'`,
  String.raw`b'half and half\n' b' and half\r\n'`,
]

test('a terminal keeps what waits in it, over snapshots, in a fork and after a restore', async () => {
  const env = await fp.create()
  const program = await bring(env, 'terminal-queues.py')
  await run(env, `python3 ${program} > /root/said 2>&1 &`)
  await runUntilDone(env, 'test -e /root/ready')
  await env.snapshot()
  const taken = await env.snapshot()
  const [copy] = await taken.fork(1)
  if (!copy) throw new Error('no fork')
  const found = async (each: typeof env) => {
    await run(each, 'touch /root/over')
    await runUntilDone(each, 'test $(wc -l < /root/said) = 2')
    return (await run(each, 'cat /root/said')).split('\n')
  }
  expect(await found(env), 'the original').toEqual(unchanged)
  expect(await found(copy), 'the fork').toEqual(unchanged)
  await env.restore(taken)
  expect(await found(env), 'the restored').toEqual(unchanged)
})
