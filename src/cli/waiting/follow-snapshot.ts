import type { RunningOperation } from '../../index.ts'
import type { EnvironmentId } from '../../model/ids.ts'
import type { Say } from '../render/layout/progress.ts'

/** Short snapshots are over before anybody would ask. */
const everyMs = 500

/** Says how much a snapshot of this environment has written, until it is disposed of. */
export function followSnapshot(
  environment: EnvironmentId,
  say: Say,
  doing: string,
  operations: () => Promise<readonly RunningOperation[]>,
): Disposable {
  let asks = false
  const look = async () => {
    if (asks) return
    asks = true
    // Only the progress is missing if nobody answers.
    const running = await operations().catch(() => [])
    asks = false
    const own = running.find((each) => each.environment === environment && each.kind === 'snapshot')
    const { writtenBytes = 0, mostBytes = null } = own ?? {}
    if (writtenBytes > 0)
      say(doing, { doneBytes: writtenBytes, totalBytes: mostBytes, atMost: true })
  }
  const timer = setInterval(() => void look(), everyMs)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
