import type { FileChange } from '../inspect/changes/change-tree.ts'

/** One file that changed in at least one branch; null where it did not. */
export interface FileRow {
  readonly path: string
  readonly changes: readonly (FileChange | null)[]
}

/** What changed in several branches against the same node, by path. */
export function fileRows(branches: readonly (readonly FileChange[])[]): FileRow[] {
  const byPath = branches.map((changes) => new Map(changes.map((each) => [each.path, each])))
  const paths = new Set(branches.flatMap((changes) => changes.map(({ path }) => path)))
  return [...paths]
    .sort((a, b) => a.localeCompare(b))
    .map((path) => ({ path, changes: byPath.map((each) => each.get(path) ?? null) }))
}
