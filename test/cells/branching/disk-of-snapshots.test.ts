// The disk of a long-lived agent: a snapshot can be removed while its environment lives on, and what only it
// needed is given back.
import { execFileSync } from 'node:child_process'
import { afterAll, expect, test } from 'vitest'
import type { Snapshot } from '../../../src/index.ts'
import { ask, asking, startRewriting } from '../../support/rewriting-program.ts'
import { TestHome } from '../../support/test-home.ts'

const home = new TestHome('disk', { volume: 'btrfs' })
afterAll(() => home[Symbol.asyncDispose]())

/** What the memory of all snapshots takes up, each file once. */
function takenMiB(): number {
  const out = execFileSync('du', ['-s', '-BM', `${home.path}/data/snapshots`], { encoding: 'utf8' })
  return Number.parseInt(out, 10)
}

test('snapshots of a process that rewrites its memory can be removed one by one', async () => {
  await using fp = await home.open()
  const env = await fp.create()
  await startRewriting(env, 64)
  const taken: { readonly snapshot: Snapshot; readonly sum: string }[] = []
  for (let at = 0; at < 5; at += 1) {
    const sum = await ask(env, at === 0 ? 'sum' : `rewrite ${at}`)
    taken.push({ snapshot: await env.snapshot(), sum })
  }
  const before = takenMiB()
  expect(before).toBeGreaterThan(5 * 60)

  const [first, second, third, fourth, last] = taken
  if (!first || !second || !third || !fourth || !last) throw new Error('there are five')
  for (const { snapshot } of [second, first, fourth]) await snapshot.remove()
  expect((await third.snapshot.info()).parent).toBe(null)
  expect((await last.snapshot.info()).parent).toBe(third.snapshot.id)
  // Each of the two rewrote nearly everything; what they inherit of the others is a few pages in twenty.
  expect(takenMiB()).toBeLessThan(2 * 64 + 40)

  for (const { snapshot, sum } of [third, last]) {
    const [copy] = await snapshot.fork(1)
    expect(await copy?.exec(asking('sum'))).toMatchObject({ stdout: sum })
    await copy?.remove()
    await env.restore(snapshot)
    expect(await ask(env, 'sum')).toBe(sum)
  }

  const { remove, kept } = await fp.prune({ keepLast: 1 })
  expect(remove).toEqual([third.snapshot.id])
  expect(kept).toMatchObject([{ id: last.snapshot.id, reason: { kind: 'head' } }])
  expect(await ask(env, 'sum')).toBe(last.sum)
  const next = await env.snapshot()
  const sum = await ask(env, 'sum')
  await env.remove()
  const [copy] = await next.fork(1)
  expect(await copy?.exec(asking('sum'))).toMatchObject({ stdout: sum })
  await copy?.remove()
})
