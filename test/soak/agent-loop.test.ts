import { expect, test } from 'vitest'
import { Random } from '../fuzz/random.ts'
import { TestHome } from '../support/test-home.ts'
import { AgentLoop } from './agent-loop.ts'
import { loopSeconds } from './soak-length.ts'

const seed = Number(process.env.FORKPOINT_SOAK_SEED ?? Date.now() % 1_000_000)

test(`an agent's loop of ${loopSeconds} s loses no byte (seed ${seed})`, {
  timeout: (loopSeconds + 120) * 1_000,
}, async () => {
  await using home = new TestHome('loop')
  const fp = await home.open()
  const env = await fp.create()
  const loop = await AgentLoop.start(env, new Random(seed))
  const deadline = Date.now() + loopSeconds * 1_000
  while (Date.now() < deadline) await loop.turn()
  const { done } = loop
  console.log(
    `soak: ${done.steps.length} steps, ${done.snapshots} snapshots (${done.underWork} during a build), ${done.forks} forks, ${done.restores} restores`,
  )
  expect(done.snapshots).toBeGreaterThan(0)
})
