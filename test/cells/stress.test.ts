import { readdirSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, expect, test } from 'vitest'
import type { Environment } from '../../src/index.ts'
import { agentPid, statusField } from '../support/cell-processes.ts'
import { randomCommand, randomFrom, runExactly } from '../support/random-commands.ts'
import { TestHome } from '../support/test-home.ts'

const home = new TestHome('stress')
afterAll(() => home[Symbol.asyncDispose]())

const environments = 20
const commandsAtOnce = 20
const shells = ['main', 'second', 'third', 'fourth']
const warmUpMs = 8_000
const loadMs = 24_000

// How much more may be held at the end than after the warm-up. Shells stay, commands and
// their output do not: the allocator may keep a little more, a leak of a few bytes a command would
// be many times this.
const agentGrowthBytes = 512 * 1024
const hostGrowthBytes = 12 * 2 ** 20

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

test('20 environments with 20 commands each at the same time never mix or lose a byte, and nothing grows', {
  timeout: 240_000,
}, async () => {
  const fp = await home.open()
  const envs = await Promise.all(Array.from({ length: environments }, () => fp.create()))
  const seed = Date.now() % 2 ** 31
  console.log(`stress: seed ${seed}`)
  let count = await load(envs, warmUpMs, seed)
  const before = measure(envs)
  count += await load(envs, loadMs, seed + 1)
  const after = measure(envs)
  console.log(`stress: ${count} commands`)
  expect(count).toBeGreaterThan(environments * commandsAtOnce * 2)
  for (const [index, agent] of after.agents.entries()) {
    const earlier = before.agents[index] ?? { rssBytes: 0, fds: 0 }
    expect(agent.rssBytes - earlier.rssBytes).toBeLessThan(agentGrowthBytes)
    expect(agent.fds).toBeLessThanOrEqual(earlier.fds)
  }
  expect(after.heapBytes - before.heapBytes).toBeLessThan(hostGrowthBytes)
  expect(after.fds).toBeLessThanOrEqual(before.fds)
  for (const env of envs) expect(await env.commands()).toEqual([])
  for (const env of envs) await env.remove()
})

/** Keeps this many commands running in each for a while; resolves when all have ended. */
async function load(envs: readonly Environment[], ms: number, seed: number): Promise<number> {
  const until = performance.now() + ms
  let count = 0
  const worker = async (env: Environment, workerSeed: number) => {
    const random = randomFrom(workerSeed)
    while (performance.now() < until) {
      await runExactly(env, randomCommand(random, shells))
      count += 1
    }
  }
  await Promise.all(
    envs.flatMap((env, index) =>
      Array.from({ length: commandsAtOnce }, (_, at) => worker(env, seed + 1000 * index + at)),
    ),
  )
  return count
}

function measure(envs: readonly Environment[]) {
  collectGarbage()
  return {
    agents: envs.map((env) => measureAgent(agentPid(home, env))),
    heapBytes: process.memoryUsage().heapUsed,
    fds: readdirSync('/proc/self/fd').length,
  }
}

function measureAgent(pid: number) {
  const rssBytes = Number.parseInt(statusField(pid, 'VmRSS'), 10) * 1024
  return { rssBytes, fds: readdirSync(`/proc/${pid}/fd`).length }
}
