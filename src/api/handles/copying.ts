import type { CopyProgress, CopyReport } from '../../model/files/copy-report.ts'
import type { EnvironmentId, SnapshotId } from '../../model/ids.ts'
import type { ChangeSource } from '../host/apply/source.ts'
import { type ApplyReport, applyTo } from '../host/apply.ts'
import { exportArchive } from '../host/export.ts'
import { checked, type Given, options as optionsOf } from '../inputs/checked.ts'
import { paths } from '../inputs/environment-inputs.ts'
import { callback, oneOf, path, signal } from '../inputs/values.ts'
import type { Handles } from './handles.ts'

const onProgress = callback<(progress: CopyProgress) => void>()

const exportInput = optionsOf({
  /**
   * paths inside, which keep their whole path below the new directory; without any, the new
   * directory is a copy of the environment's working directory
   */
  paths,
  /** `caller` (default): the files belong to the caller. `keep`: they keep their ids from inside */
  owner: oneOf('caller', 'keep'),
  onProgress,
  signal,
})

const applyInput = optionsOf({
  /** `plan`: only reports what it would do */
  mode: oneOf('apply', 'plan'),
  onProgress,
  signal,
})

export type ExportOptions = Given<typeof exportInput>
export type ApplyOptions = Given<typeof applyInput>

/** Copies files into a new directory on the caller's machine. */
export async function exportTo(
  { control }: Handles,
  of: EnvironmentId | SnapshotId,
  dir: string,
  given: ExportOptions,
): Promise<CopyReport> {
  const { signal, paths, ...options } = checked('export', exportInput, given)
  const target = checked('export', path, dir)
  const input = paths === undefined ? { of } : { of, paths }
  const archive = () => control.stream('files.archive', input, { signal })
  return await exportArchive(archive, target, options)
}

/** Applies everything that an environment changed to a directory on the caller's machine. */
export async function applyOnto(
  { control, stateDir }: Handles,
  of: EnvironmentId,
  dir: string,
  given: ApplyOptions,
): Promise<ApplyReport> {
  const { signal, ...options } = checked('apply', applyInput, given)
  const target = checked('apply', path, dir)
  const source: ChangeSource = {
    changes: () => control.call('files.changes', { of }, { signal }),
    digests: (contents) => control.call('files.digests', { of, ...contents }, { signal }),
    archive: (paths) => control.stream('files.archive', { of, paths }, { signal }),
  }
  return await applyTo(target, source, { ...options, stateDir })
}
