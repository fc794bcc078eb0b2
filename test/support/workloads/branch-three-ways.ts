import { expect } from 'vitest'
import type { CreateOptions, Environment, ScreenText } from '../../../src/index.ts'
import { noteWorkload } from '../evidence.ts'
import { TestHome } from '../test-home.ts'

/** A program, or several, whose state a snapshot has to carry. */
export interface Workload {
  /** what the environment is made with */
  readonly options?: CreateOptions
  /** the interactive terminals whose screens must look the same in every branch */
  readonly terminals?: readonly string[]
  /** starts it, and gives it a distinctive state */
  start(env: Environment): Promise<void>
  /** fails unless all of that state still exists; marks do not change the answer */
  check(env: Environment): Promise<void>
  /** puts a word into the state of what runs, as a user of it would */
  mark(env: Environment, word: string): Promise<void>
  /** the words that were marked, oldest first */
  marks(env: Environment): Promise<readonly string[]>
}

/**
 * Takes a workload's snapshot, forks it twice, and lets the original and both forks go their own
 * ways; then restores the original to a second snapshot.
 */
export async function branchThreeWays(workload: Workload): Promise<void> {
  await using home = new TestHome('workload')
  const fp = await home.open()
  const original = await fp.create(workload.options)
  await workload.start(original)
  await workload.check(original)
  const screens = await screensOf(workload, original)

  const base = await original.snapshot()
  const [left, right] = await base.fork(2)
  if (!left || !right) throw new Error('fewer than two forks')
  const branches = { original, left, right }
  for (const [branch, env] of Object.entries(branches)) {
    expect(await screensOf(workload, env), `screens of ${branch}`).toEqual(screens)
    await workload.check(env)
  }
  await goOwnWays(workload, branches)
  await rollBack(workload, original)
  noteWorkload()
}

/** After each mark every branch has its own and no other. */
async function goOwnWays(
  workload: Workload,
  branches: Readonly<Record<string, Environment>>,
): Promise<void> {
  const expected = new Map(Object.keys(branches).map((branch) => [branch, [] as string[]]))
  for (const [marked, env] of Object.entries(branches)) {
    await workload.mark(env, marked)
    expected.get(marked)?.push(marked)
    for (const [branch, other] of Object.entries(branches)) {
      await expectMarks(workload, other, expected.get(branch) ?? [], branch)
      await workload.check(other)
    }
  }
}

/** A second snapshot holds what the first did and the mark made since; later marks are lost. */
async function rollBack(workload: Workload, env: Environment): Promise<void> {
  const second = await env.snapshot()
  const screens = await screensOf(workload, env)
  await workload.mark(env, 'later')
  await expectMarks(workload, env, ['original', 'later'], 'the original after its second snapshot')
  await env.restore(second)
  expect(await screensOf(workload, env), 'screens after the restore').toEqual(screens)
  await workload.check(env)
  await expectMarks(workload, env, ['original'], 'the original after the restore')
  await workload.mark(env, 'again')
  await expectMarks(workload, env, ['original', 'again'], 'the original at the end')
  await workload.check(env)
}

/** What runs may need a moment to show a mark. */
async function expectMarks(
  workload: Workload,
  env: Environment,
  words: readonly string[],
  branch: string,
): Promise<void> {
  await expect
    .poll(() => workload.marks(env), {
      timeout: 60_000,
      interval: 50,
      message: `marks of ${branch}`,
    })
    .toEqual(words)
}

async function screensOf(workload: Workload, env: Environment): Promise<ScreenText[]> {
  return Promise.all((workload.terminals ?? []).map((name) => env.terminal(name).screen()))
}
