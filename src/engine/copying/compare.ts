import type { BackendFiles, ChangesOptions, CopyReport, View } from '../../backends/backend.ts'
import type { BackendName } from '../../model/environment.ts'
import { ConflictError, ResourceError, UnsupportedError } from '../../model/errors.ts'
import type { FileChange } from '../../model/file-change.ts'
import type { EnvironmentId, SnapshotId } from '../../model/ids.ts'
import type { Engine } from '../engine.ts'
import { checked } from '../inputs/checked.ts'
import { applyInput, diffInput, exportInput } from '../inputs/environment-inputs.ts'
import { path } from '../inputs/values.ts'
import { findReferent, type Referent } from '../reference.ts'
import { type ApplyOptions, type ApplyReport, applyChanges } from './apply.ts'
import { type ExportOptions, exportFiles } from './export.ts'

export interface DiffOptions extends Pick<ChangesOptions, 'paths'> {
  /** `text`: with the changed lines of text files; default: none */
  readonly patch?: 'none' | 'text'
}

/** What became of the files on the way from one to the other. */
export interface FilesDiff {
  readonly changes: readonly FileChange[]
  /** as `git apply` reads it; empty unless it was asked for */
  readonly patch: string
}

/** From `from` to `to`, read off the layers: what both have in common is not looked at. */
async function diffFiles(
  engine: Engine,
  from: Referent | 'before',
  to: Referent,
  options: DiffOptions = {},
): Promise<FilesDiff> {
  const target = sideOf(engine, to)
  const source = from === 'before' ? before(engine, to, target) : sideOf(engine, from)
  requireSame(source, target)
  const { files } = target
  const { paths, patch = 'none' } = options
  const changes = await files.changes(
    source.view,
    target.view,
    paths === undefined ? {} : { paths },
  )
  if (patch === 'none') return { changes, patch: '' }
  const texts: string[] = []
  let length = 0
  for (const change of changes) {
    const text = await files.patch(change, source.view, target.view)
    length += text.length
    if (length > longestPatch) throw patchTooLong()
    texts.push(text)
  }
  return { changes, patch: texts.join('') }
}

/** It is one text in memory, and those inside decide what is in it. */
const longestPatch = 128 * 1024 ** 2

function patchTooLong(): ResourceError {
  return new ResourceError(`the patch is longer than ${longestPatch >> 20} MiB`, {
    remedy: 'name paths inside to look at fewer, or diff without a patch',
  })
}

/** The same between two ids; without the second, what the first changed over where it came from. */
export async function diffBetween(
  engine: Engine,
  a: EnvironmentId | SnapshotId,
  b: EnvironmentId | SnapshotId | undefined,
  given: DiffOptions,
): Promise<FilesDiff> {
  const options = checked('diff', diffInput, given)
  const one = findReferent(engine.store, a)
  if (b === undefined) return diffFiles(engine, 'before', one, options)
  return diffFiles(engine, one, findReferent(engine.store, b), options)
}

export async function exportFrom(
  engine: Engine,
  id: EnvironmentId | SnapshotId,
  dir: string,
  given: ExportOptions,
): Promise<CopyReport> {
  const options = checked('export', exportInput, given)
  const from = findReferent(engine.store, id)
  const { files, view } = sideOf(engine, from)
  const target = checked('export', path, dir)
  return await exportFiles(files, { view, workdir: workdirOf(from) }, target, options)
}

/** All that was changed since it was made, onto a directory of the host. */
export async function applyFrom(
  engine: Engine,
  id: EnvironmentId,
  dir: string,
  given: ApplyOptions,
): Promise<ApplyReport> {
  const options = checked('apply', applyInput, given)
  const from = findReferent(engine.store, id)
  const { files, view } = sideOf(engine, from)
  const spec = { from: files.baseView(view), to: view, workdir: workdirOf(from) }
  return await applyChanges(engine.store, files, spec, checked('apply', path, dir), options)
}

interface Side {
  readonly backend: BackendName
  readonly files: BackendFiles
  readonly view: View
}

function sideOf(engine: Engine, { kind, record }: Referent): Side {
  const { backend } = record
  const { files } = engine.backend(backend)
  if (kind === 'snapshot') return { backend, files, view: files.snapshotView(record) }
  const { id, instance, head, name } = record
  if (instance !== null) return { backend, files, view: files.view(id, instance) }
  // One that was released is its head and nothing more.
  if (head !== null) {
    return { backend, files, view: files.snapshotView(engine.store.snapshots.resolve(head)) }
  }
  throw new ConflictError(`environment ${name ?? id} has no files yet`, { remedy: 'try again' })
}

/** The snapshot it goes on from; where there is none, what it was made from. */
function before(engine: Engine, { kind, record }: Referent, side: Side): Side {
  const base = kind === 'snapshot' ? record.parent : record.head
  if (base === null) return { ...side, view: side.files.baseView(side.view) }
  return sideOf(engine, { kind: 'snapshot', record: engine.store.snapshots.resolve(base) })
}

function requireSame(a: Side, b: Side): void {
  if (a.backend === b.backend) return
  throw new UnsupportedError(
    'filesystem',
    `files of the backends ${a.backend} and ${b.backend} cannot be compared`,
  )
}

function workdirOf(from: Referent): string {
  return from.kind === 'environment' ? from.record.workdir : from.record.origin.workdir
}
