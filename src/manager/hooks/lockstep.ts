import { randomBytes } from 'node:crypto'
import type { Hook } from './hook.ts'
import { type HookFacts, runHook } from './run-hook.ts'

/** An operation on environments, as hooks see it. */
export interface Lockstep<T> {
  readonly facts: Omit<HookFacts, 'transaction'>
  readonly work: () => Promise<T>
  /** what is only known once it is done, such as the id of a new snapshot */
  readonly learned?: (result: T) => Partial<HookFacts>
  /** undoes the work if a hook cannot commit; absent: it cannot be undone */
  readonly undo?: (result: T) => Promise<void>
}

/**
 * Runs an operation and its hooks in two phases: all prepare, the operation happens, all commit. If
 * anything fails before the commits, every hook aborts and nothing has happened.
 */
export async function inLockstep<T>(hooks: readonly Hook[], step: Lockstep<T>): Promise<T> {
  if (hooks.length === 0) return await step.work()
  const facts: HookFacts = { ...step.facts, transaction: randomBytes(6).toString('hex') }
  await prepareAll(hooks, facts)
  let result: T
  try {
    result = await step.work()
  } catch (error) {
    throw await aborted(hooks, facts, error)
  }
  await commitAll(hooks, { ...facts, ...step.learned?.(result) }, () => step.undo?.(result))
  return result
}

async function prepareAll(hooks: readonly Hook[], facts: HookFacts): Promise<void> {
  for (const [index, hook] of hooks.entries()) {
    try {
      await runHook(hook, 'prepare', facts)
    } catch (error) {
      // The one that failed may have done a part of its work.
      throw await aborted(hooks.slice(0, index + 1), facts, error)
    }
  }
}

async function commitAll(
  hooks: readonly Hook[],
  facts: HookFacts,
  undo: () => Promise<void> | undefined,
): Promise<void> {
  for (const [index, hook] of hooks.entries()) {
    try {
      await runHook(hook, 'commit', facts)
    } catch (error) {
      const undone = undo()
      await undone
      // An operation that cannot be undone keeps what was committed for it.
      const going = undone === undefined ? hooks.slice(index) : hooks
      throw await aborted(going, facts, error)
    }
  }
}

/** Aborts in reverse order; returns the error, with those of aborts that failed, too. */
async function aborted(hooks: readonly Hook[], facts: HookFacts, error: unknown): Promise<unknown> {
  const failures: unknown[] = []
  for (const hook of hooks.toReversed()) {
    try {
      await runHook(hook, 'abort', facts)
    } catch (failure) {
      failures.push(failure)
    }
  }
  if (failures.length === 0) return error
  const message = error instanceof Error ? error.message : String(error)
  return new AggregateError([error, ...failures], `${message}, and not every hook could abort`)
}
