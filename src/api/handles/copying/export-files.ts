import { InvalidInputError, ResourceError } from '../../../model/errors.ts'
import type { CopyProgress, CopyReport } from '../../../model/files/copy-report.ts'
import type { InsideEntry } from '../../../model/files/file-change.ts'
import type { EnvironmentId, SnapshotId } from '../../../model/ids.ts'
import type { CallOptions } from '../../control.ts'
import { exportArchive } from '../../host/export.ts'
import type { Selects } from '../../host/selection/selection.ts'
import { checked, type Given, options as optionsOf } from '../../inputs/checked.ts'
import { paths } from '../../inputs/environment-inputs.ts'
import { absolutePath, path as anyPath, callback, oneOf, signal } from '../../inputs/values.ts'
import type { Handles } from '../handles.ts'
import { type Directory, directoryOf, leavingOut, selectionOf } from './leaving-out.ts'

/** How much there is to copy. */
export interface CopyAmount {
  /** the directory inside; null: several paths */
  readonly path: string | null
  readonly entries: number
  readonly bytes: number
}

const exportInput = optionsOf({
  /** the directory inside that is copied; absent: the current directory of the shell `main` */
  path: absolutePath,
  /** paths inside instead, which keep their whole path below the new directory */
  paths,
  ...leavingOut,
  /** `caller` (default): the files belong to the caller. `keep`: they keep their ids from inside */
  owner: oneOf('caller', 'keep'),
  /** told how much there is, before anything is copied; null: too much to count */
  onMeasured: callback<(amount: CopyAmount | null) => void>(),
  onProgress: callback<(progress: CopyProgress) => void>(),
  signal,
})

export type ExportOptions = Given<typeof exportInput>

/** Copies files into a new directory on the caller's machine. */
export async function exportTo(
  handles: Handles,
  of: EnvironmentId | SnapshotId,
  dir: string,
  given: ExportOptions,
  currentDirectory: () => Promise<string>,
): Promise<CopyReport> {
  const { signal, path, paths, onMeasured, ...options } = checked('export', exportInput, given)
  const target = checked('export', anyPath, dir)
  const { control } = handles
  const call = { signal }
  if (paths !== undefined) {
    requireWhole(given)
    onMeasured?.(await amountOf(null, () => control.call('files.entries', { of, paths }, call)))
    const archive = () => control.stream('files.archive', { of, paths }, call)
    return await exportArchive(archive, target, options)
  }
  const directory = directoryOf(control, of, path ?? (await currentDirectory()), call)
  const selects = await selectionOf(directory, options, call)
  onMeasured?.(await amountOf(directory, directory.entries, selects))
  return await exportArchive(() => archiveOf(directory, call), target, { ...options, selects })
}

function archiveOf({ control, of, path }: Directory, call: CallOptions) {
  return control.stream('files.archive', { of, path }, call)
}

/** Patterns are relative to one directory. */
function requireWhole({ path, exclude, gitignore }: ExportOptions): void {
  if (path === undefined && exclude === undefined && !gitignore) return
  throw new InvalidInputError('only one directory can be copied in part, not several paths', {
    remedy: 'name the directory alone',
  })
}

async function amountOf(
  directory: Directory | null,
  list: () => Promise<readonly InsideEntry[]>,
  selects: Selects = () => true,
): Promise<CopyAmount | null> {
  try {
    const path = directory?.path ?? null
    const top = path === null ? 0 : path === '/' ? 1 : path.length + 1
    const wanted = (await list()).filter((entry) => selects(entry.path.slice(top), entry.type))
    const bytes = wanted.reduce(
      (sum, { type, sizeBytes }) => sum + (type === 'file' ? sizeBytes : 0),
      0,
    )
    return { path, entries: wanted.length, bytes }
  } catch (error) {
    if (error instanceof ResourceError) return null
    throw error
  }
}
