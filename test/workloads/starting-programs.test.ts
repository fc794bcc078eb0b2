// A process between vfork and exec cannot be stopped. A snapshot waits for it, and holds nothing meanwhile.
import { afterAll, afterEach, expect, test } from 'vitest'
import { BackendError, type Environment } from '../../src/index.ts'
import { failureOf } from '../support/failure-of.ts'
import { TestHome } from '../support/test-home.ts'
import { bring, run, runUntilDone } from '../support/workloads/run.ts'

const home = new TestHome('starting', { 'spares.count': 0 })
afterAll(() => home[Symbol.asyncDispose]())
afterEach(() => home.removeAll())
const fp = await home.open()

/** CRIU itself would hold everything for 10 s; a busy machine delays the watch, too. */
const tooLongMs = 5000

/** An environment with the program, and a watch over the longest time that anything was held. */
async function prepared(): Promise<Environment> {
  const env = await fp.create()
  const source = await bring(env, 'vforks.c')
  await run(env, `gcc -O2 -o /root/vforks ${source}`)
  await run(env, '/root/vforks watch /root/longest & sleep 0.2')
  return env
}

async function longestHoldMs(env: Environment): Promise<number> {
  return Number(await run(env, 'cat /root/longest'))
}

/** Waits until the child is asleep between vfork and exec. */
async function startWaiting(env: Environment, seconds: number): Promise<void> {
  await run(env, `/root/vforks wait ${seconds} > /root/said & echo $! > /root/parent`)
  await runUntilDone(env, 'grep -q . /proc/$(cat /root/parent)/task/*/children')
}

test('a snapshot waits for a program that takes a second to start', async () => {
  const env = await prepared()
  await startWaiting(env, 1)
  const taken = await env.snapshot()
  expect(await run(env, 'cat /root/said')).toBe('started')
  expect(await longestHoldMs(env)).toBeLessThan(tooLongMs)
  const [copy] = await taken.fork(1)
  if (!copy) throw new Error('no fork')
  expect(await run(copy, 'pgrep -x sleep -P $(cat /root/parent) | wc -l')).toBe('1')
})

test('a snapshot that has to wait ends no wait inside', async () => {
  const env = await prepared()
  await run(env, '/root/vforks waits 300 > /root/ended 2>&1 & sleep 0.5')
  await startWaiting(env, 2)
  await env.snapshot()
  expect(await run(env, 'cat /root/ended')).toBe('')
  expect(await run(env, 'pgrep -fc "vforks waits"')).toBe('300')
})

test('a program that never starts is refused by name, and nothing is held for long', async () => {
  const env = await prepared()
  await startWaiting(env, 0)
  const before = await run(env, 'pgrep -x vforks')
  const refusal = await failureOf(env.snapshot())
  expect(refusal).toBeInstanceOf(BackendError)
  const pid = await run(env, 'cat /root/parent')
  expect(String(refusal)).toContain(`/root/vforks wait 0" (pid ${pid} inside)`)
  expect(await run(env, 'pgrep -x vforks')).toBe(before)
  expect(await longestHoldMs(env)).toBeLessThan(tooLongMs)
  const remedy = /`(kill -9 \d+)`/.exec((refusal as BackendError).remedy ?? '')?.[1] ?? 'false'
  await run(env, remedy)
  await env.snapshot()
})

test('programs that start others all the time can be captured at any moment', async () => {
  const env = await prepared()
  await run(env, 'for i in 1 2 3; do /root/vforks loop > /root/loop-$i & done')
  await runUntilDone(env, 'grep -q 50 /root/loop-1')
  for (let taken = 0; taken < 5; taken += 1) await env.snapshot()
  expect(await longestHoldMs(env)).toBeLessThan(tooLongMs)
  const last = await env.snapshot()
  const [copy] = await last.fork(1)
  if (!copy) throw new Error('no fork')
  for (const each of [env, copy]) {
    expect(await run(each, 'pgrep -fc "vforks loop"')).toMatch(/^[3-6]$/)
    const count = await run(each, 'tail -n 1 /root/loop-1')
    await runUntilDone(each, `test "$(tail -n 1 /root/loop-1)" -gt ${count}`)
  }
})
