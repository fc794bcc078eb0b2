// What every backend promises, and what it must refuse. Plain functions with plain assertions, so that
// they also run outside the test runner, in a process that is not root.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Environment } from '../../../src/index.ts'
import type { Capability } from '../../../src/model/capabilities.ts'
import { UnsupportedError } from '../../../src/model/errors.ts'
import type { Subject } from '../subject.ts'

export interface BackendPromise {
  readonly title: string
  /** what it needs; a backend without one of these must refuse what `asks` does, and name it */
  readonly needs: readonly Capability[]
  keeps(subject: Subject): Promise<void>
  /** absent if there is nothing to ask of a backend without what it needs */
  asks?(subject: Subject): Promise<unknown>
}

/** Runs a promise the way that the backend's capabilities ask for. */
export async function check(
  promise: BackendPromise,
  subject: Subject,
): Promise<'kept' | 'refused' | 'lost'> {
  const missing = promise.needs.filter((need) => !subject.capabilities.has(need))
  if (missing.length === 0) {
    await promise.keeps(subject)
    return 'kept'
  }
  const { asks } = promise
  if (asks === undefined) return 'lost'
  await assert.rejects(asks(subject), (error) => {
    assert.ok(error instanceof UnsupportedError, String(error))
    assert.ok(missing.includes(error.capability), `${error.capability} is not ${missing}`)
    assert.ok(error.remedy, 'no remedy')
    return true
  })
  return 'refused'
}

/** The end of every promise: nothing is left of what it made. */
export async function expectNothingLeft(subject: Subject): Promise<void> {
  await subject.removeAll()
  assert.deepEqual(await subject.snapshots(), [])
  assert.deepEqual(await subject.remnants(), [])
}

export async function run(env: Environment, command: string): Promise<string> {
  const { exitCode, stdout, stderr } = await env.exec(command)
  assert.equal(exitCode, 0, `${command}: ${stderr}`)
  return stdout
}

export function at(env: Environment, name: string): string {
  return join(env.lastInfo.workdir, name)
}

const patienceMs = 30_000

/** Asks until the answer is yes. */
export async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (const end = performance.now() + patienceMs; !(await isSo()); await sleep(20)) {
    assert.ok(performance.now() < end, `in vain: ${what}`)
  }
}
