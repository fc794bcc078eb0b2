import type { Screen } from '../cli.ts'
import type { Interrupts } from '../interrupts.ts'
import { clearLine } from '../render/layout/progress.ts'
import { say } from '../write.ts'

interface Words {
  /** at once, after Ctrl-C */
  readonly cancelling: string
  /** when it has not happened */
  readonly cancelled: string
  /** when it has happened all the same */
  readonly tooLate: string
}

/** Tells a user who presses Ctrl-C what that does now, and what it has done in the end. */
export async function cancelling<T>(
  { signal }: Pick<Interrupts, 'signal'>,
  stderr: Screen,
  words: Words,
  work: () => Promise<T>,
): Promise<T> {
  const tell = async (text: string) => {
    // A line that shows progress gives way.
    if (stderr.isTTY === true) stderr.write(clearLine)
    await say(stderr, `forkpoint: ${text}\n`)
  }
  const announce = () => void tell(words.cancelling).catch(() => {})
  signal.addEventListener('abort', announce, { once: true })
  try {
    const result = await work()
    if (signal.aborted) await tell(words.tooLate)
    return result
  } catch (error) {
    if (!signal.aborted) throw error
    await tell(words.cancelled)
    throw signal.reason
  } finally {
    signal.removeEventListener('abort', announce)
  }
}

export function snapshotWords(reference: string): Words {
  return {
    cancelling: `cancelling the snapshot of ${reference}; if its processes stand still for it right now, they continue first (Ctrl-C again leaves at once, and the next command cleans up)`,
    cancelled: `cancelled: ${reference} continues, and no snapshot was kept`,
    tooLate: `too late to cancel: the snapshot of ${reference} was complete`,
  }
}
