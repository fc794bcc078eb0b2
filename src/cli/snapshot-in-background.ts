import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Environment, Forkpoint, Snapshot, SnapshotInfo } from '../index.ts'
import { BackendError } from '../model/errors.ts'

const lookEveryMs = 10

/**
 * Starts another process that takes the snapshot. Resolves as soon as that process has begun, while the
 * snapshot is still being written.
 */
export async function snapshotInBackground(
  forkpoint: Forkpoint,
  environment: Environment,
): Promise<SnapshotInfo> {
  const since = Date.now()
  const child = sameWithout('--no-wait')
  const state = { ended: false }
  const failure = failureOf(child).finally(() => {
    state.ended = true
  })
  for (;;) {
    // Read before the look: the snapshot may have begun between the two.
    const hadEnded = state.ended
    const begun = await takenBy(child, forkpoint, environment, since)
    if (begun !== undefined) {
      leave(child)
      return begun.lastInfo
    }
    if (hadEnded) throw await failure
    await sleep(lookEveryMs)
  }
}

/** Other processes may be taking snapshots of the same environment. */
async function takenBy(
  { pid }: ChildProcess,
  forkpoint: Forkpoint,
  environment: Environment,
  since: number,
): Promise<Snapshot | undefined> {
  const log = await environment.log()
  const own = log.findLast((entry) => entry.pid === pid && entry.startedAt >= since)
  if (!own?.snapshot) return undefined
  const taken = await forkpoint.snapshots({ environment: environment.id })
  return taken.find(({ id }) => id === own.snapshot)
}

function sameWithout(flag: string): ChildProcess {
  const words = process.argv.slice(1).filter((word) => word !== flag)
  return spawn(process.execPath, [...process.execArgv, ...words, '--json'], {
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  })
}

/** What went wrong, as that process reported it. */
async function failureOf(child: ChildProcess): Promise<Error> {
  const [said] = await Promise.all([child.stdout ? text(child.stdout) : '', once(child, 'exit')])
  const message = /"message": "(.*)"/.exec(said)?.[1] ?? 'no reason given'
  return new BackendError(`the snapshot could not be taken: ${message}`, {
    remedy: 'run it without --no-wait to see the whole error',
  })
}

function leave(child: ChildProcess): void {
  child.stdout?.destroy()
  child.unref()
}
