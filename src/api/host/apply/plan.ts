import type { ChangedFile, FileChange } from '../../../model/files/file-change.ts'
import type { TargetState } from './target-directory.ts'

/** Why a change conflicts with the target. */
export type ConflictReason =
  /** something else is in the place of a new file */
  | 'exists'
  /** it differs from what the environment started with */
  | 'changed'
  /** it no longer exists, or its directory does not */
  | 'missing'
  /** one of its parents is not a directory; symlinks are not followed */
  | 'blocked'
  /** it is in a directory that would be removed, and the environment does not know it */
  | 'unknown'

export interface ApplyConflict {
  /** relative to the target directory */
  readonly path: string
  readonly reason: ConflictReason
}

/** A change, with what the target has in its place. */
export interface Placed {
  /** relative to the target directory */
  readonly path: string
  readonly change: FileChange
  readonly state: TargetState
  /** which side of the change a regular file in the target is equal to */
  readonly content: 'before' | 'after' | 'other'
}

/**
 * `keep` and `away` save the existing entry under a number: `keep` as a second name of a file that is
 * replaced in one step, `away` by moving it. `put` moves the new entry into place.
 */
export type Step =
  | { readonly do: 'keep' | 'away' | 'put'; readonly path: string; readonly slot: number }
  | {
      readonly do: 'chmod'
      readonly path: string
      readonly from: number
      readonly to: number
      /** of the entry, so that no other entry gets its mode */
      readonly inode: string
    }

export type Decision = 'apply' | 'chmod' | 'done' | ConflictReason

/** A change and what to do about it. */
export interface DecidedChange {
  readonly item: Placed
  readonly decision: Decision
}

/** Decides about all changes. They must be sorted by path, so that directories come before their entries. */
export function decideAll(placed: readonly Placed[]): DecidedChange[] {
  const above = new Map<string, DecidedChange>()
  return placed.map((item) => {
    const alone = decide(item)
    const isUnreachable = item.state.state === 'lost' || item.state.state === 'blocked'
    const decision = isUnreachable ? decideFromParents(item, alone, above) : alone
    const decided = { item, decision }
    above.set(item.path, decided)
    return decided
  })
}

/** For a path that the target cannot reach, the decision follows from the nearest directory above it. */
function decideFromParents(
  { path, change: { before, after } }: Placed,
  alone: Decision,
  above: ReadonlyMap<string, DecidedChange>,
): Decision {
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
    const decided = above.get(path.slice(0, end))
    if (!decided) continue
    const { item, decision } = decided
    if (decision === 'apply' && item.change.after?.type === 'directory') {
      return after === null ? 'done' : before === null ? 'apply' : 'missing'
    }
    // The target has replaced the directory just as the environment has, so nothing of it is left.
    if (decision === 'done' && after === null) return 'done'
    break
  }
  return alone
}

/** Decides about one change. Leaves owners alone, because ids inside are not the host's. */
function decide({ change, state, content }: Placed): Decision {
  const { before, after } = change
  if (change.kind === 'owner') return 'done'
  if (state.state === 'blocked') return 'blocked'
  if (state.state === 'lost') return after === null ? 'done' : 'missing'
  if (state.state === 'absent') {
    return after === null ? 'done' : before === null ? 'apply' : 'missing'
  }
  if (change.kind === 'mode') {
    return state.type === after?.type ? decideMode(change, state) : 'changed'
  }
  if (after && isEqual(after, state, content, 'after')) {
    return before?.type === after.type ? decideMode(change, state) : 'done'
  }
  if (before === null) return 'exists'
  return isEqual(before, state, content, 'before') ? 'apply' : 'changed'
}

function decideMode({ before, after }: FileChange, state: TargetState): Decision {
  const wanted = after && outsideMode(after)
  const isWanted = before?.mode !== after?.mode && after?.type !== 'symlink'
  return isWanted && state.state === 'present' && state.mode !== wanted ? 'chmod' : 'done'
}

/** Drops set-id bits, so that a file from inside gives nobody its owner's rights. */
export function outsideMode(entry: ChangedFile): number {
  return entry.mode & 0o1777
}

function isEqual(
  entry: ChangedFile,
  state: TargetState & { state: 'present' },
  content: Placed['content'],
  side: 'before' | 'after',
): boolean {
  if (state.type !== entry.type) return false
  if (entry.type === 'file') return content === side
  return entry.type !== 'symlink' || state.target === entry.target
}

/** The steps in an order that works, and that can be undone backwards. */
export function planSteps(decided: readonly DecidedChange[]): Step[] {
  const away: Step[] = []
  const put: Step[] = []
  const chmod: Step[] = []
  decided.forEach(({ item: { path, change, state }, decision }, slot) => {
    const { before, after } = change
    if (decision === 'chmod' && after && state.state === 'present') {
      const { mode: from, inode } = state
      chmod.push({ do: 'chmod', path, from, to: outsideMode(after), inode })
    }
    if (decision !== 'apply') return
    const inOneStep = before && after && before.type !== 'directory' && after.type !== 'directory'
    if (inOneStep) put.push({ do: 'keep', path, slot })
    else if (before) away.push({ do: 'away', path, slot })
    if (after) put.push({ do: 'put', path, slot })
  })
  // Directories come before their entries: empty them from the end, fill them from the beginning. Modes
  // come last, because they may forbid writing.
  return [...away.reverse(), ...put, ...chmod]
}
