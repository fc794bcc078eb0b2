import type { FileChange } from '../../../../../model/files/file-change.ts'
import { coverOf } from '../cover.ts'

/** What was below a directory that is gone. */
export interface Vanished {
  readonly contents: number
  readonly bytes: number
}

/** The outermost directories that were deleted or replaced, and what they held. */
export function vanishedDirectories(changes: readonly FileChange[]): Map<string, Vanished> {
  const gone = coverOf(
    changes
      .filter(({ before, after }) => before?.type === 'directory' && after?.type !== 'directory')
      .map(({ path }) => path),
  )
  const held = new Map<string, Vanished>()
  for (const { path, before } of changes) {
    const root = gone(path)
    if (root === undefined || before === null) continue
    const { contents, bytes } = held.get(root) ?? { contents: 0, bytes: 0 }
    held.set(root, {
      contents: contents + (path === root ? 0 : 1),
      bytes: bytes + before.sizeBytes,
    })
  }
  return held
}

/** Omits deletions below a directory that is gone, and counts them in the directory. */
export function countVanished(
  changes: readonly FileChange[],
  vanished: ReadonlyMap<string, Vanished>,
): FileChange[] {
  if (vanished.size === 0) return [...changes]
  const cover = coverOf(vanished.keys())
  return changes.flatMap((change) => {
    const held = vanished.get(change.path)
    if (held) {
      const sizeDelta = (change.after?.sizeBytes ?? 0) - held.bytes
      return [{ ...change, contents: held.contents, sizeDelta }]
    }
    const isInside = cover(change.path) !== undefined
    return isInside && change.kind === 'deleted' ? [] : [change]
  })
}
