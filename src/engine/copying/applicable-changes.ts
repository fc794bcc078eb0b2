import type { BackendFiles, View } from '../../backends/backend.ts'
import type {
  ApplicableChanges,
  ContentDigests,
  ContentPaths,
} from '../../model/files/applicable-changes.ts'
import { isLocal } from '../../model/files/file-change.ts'
import type { EnvironmentId } from '../../model/ids.ts'
import type { Engine } from '../engine.ts'
import { findReferent } from '../reference.ts'
import { sideOf, workdirOf } from './compare.ts'

/** The files an environment was made from, and its files now. */
export interface Changed {
  readonly files: BackendFiles
  readonly from: View
  readonly to: View
  readonly workdir: string
}

/** Everything that changed below a directory, or else the working directory, since the environment was made. */
export async function changesFor(
  engine: Engine,
  { of, path }: { readonly of: EnvironmentId; readonly path?: string },
): Promise<ApplicableChanges> {
  const changed = changedOf(engine, of)
  return await listChanges(path === undefined ? changed : { ...changed, workdir: path })
}

/** Digests that show whether a directory elsewhere has one side of the changes. */
export async function digestsFor(
  engine: Engine,
  { of, ...paths }: ContentPaths & { readonly of: EnvironmentId },
): Promise<ContentDigests> {
  return await digestContents(changedOf(engine, of), paths)
}

function changedOf(engine: Engine, of: EnvironmentId): Changed {
  const referent = findReferent(engine.store, of)
  const { files, view } = sideOf(engine, referent)
  return { files, from: files.baseView(view), to: view, workdir: workdirOf(referent) }
}

export async function listChanges({
  files,
  from,
  to,
  workdir: given,
}: Changed): Promise<ApplicableChanges> {
  const workdir = given.replace(/\/+$/, '') || '/'
  const options = { paths: [workdir], deletions: 'listed', renames: 'ignored' } as const
  const all = await files.changes(from, to, options)
  const below = all.filter(({ path }) => path !== workdir)
  return {
    workdir,
    changes: below.filter((change) => !isLocal(change)),
    leftOut: below.filter(isLocal).map(({ path }) => path),
  }
}

export async function digestContents(
  { files, from, to }: Changed,
  paths: ContentPaths,
): Promise<ContentDigests> {
  const [before, after] = [
    await files.digests(from, paths.before),
    await files.digests(to, paths.after),
  ]
  return {
    before: paths.before.map((path) => before.get(path) ?? null),
    after: paths.after.map((path) => after.get(path) ?? null),
  }
}
