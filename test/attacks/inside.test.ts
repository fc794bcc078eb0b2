// Hostile programs inside, as root and as nobody, in every state of an environment. Each attack is
// also made in a place without isolation, where it must succeed.
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Environment, Forkpoint } from '../../src/index.ts'
import { agentPid } from '../support/cell-processes.ts'
import { failureOf } from '../support/failure-of.ts'
import { TestHome } from '../support/test-home.ts'
import { insidePromises } from './catalogue/inside.ts'
import { attackEnvironment, programInside } from './support/attack-environment.ts'
import { attackProgram } from './support/attack-program.ts'
import { HostTargets } from './support/host-targets.ts'
import { type Results, readResults, refusals, through } from './support/results.ts'
import { type AttackRun, allRuns, inEveryState, nameOf, users } from './support/states.ts'

const limits = { pids: 400, memoryBytes: 384 * 2 ** 20 }
const homes = {
  own: new TestHome('attacked', { 'spares.count': 0 }),
  other: new TestHome('unrelated'),
}
const byRun = new Map<string, Results>()
let weak: Results = new Map()
let targets: HostTargets

afterAll(async () => {
  await targets[Symbol.asyncDispose]()
  await homes.own[Symbol.asyncDispose]()
  await homes.other[Symbol.asyncDispose]()
})

beforeAll(async () => {
  const unrelated = await homes.other.open()
  await unrelated.create()
  const passes = allRuns.map(nameOf)
  const ids = [1_000_000, 1_065_534]
  targets = await HostTargets.provide({ homes, passes, limits, users: ids })
  const fp = await homes.own.open({ 'mask.add': targets.masked })
  const env = await fp.create({ limits })
  await env.files.write(programInside, readFileSync(attackProgram()), { mode: 0o755 })
  const neighbour = await fp.create()
  await inEveryState(homes.own, env, async (attacked, state) => {
    for (const user of users)
      byRun.set(nameOf({ state, user }), await attack(attacked, neighbour, { state, user }))
  })
  weak = new Map([...(await targets.attackWeakPlace()), ...(await weakNeighbour(fp))])
}, 600_000)

async function attack(env: Environment, neighbour: Environment, run: AttackRun): Promise<Results> {
  await targets.begin()
  const name = nameOf(run)
  return attackEnvironment(env, {
    user: run.user,
    variables: targets.variables(name),
    look: async () => [...(await targets.look(name)), ...(await lookAtNeighbour(neighbour))],
  })
}

const shared = ['flood-pipes', 'flood-in-flight'] as const

/** What the kernel counts per user must not affect the neighbour, who must still be able to branch. */
async function lookAtNeighbour(neighbour: Environment): Promise<string[]> {
  const failure = await failureOf(branch(neighbour))
  const state = failure === null ? 'kept' : 'changed'
  return shared.map((name) => `${name}\t${state}\tsnapshot of a neighbour: ${failure ?? 'taken'}`)
}

async function branch(env: Environment): Promise<void> {
  const [copy] = await (await env.snapshot()).fork(1)
  await copy?.remove()
}

/** If it cannot be branched, that is noticed: its agent is gone. */
async function weakNeighbour(fp: Forkpoint): Promise<Results> {
  const victim = await fp.create()
  process.kill(agentPid(homes.own, victim), 'SIGKILL')
  const seen = await lookAtNeighbour(victim)
  await victim.remove()
  return readResults(
    shared.map((name) => `${name}\ttried\t`),
    seen,
  )
}

describe.each(insidePromises)('$promise', ({ attacks }) => {
  test.for(attacks)('%s', (name, { task }) => {
    task.meta.attackRuns = refusals(name, byRun)
    expect(through(name, byRun), `${name} came through`).toEqual([])
    expect(weak.get(name), `${name} where there is no wall`).toMatchObject({ outcome: 'succeeded' })
  })
})
