import type { Tools } from '../../../../../../linux/tools.ts'
import type { Log } from '../../../../../../model/log.ts'
import { temporaryCopy } from '../../../subvolumes/subvolumes.ts'
import type { NativeView } from '../../native-view.ts'
import { type SentCandidates, sentCandidates } from './sent-candidates.ts'

/** Asks a file system where two views differ, instead of reading everything in both. */
export interface Asking {
  /** up to this many entries, scanning is quicker */
  readonly quickEntries: number
  /** null: it cannot tell */
  compare(a: NativeView, b: NativeView): Promise<SentCandidates | null>
}

/** Measured: scanning this many takes about as long as asking, 20 ms. */
const quickEntries = 4000

export function askingBtrfs(tools: Tools, log: Log): Asking {
  return { quickEntries, compare: (a, b) => compare(tools, log, a, b) }
}

/**
 * How the subvolumes of two views differ; null if one of them has none, or if btrfs cannot tell. It only
 * compares subvolumes that nobody writes to, so one that is in use is copied first.
 */
async function compare(
  tools: Tools,
  log: Log,
  a: NativeView,
  b: NativeView,
): Promise<SentCandidates | null> {
  if (a.subvolume === undefined || b.subvolume === undefined) return null
  try {
    await using before = await readOnly(tools, a.subvolume)
    await using after = await readOnly(tools, b.subvolume)
    return await sentCandidates(before.path, after.path)
  } catch (err) {
    // Nothing is lost: scanning finds the same.
    log.debug({ err }, 'snapshots are compared by scanning them')
    return null
  }
}

async function readOnly(
  tools: Tools,
  { path, state }: NonNullable<NativeView['subvolume']>,
): Promise<AsyncDisposable & { readonly path: string }> {
  if (state === 'in-use') return await temporaryCopy(tools, path)
  return { path, [Symbol.asyncDispose]: async () => {} }
}
