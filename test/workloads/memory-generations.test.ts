import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Environment, Forkpoint } from '../../src/index.ts'
import { TestHome } from '../support/test-home.ts'
import { type SelfChecking, selfChecking } from '../support/workloads/self-checking/programs.ts'

// Real allocators and runtimes, snapshotted again and again while they allocate, free and check. From the
// second snapshot on, only what they wrote is dumped, and the rest comes from the snapshots before.

const generations = 5

let home: TestHome
let fp: Forkpoint

beforeAll(async () => {
  home = new TestHome('generations')
  fp = await home.open()
})

afterAll(() => home[Symbol.asyncDispose](), 120_000)

async function roundsOf(program: SelfChecking, env: Environment): Promise<number> {
  const report = await program.report(env)
  expect(report).not.toMatch(/^stale/)
  return Number(/^rounds (\d+)/.exec(report)?.[1] ?? 0)
}

async function continues(program: SelfChecking, env: Environment): Promise<void> {
  const before = await roundsOf(program, env)
  const rounds = () => roundsOf(program, env)
  await expect.poll(rounds, { timeout: 60_000, interval: 200 }).toBeGreaterThan(before + 1)
}

describe.each(selfChecking)('$name', (program) => {
  test('continues in a fork of its fifth snapshot', { timeout: 300_000 }, async () => {
    const env = await fp.create()
    await program.start(env)
    const rounds = () => roundsOf(program, env)
    await expect.poll(rounds, { timeout: 120_000, interval: 200 }).toBeGreaterThan(1)
    const modes: unknown[] = []
    for (let number = 1; number < generations; number += 1) {
      const { lastInfo } = await env.snapshot({ live: number === 3 })
      modes.push(lastInfo.memory?.tracking?.mode)
      await sleep(300)
    }
    const last = await env.snapshot({ live: false })
    modes.push(last.lastInfo.memory?.tracking?.mode)
    const [fork] = await last.fork(1)
    if (!fork) throw new Error('no fork')
    await continues(program, fork)
    await continues(program, env)
    expect(modes).toEqual(['full', 'written', 'live', 'written', 'written'])
    await fork.remove()
    await env.remove()
  })
})
