// The agent is inside, and root inside may do with it what it likes.
import { afterAll, describe, expect, test } from 'vitest'
import { TemporaryDirectory } from '../support/temporary-directory.ts'
import { TestHome } from '../support/test-home.ts'
import { agentPromises } from './catalogue/host-side.ts'
import { agentAttacks } from './support/agent-attacks.ts'
import { allRuns, environmentIn, nameOf } from './support/states.ts'

const home = new TestHome('agent-attacks', { 'spares.count': 0 })
const files = new TemporaryDirectory()
afterAll(async () => {
  files[Symbol.dispose]()
  await home[Symbol.asyncDispose]()
})

async function attack(name: string, run: (typeof allRuns)[number]): Promise<string[]> {
  const env = await environmentIn(home, run.state)
  const wrong = await agentAttacks[name]?.({ home, env, user: run.user, files })
  await env.remove().catch(() => {}) // what is left is found at the end
  return wrong === null ? [] : [`${nameOf(run)}: ${wrong ?? 'not tried'}`]
}

describe.each(agentPromises)('$promise', ({ attacks }) => {
  test.for(attacks)('%s', { timeout: 240_000 }, async (name, { task }) => {
    task.meta.attackRuns = allRuns.length
    // At the same time: some wait for the deadlines of the host.
    const wrong = await Promise.all(allRuns.map((run) => attack(name, run)))
    expect(wrong.flat(), `${name} came through`).toEqual([])
  })
})
