import type { FileChange } from '../../../../../model/files/file-change.ts'

/** A key for the content of a file: equal keys mean equal content. */
export type ContentKey = (side: 'a' | 'b', path: string) => string | null

/**
 * Turns a deletion and an addition of the same content into a rename if there is exactly one of each:
 * nobody can say which of two equal files moved. Empty files are ignored, because all are equal.
 */
export function findRenames(changes: readonly FileChange[], key: ContentKey): FileChange[] {
  const deleted = uniqueBy(changes.filter(isDeletedFile), (path) => key('a', path))
  const added = uniqueBy(changes.filter(isAddedFile), (path) => key('b', path))
  const moved = new Map<FileChange, FileChange>()
  const gone = new Set<FileChange>()
  for (const [content, to] of added) {
    const from = deleted.get(content)
    if (!from || !to) continue
    moved.set(to, { ...to, kind: 'renamed', from: from.path, before: from.before, sizeDelta: 0 })
    gone.add(from)
  }
  return changes.filter((change) => !gone.has(change)).map((change) => moved.get(change) ?? change)
}

/** Larger files are not read: a sandbox can make sparse files of terabytes. */
const maxBytes = 256 * 1024 ** 2

/** Only files whose size occurs on both sides can be equal. */
export function renameCandidates(changes: readonly FileChange[]): { a: string[]; b: string[] } {
  const isReadable = ({ before, after }: FileChange) =>
    ((before ?? after)?.sizeBytes ?? 0) <= maxBytes
  const deleted = changes.filter(isDeletedFile).filter(isReadable)
  const added = changes.filter(isAddedFile).filter(isReadable)
  const sizes = (of: FileChange[]) =>
    new Set(of.map((change) => (change.before ?? change.after)?.sizeBytes))
  const [inDeleted, inAdded] = [sizes(deleted), sizes(added)]
  return {
    a: deleted.filter(({ before }) => inAdded.has(before?.sizeBytes)).map(({ path }) => path),
    b: added.filter(({ after }) => inDeleted.has(after?.sizeBytes)).map(({ path }) => path),
  }
}

/** The changes by key; null if several have the same key. */
function uniqueBy(
  changes: readonly FileChange[],
  key: (path: string) => string | null,
): Map<string, FileChange | null> {
  const found = new Map<string, FileChange | null>()
  for (const change of changes) {
    const content = key(change.path)
    if (content !== null) found.set(content, found.has(content) ? null : change)
  }
  return found
}

export function isDeletedFile({ kind, before }: FileChange): boolean {
  return kind === 'deleted' && before?.type === 'file' && before.sizeBytes > 0
}

export function isAddedFile({ kind, after }: FileChange): boolean {
  return kind === 'added' && after?.type === 'file' && after.sizeBytes > 0
}
