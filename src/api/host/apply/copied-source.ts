import type { ApplicableChanges, ContentPaths } from '../../../model/files/applicable-changes.ts'
import {
  type ChangedFile,
  type ChangeKind,
  type FileChange,
  type InsideEntry,
  isLocal,
} from '../../../model/files/file-change.ts'
import { asInside, type CopiedEntry, type CopiedTree, isUntouched } from './copied-tree.ts'
import type { ChangeSource } from './source.ts'
import type { TargetDirectory } from './target-directory.ts'

/** How the files inside are reached. */
export interface Inside {
  entries(): Promise<readonly InsideEntry[]>
  digests: ChangeSource['digests']
  archive: ChangeSource['archive']
}

/**
 * The changes to a directory that was copied in to `root`. They are counted from what the directory was like at
 * that time.
 */
export function copiedSource(root: string, copied: CopiedTree, inside: Inside): ChangeSource {
  const before = new Map(copied.entries.map((entry) => [placed(root, entry.path), entry]))
  return {
    changes: async () => changesSince(root, before, await inside.entries()),
    digests: async (paths, target) => ({
      before: await digestsBefore(root, before, paths, target),
      after: (await inside.digests({ before: [], after: paths.after }, target)).after,
    }),
    archive: inside.archive,
  }
}

function placed(root: string, path: string): string {
  if (path === '') return root
  return root === '/' ? `/${path}` : `${root}/${path}`
}

/** How the entries inside differ from those that were copied. */
export function changesSince(
  root: string,
  copied: ReadonlyMap<string, CopiedEntry>,
  entries: readonly InsideEntry[],
): ApplicableChanges {
  const after = new Map(entries.map((entry) => [entry.path, entry]))
  const paths = [...new Set([...copied.keys(), ...after.keys()])].filter((path) => path !== root)
  const changes = paths.sort().flatMap((path): FileChange[] => {
    const old = copied.get(path)
    return changeOf(path, old === undefined ? null : asInside(old), after.get(path) ?? null)
  })
  return {
    workdir: root,
    changes: changes.filter((change) => !isLocal(change)),
    leftOut: changes.filter(isLocal).map(({ path }) => path),
  }
}

function changeOf(
  path: string,
  before: ChangedFile | null,
  found: InsideEntry | null,
): FileChange[] {
  const { path: _path, ...entry } = found ?? { path: '' }
  const after = found === null ? null : (entry as ChangedFile)
  const kind = kindOf(before, after)
  const sizeDelta = (after?.sizeBytes ?? 0) - (before?.sizeBytes ?? 0)
  return kind === null ? [] : [{ path, kind, before, after, sizeDelta }]
}

function kindOf(before: ChangedFile | null, after: ChangedFile | null): ChangeKind | null {
  if (before === null) return 'added'
  if (after === null) return 'deleted'
  if (before.type !== after.type) return 'type'
  if (before.target !== after.target) return 'modified'
  if (before.type === 'file' && !hasSameStamp(before, after)) return 'modified'
  return before.mode === after.mode || before.type === 'symlink' ? null : 'mode'
}

/** `cp` keeps times. Like Git, we take a file of the same size and time for the same: nobody else loses by it. */
function hasSameStamp(before: ChangedFile, after: ChangedFile): boolean {
  const apartMs = Math.abs(before.mtimeMs - after.mtimeMs)
  return before.sizeBytes === after.sizeBytes && apartMs < 0.002
}

/** What the target still has untouched is what was copied. */
async function digestsBefore(
  root: string,
  copied: ReadonlyMap<string, CopiedEntry>,
  { before }: ContentPaths,
  target: TargetDirectory,
): Promise<(string | null)[]> {
  const digests: (string | null)[] = []
  for (const path of before) {
    const entry = copied.get(path)
    const relative = path.slice(placed(root, 'x').length - 1)
    const isSame = entry !== undefined && isUntouched(entry, await target.inspect(relative))
    digests.push(isSame ? await target.digest(relative, entry.sizeBytes) : null)
  }
  return digests
}
