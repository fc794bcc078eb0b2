import type { FileChange } from '../../../../model/file-change.ts'

/** What tells one file's content from another's: equal keys, equal content. */
export type ContentKey = (side: 'a' | 'b', path: string) => string | null

/**
 * Turns a deletion and an addition of the same content into a rename, where there is exactly one of
 * each: of two equal candidates nobody can say which one moved. Empty files are all equal.
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

/** Of larger files the content is not read: a sandbox may make files of terabytes, of holes alone. */
const mostBytes = 256 * 1024 ** 2

/** Only files of a size that occurs on both sides can be the same. */
export function renameCandidates(changes: readonly FileChange[]): { a: string[]; b: string[] } {
  const isReadable = ({ before, after }: FileChange) =>
    ((before ?? after)?.sizeBytes ?? 0) <= mostBytes
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

/** The changes by key; null where several have the same. */
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
