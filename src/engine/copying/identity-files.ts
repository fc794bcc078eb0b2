import type { BackendFiles, View } from '../../backends/backend.ts'
import type { FileChange } from '../../model/files/file-change.ts'

/** The files in which every environment finds its own name, and the lines that the agent writes there. */
const identityLines: ReadonlyMap<string, RegExp> = new Map([
  ['/etc/hostname', /^[A-Za-z0-9.-]{1,64}$/],
  ['/etc/machine-id', /^[0-9a-f]{32}$/],
  ['/etc/hosts', /^127\.0\.1\.1\s/],
])

interface Sides {
  readonly files: BackendFiles
  readonly before: View
  readonly after: View
}

/** The changes without those that only say who an environment is. Every fork has them. */
export async function withoutIdentity(
  changes: readonly FileChange[],
  { files, before, after }: Sides,
  named: readonly string[] = [],
): Promise<FileChange[]> {
  const kept: FileChange[] = []
  for (const change of changes) {
    const lines = named.includes(change.path) ? undefined : identityLines.get(change.path)
    const isOwn = lines !== undefined && isContent(change)
    if (isOwn && hasOnly(await files.patch(change, before, after), lines)) continue
    kept.push(change)
  }
  return kept
}

function isContent({ kind, before, after }: FileChange): boolean {
  const isFile = after?.type === 'file' && (before === null || before.type === 'file')
  return isFile && (kind === 'modified' || kind === 'added')
}

/** Whether a patch changes such lines and nothing else. */
function hasOnly(patch: string, own: RegExp): boolean {
  const [, ...hunks] = patch.split(/^(?=@@)/m)
  const lines = hunks.flatMap((hunk) => hunk.split('\n').slice(1))
  const changed = lines.filter((line) => /^[+-]/.test(line)).map((line) => line.slice(1))
  return changed.length > 0 && changed.every((line) => own.test(line))
}
