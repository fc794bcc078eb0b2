import { randomInt } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Snapshot } from '../../src/api/handles/snapshot.ts'
import type { Environment } from '../../src/index.ts'
import { TestHome } from '../support/test-home.ts'
import { run } from '../support/workloads/run.ts'

const length = 100

/** Every step changes memory and one file in place, adds a file and deletes the one before. */
async function step(env: Environment, n: number): Promise<void> {
  await run(
    env,
    `n=${n}; sum=$((sum + n)); echo $n > current; echo ${n} >> all; touch step-$n; rm -f step-$((n - 1))`,
  )
}

async function expectStep(env: Environment, n: number): Promise<void> {
  const look = 'echo $n $sum $(cat current) $(wc -l < all) $(ls -d step-*) $(jobs -r | wc -l)'
  const sum = (n * (n + 1)) / 2
  expect(await run(env, look)).toBe(`${n} ${sum} ${n} ${n} step-${n} 1`)
}

test(`each of ${length} snapshots in a row restores what it holds`, {
  timeout: 180_000,
}, async () => {
  await using home = new TestHome('chain')
  const fp = await home.open()
  const env = await fp.create()
  await run(env, 'mkdir /root/work; cd /root/work; sum=0; sleep 1000 &')
  const chain: Snapshot[] = []
  for (let n = 1; n <= length; n += 1) {
    await step(env, n)
    chain.push(await env.snapshot())
  }
  for (const [index, snapshot] of chain.entries()) {
    expect(snapshot.parent).toBe(chain[index - 1]?.id ?? null)
  }
  const some = new Set([
    1,
    2,
    length - 1,
    length,
    ...Array.from({ length: 6 }, () => randomInt(3, length)),
  ])
  for (const n of some) {
    const snapshot = chain[n - 1]
    if (!snapshot) throw new Error(`no snapshot ${n}`)
    await env.restore(snapshot)
    await expectStep(env, n)
    const [fork] = await snapshot.fork(1)
    if (!fork) throw new Error('no fork')
    await expectStep(fork, n)
    await step(fork, n + 1)
    await expectStep(fork, n + 1)
    await expectStep(env, n)
    await fork.remove()
  }
})
