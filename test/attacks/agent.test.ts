// The agent is inside, and root inside can do anything to it.
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest'
import { noteAttack } from '../support/evidence.ts'
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
  await env.remove().catch(() => {}) // leftovers are found at the end
  if (wrong === null) noteAttack()
  return wrong === null ? [] : [`${nameOf(run)}: ${wrong ?? 'not tried'}`]
}

/** These wait for an answer that never comes. */
const endless = new Set(['agent-stopped'])
afterEach(() => void vi.unstubAllEnvs())

describe.each(agentPromises)('$promise', ({ attacks }) => {
  test.for(attacks)('%s', { timeout: 240_000 }, async (name) => {
    if (endless.has(name)) vi.stubEnv('FORKPOINT_SECOND_MS', '250')
    // At the same time, because some wait for the host's deadlines.
    const wrong = await Promise.all(allRuns.map((run) => attack(name, run)))
    expect(wrong.flat(), `${name} came through`).toEqual([])
  })
})
