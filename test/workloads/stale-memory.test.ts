import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Environment, Snapshot } from '../../src/index.ts'
import { TestHome } from '../support/test-home.ts'
import { type SelfChecking, selfChecking } from '../support/workloads/self-checking/programs.ts'

/** How long the branches run. */
const seconds = Number(process.env.FORKPOINT_STRESS_SECONDS ?? 25)

interface Outcome {
  readonly snapshot: Snapshot
  /** of the original and each fork, at the beginning and at the end */
  readonly reports: readonly { readonly first: string; readonly last: string }[]
}

const outcomes = new Map<string, Outcome>()
let home: TestHome

beforeAll(() => {
  home = new TestHome('stale-memory')
})

afterAll(() => home[Symbol.asyncDispose](), 120_000)

test('many programs run for a while after a snapshot', { timeout: 300_000 }, async () => {
  const fp = await home.open()
  // All at the same time, each in its own environment: one after the other would take too long.
  // But only two start at a time, or all would starve.
  let lanes: [Promise<unknown>, Promise<unknown>] = [Promise.resolve(), Promise.resolve()]
  const runs = selfChecking.map(async (program) => {
    const [next, other] = lanes
    const branched = next.then(async () => branch(program, await fp.create()))
    lanes = [other, branched.catch(() => {})]
    outcomes.set(program.name, await observe(program, await branched))
  })
  const results = await Promise.allSettled(runs)
  expect(results.filter(({ status }) => status === 'rejected')).toEqual([])
})

interface Branched {
  readonly snapshot: Snapshot
  readonly branches: readonly Environment[]
}

async function branch(program: SelfChecking, original: Environment): Promise<Branched> {
  await program.start(original)
  const done = async () => roundsOf(await program.report(original))
  await expect.poll(done, { timeout: 60_000, interval: 100 }).toBeGreaterThan(1)
  const snapshot = await original.snapshot()
  return { snapshot, branches: [original, ...(await snapshot.fork(2))] }
}

async function observe(program: SelfChecking, { snapshot, branches }: Branched): Promise<Outcome> {
  const first = await Promise.all(branches.map((env) => program.report(env)))
  await sleep(seconds * 1000)
  const last = await Promise.all(branches.map((env) => program.report(env)))
  return { snapshot, reports: first.map((text, i) => ({ first: text, last: last[i] ?? '' })) }
}

function roundsOf(report: string): number {
  return Number(/^rounds (\d+)/.exec(report)?.[1] ?? 0)
}

test('memory that is shared against the verdict has stale bytes, and the programs notice', async () => {
  await using forced = new TestHome('forced')
  const fp = await forced.open({ memory: 'share' })
  const [program] = selfChecking
  if (!program) throw new Error('no program counts on zeros')
  const { snapshot, branches } = await branch(program, await fp.create())
  expect(snapshot.lastInfo.memory?.processes).toContainEqual(
    expect.objectContaining({ command: expect.stringMatching(program.process), shared: true }),
  )
  const [, fork] = branches
  const report = async () => (fork ? await program.report(fork) : '')
  await expect.poll(report, { timeout: 30_000 }).toMatch(/^stale/)
})

describe.each(selfChecking)('$name', ({ name, process, copiedFor }) => {
  test('sees no stale byte in any branch, and continues', () => {
    const { reports } = outcomeOf(name)
    expect(reports).toHaveLength(3)
    for (const { first, last } of reports) {
      expect(last).toMatch(/^rounds \d+/)
      // Each sleeps between rounds, and shares two cores with all the others.
      expect(roundsOf(last)).toBeGreaterThan(roundsOf(first) + Math.min(5, seconds / 8))
    }
  })

  test(copiedFor ? 'has its memory copied' : 'shares its memory', () => {
    const { snapshot } = outcomeOf(name)
    const all = snapshot.lastInfo.memory?.processes ?? []
    // A shell that only waits has too little memory to be shared.
    const large = all.filter((one) => one.sharedBytes + one.copiedBytes > 2 ** 20)
    const processes = large.filter(({ command }) => process.test(command))
    expect(processes).not.toEqual([])
    for (const { shared, why } of processes) {
      expect([shared, why]).toEqual([copiedFor === null, expect.stringMatching(copiedFor ?? /./)])
    }
  })
})

function outcomeOf(name: string): Outcome {
  const outcome = outcomes.get(name)
  if (!outcome) throw new Error(`${name} did not come to its end`)
  return outcome
}
