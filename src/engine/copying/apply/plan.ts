import type { FileChange, FileEntry } from '../../../model/file-change.ts'
import type { TargetState } from './target-directory.ts'

/** Why a change does not fit the target. */
export type ConflictReason =
  /** something else is where a file would be added */
  | 'exists'
  /** it differs from what the environment started with */
  | 'changed'
  /** it is gone, or the directory it would be in is */
  | 'missing'
  /** something on the way to it is no directory; symlinks are not followed */
  | 'blocked'
  /** it is in a directory that would be removed, and unknown to the environment */
  | 'unknown'

export interface ApplyConflict {
  /** below the target directory */
  readonly path: string
  readonly reason: ConflictReason
}

/** A change, with what is in its place in the target. */
export interface Placed {
  /** below the target directory */
  readonly path: string
  readonly change: FileChange
  readonly state: TargetState
  /** which side of the change a regular file in the target holds the content of */
  readonly content: 'before' | 'after' | 'other'
}

/**
 * `keep` and `away` save what is there under a number: a second name for what is replaced in one
 * step, the thing itself for what goes. `put` moves the new one in from under its number.
 */
export type Step =
  | { readonly do: 'keep' | 'away' | 'put'; readonly path: string; readonly slot: number }
  | {
      readonly do: 'chmod'
      readonly path: string
      readonly from: number
      readonly to: number
      /** of the entry: no other is given a mode that this one had */
      readonly inode: string
    }

export type Verdict = 'apply' | 'chmod' | 'done' | ConflictReason

/** A change and what to do about it. */
export interface Judged {
  readonly item: Placed
  readonly verdict: Verdict
}

/** What to do about each change; sorted by path, so that directories come before what is in them. */
export function judgeAll(placed: readonly Placed[]): Judged[] {
  const above = new Map<string, Judged>()
  return placed.map((item) => {
    const alone = judge(item)
    const isOut = item.state.state === 'lost' || item.state.state === 'blocked'
    const verdict = isOut ? settle(item, alone, above) : alone
    const judged = { item, verdict }
    above.set(item.path, judged)
    return judged
  })
}

/** A path that leads nowhere in the target is as the nearest directory above it will be. */
function settle(
  { path, change: { before, after } }: Placed,
  alone: Verdict,
  above: ReadonlyMap<string, Judged>,
): Verdict {
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
    const judged = above.get(path.slice(0, end))
    if (!judged) continue
    const { item, verdict } = judged
    if (verdict === 'apply' && item.change.after?.type === 'directory') {
      return after === null ? 'done' : before === null ? 'apply' : 'missing'
    }
    // The target has replaced a directory just as the environment has: nothing of it is left.
    if (verdict === 'done' && after === null) return 'done'
    break
  }
  return alone
}

/** What to do about one change. Ids inside are not the host's: owners are left alone. */
function judge({ change, state, content }: Placed): Verdict {
  const { before, after } = change
  if (change.kind === 'owner') return 'done'
  if (state.state === 'blocked') return 'blocked'
  if (state.state === 'lost') return after === null ? 'done' : 'missing'
  if (state.state === 'absent')
    return after === null ? 'done' : before === null ? 'apply' : 'missing'
  if (change.kind === 'mode')
    return state.type === after?.type ? modeVerdict(change, state) : 'changed'
  if (after && isThere(after, state, content, 'after')) {
    return before?.type === after.type ? modeVerdict(change, state) : 'done'
  }
  if (before === null) return 'exists'
  return isThere(before, state, content, 'before') ? 'apply' : 'changed'
}

function modeVerdict({ before, after }: FileChange, state: TargetState): Verdict {
  const wanted = after && outsideMode(after)
  const isWanted = before?.mode !== after?.mode && after?.type !== 'symlink'
  return isWanted && state.state === 'present' && state.mode !== wanted ? 'chmod' : 'done'
}

/** A file from inside gives nobody its owner's rights. */
export function outsideMode(entry: FileEntry): number {
  return entry.mode & 0o1777
}

function isThere(
  entry: FileEntry,
  state: TargetState & { state: 'present' },
  content: Placed['content'],
  side: 'before' | 'after',
): boolean {
  if (state.type !== entry.type) return false
  if (entry.type === 'file') return content === side
  return entry.type !== 'symlink' || state.target === entry.target
}

/** Steps in an order that works, and such that undoing them backwards works too. */
export function planSteps(judged: readonly Judged[]): Step[] {
  const away: Step[] = []
  const put: Step[] = []
  const chmod: Step[] = []
  judged.forEach(({ item: { path, change, state }, verdict }, slot) => {
    const { before, after } = change
    if (verdict === 'chmod' && after && state.state === 'present') {
      const { mode: from, inode } = state
      chmod.push({ do: 'chmod', path, from, to: outsideMode(after), inode })
    }
    if (verdict !== 'apply') return
    const inOneStep = before && after && before.type !== 'directory' && after.type !== 'directory'
    if (inOneStep) put.push({ do: 'keep', path, slot })
    else if (before) away.push({ do: 'away', path, slot })
    if (after) put.push({ do: 'put', path, slot })
  })
  // Sorted by path, a directory comes before what is in it: emptied from the end, filled from the
  // beginning. Modes come last, because they may take away the right to write.
  return [...away.reverse(), ...put, ...chmod]
}
