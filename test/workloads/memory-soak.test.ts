import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Environment, Forkpoint, Snapshot } from '../../src/index.ts'
import { TestHome } from '../support/test-home.ts'
import { checkSoak, startSoak } from '../support/workloads/memory-soak/soak.ts'

// A program that knows what each of its pages must hold is snapshotted again and again while it maps,
// unmaps, moves, forgets, protects and forks. It must find every page right in the original, in a fork of
// each snapshot, and after a restore of any of them.

const generations = Number(process.env.FORKPOINT_SOAK_GENERATIONS ?? 10)

let home: TestHome
/** by how what was written is found */
let engines: Record<'written' | 'remapped', Forkpoint>

beforeAll(async () => {
  home = new TestHome('memory-soak')
  const written = await home.open()
  const remapped = await home.open({ 'memory.tracking': 'remapped' })
  engines = { written, remapped }
})

afterAll(() => home[Symbol.asyncDispose](), 120_000)

async function check(env: Environment, atLeast: number): Promise<number> {
  const { wrong, processes, pages, step } = await checkSoak(env)
  expect(wrong).toEqual([])
  expect(processes).toBeGreaterThan(0)
  expect(pages).toBeGreaterThan(0)
  expect(step).toBeGreaterThanOrEqual(atLeast)
  return step
}

/** Whether forks share the memory of the program. */
function isShared({ lastInfo }: Snapshot): boolean {
  const processes = lastInfo.memory?.processes.filter(({ command }) => command === 'soak') ?? []
  return processes.some(({ shared }) => shared)
}

/** Live copies of a first snapshot, and on top of others of both kinds. */
const isLive = (number: number) => number % 3 === 0 || number === 4

interface Generation {
  readonly snapshot: Snapshot
  /** how far the program was before it */
  readonly step: number
}

/** An early one; the last, which inherits from many; the same when it no longer does. */
async function restoreSome(env: Environment, taken: readonly Generation[]): Promise<void> {
  const [second, last] = [taken[1], taken.at(-1)]
  if (!second || !last) throw new Error('too few generations')
  await env.restore(second.snapshot)
  await check(env, second.step)
  await env.restore(last.snapshot)
  await check(env, last.step)
  await last.snapshot.compact()
  await env.restore(last.snapshot)
  await check(env, last.step)
}

describe.each([
  { kind: 'any', tracking: 'written', mode: 'written' },
  { kind: 'plain', tracking: 'written', mode: 'written' },
  // Nothing of it may be mapped.
  { kind: 'any', tracking: 'remapped', mode: 'full' },
  { kind: 'plain', tracking: 'remapped', mode: 'remapped' },
] as const)('a program of the sort $kind, $tracking', ({ kind, tracking, mode }) => {
  test('finds every page right over many generations', { timeout: 600_000 }, async () => {
    const env = await engines[tracking].create({ limits: { pids: 100 } })
    await startSoak(env, kind, 11)
    await sleep(1500)
    const taken: Generation[] = []
    for (let number = 0; number < generations; number += 1) {
      const step = await check(env, 1)
      const snapshot = await env.snapshot({ live: isLive(number) })
      taken.push({ snapshot, step })
      const [fork] = await snapshot.fork(1)
      if (!fork) throw new Error('no fork')
      await check(fork, step)
      await fork.remove()
      await sleep(300)
    }
    await restoreSome(env, taken)
    const shared = taken.filter(({ snapshot }) => isShared(snapshot)).length
    if (kind === 'plain') expect(shared).toBeGreaterThan(generations / 2)
    else expect(shared).toBe(0)
    const modes = taken.map(({ snapshot }) => snapshot.lastInfo.memory?.tracking?.mode)
    expect(modes).toEqual(taken.map((_, number) => (isLive(number) ? 'live' : mode)))
    await env.remove()
  })
})
