import type { InsideEntry } from '../../../model/files/file-change.ts'
import type { EnvironmentId, SnapshotId } from '../../../model/ids.ts'
import type { CallOptions, Control } from '../../control.ts'
import { readGitIgnores } from '../../host/selection/read-git-ignores.ts'
import { type Selects, selecting } from '../../host/selection/selection.ts'
import { list } from '../../inputs/checked.ts'
import { text, truth } from '../../inputs/values.ts'

const longestPattern = 4096

/** Options of what copies files out. */
export const leavingOut = {
  /** patterns as in .gitignore, relative to the directory that is copied */
  exclude: list('patterns', text(longestPattern), 1000),
  /** leaves out what the .gitignore files inside name */
  gitignore: truth,
}

export interface LeavingOut {
  readonly exclude?: readonly string[] | undefined
  readonly gitignore?: boolean | undefined
}

/** A directory inside, and what to ask about it. */
export interface Directory {
  readonly control: Control
  readonly of: EnvironmentId | SnapshotId
  readonly path: string
  /** everything in it, once somebody has asked */
  entries(): Promise<readonly InsideEntry[]>
}

export function directoryOf(
  control: Control,
  of: EnvironmentId | SnapshotId,
  given: string,
  call: CallOptions,
): Directory {
  const path = given.replace(/\/+$/, '') || '/'
  let entries: Promise<readonly InsideEntry[]> | null = null
  return {
    control,
    of,
    path,
    entries: () => {
      entries ??= control.call('files.entries', { of, paths: [path] }, call)
      return entries
    },
  }
}

/** What the options leave; undefined: everything. */
export async function selectionOf(
  directory: Directory,
  { exclude, gitignore }: LeavingOut,
  call: CallOptions,
): Promise<Selects | undefined> {
  if (exclude === undefined && !gitignore) return undefined
  const { control, of, path } = directory
  const archive = (paths: readonly string[]) => control.stream('files.archive', { of, paths }, call)
  const ignores = gitignore ? await readGitIgnores(path, await directory.entries(), archive) : null
  return selecting({ exclude, ignores })
}
