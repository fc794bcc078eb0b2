import type { Output } from 'forkpoint/client'

export type FileChange = Output<'files.diff'>['changes'][number]

/** A directory of what changed. Chains of directories with nothing else in them are one. */
export interface ChangeDirectory {
  readonly path: string
  readonly name: string
  readonly directories: readonly ChangeDirectory[]
  readonly changes: readonly FileChange[]
  /** how the directory itself changed; null: only what is in it */
  readonly own: FileChange | null
  /** of everything below it */
  readonly count: number
}

interface Growing {
  readonly path: string
  readonly name: string
  readonly inner: Map<string, Growing>
  readonly changes: FileChange[]
}

export function changeTree(changes: readonly FileChange[]): ChangeDirectory {
  const root: Growing = { path: '', name: '/', inner: new Map(), changes: [] }
  for (const change of changes) {
    const parts = change.path.split('/').filter(Boolean)
    let at = root
    for (const part of parts.slice(0, -1)) {
      const next = at.inner.get(part) ?? {
        path: `${at.path}/${part}`,
        name: part,
        inner: new Map(),
        changes: [],
      }
      at.inner.set(part, next)
      at = next
    }
    at.changes.push(change)
  }
  return settled(root, null)
}

function settled(growing: Growing, own: FileChange | null): ChangeDirectory {
  const { path, name, inner } = growing
  const directories = [...inner.values()]
    .map((each) =>
      settled(each, growing.changes.find((change) => change.path === each.path) ?? null),
    )
    .map(shortened)
    .sort((a, b) => a.name.localeCompare(b.name))
  const changes = growing.changes.filter((change) => !isDirectory(change, inner))
  const count = changes.length + directories.reduce((sum, each) => sum + each.count, 0)
  return { path, name, directories, changes, own, count }
}

/** Whether something below it changed, too. */
function isDirectory({ path }: FileChange, inner: Growing['inner']): boolean {
  return inner.has(path.slice(path.lastIndexOf('/') + 1))
}

function shortened(directory: ChangeDirectory): ChangeDirectory {
  const [only, ...others] = directory.directories
  const hasMore = others.length > 0 || directory.changes.length > 0
  if (only === undefined || hasMore || directory.own !== null || only.own !== null) return directory
  return { ...only, name: `${directory.name}/${only.name}` }
}
