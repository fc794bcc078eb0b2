import type { Readable } from 'node:stream'
import type { BackendFiles, CopySpec, View } from '../../backends/backend.ts'
import type { EnvironmentId, SnapshotId } from '../../model/ids.ts'
import type { Engine } from '../engine.ts'
import { findReferent } from '../reference.ts'
import { sideOf, workdirOf } from './compare.ts'

export interface ArchiveRequest {
  readonly of: EnvironmentId | SnapshotId
  /**
   * paths inside, which keep their whole path in the archive; without any, the archive holds the
   * working directory
   */
  readonly paths?: readonly string[]
  /** a directory that the archive holds instead of the working directory */
  readonly path?: string
}

/** Files of an environment or snapshot as a tar archive that ends with a report. */
export async function archiveOf(engine: Engine, request: ArchiveRequest): Promise<Readable> {
  const from = findReferent(engine.store, request.of)
  const { files, view } = sideOf(engine, from)
  return archiveFiles(files, { view, workdir: request.path ?? workdirOf(from) }, request.paths)
}

export function archiveFiles(
  files: BackendFiles,
  { view, workdir }: { readonly view: View; readonly workdir: string },
  paths?: readonly string[],
): Readable {
  const specs = paths === undefined ? [{ from: workdir, to: '' }] : wholePaths(paths)
  return files.archive(view, specs)
}

/** Sorts the paths, which is faster to read, and drops those below another one in the list. */
function wholePaths(paths: readonly string[]): CopySpec[] {
  const kept = new Set<string>()
  const isKept = (key: string) => {
    for (let end = key.length; end > 0; end = key.lastIndexOf('\0', end - 1)) {
      if (kept.has(key.slice(0, end))) return true
    }
    return kept.has('')
  }
  for (const key of paths.map(treeKey).sort()) if (!isKept(key)) kept.add(key)
  const from = new Map(paths.map((path) => [treeKey(path), path]))
  return [...kept].map((key) => ({ from: from.get(key) ?? '/', to: key.replaceAll('\0', '/') }))
}

/** NUL sorts before every character of a name, so the entries of a directory directly follow it. */
function treeKey(path: string): string {
  return path
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('\0')
}
