import type { Input } from '../../api/contract/contract.ts'
import type { FilesDiff } from '../../api/contract/data/files.ts'
import type { BackendFiles, View } from '../../backends/backend.ts'
import type { BackendName } from '../../model/environment.ts'
import { ConflictError, ResourceError, UnsupportedError } from '../../model/errors.ts'
import type { EnvironmentId, SnapshotId } from '../../model/ids.ts'
import { requireFacet } from '../capabilities.ts'
import type { Engine } from '../engine.ts'
import { findReferent, type Referent } from '../reference.ts'
import { withoutIdentity } from './identity-files.ts'

type DiffOptions = Pick<Input<'files.diff'>, 'paths' | 'patch' | 'all'>

/** Compares the layers of `from` and `to`, without reading those they have in common. */
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
  const { paths, patch = 'none', all = false } = options
  const wanted = paths === undefined ? {} : { paths }
  const found = await files.changes(source.view, target.view, wanted)
  const sides = { files, before: source.view, after: target.view }
  const changes = all ? found : await withoutIdentity(found, sides, paths)
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

/** The patch is one string in memory, and programs inside decide how long it gets. */
const longestPatch = 128 * 1024 ** 2

function patchTooLong(): ResourceError {
  return new ResourceError(`the patch is longer than ${longestPatch >> 20} MiB`, {
    remedy: 'name the paths to compare, or diff without a patch',
  })
}

/** Compares two ids; without the second, compares the first with what it came from. */
export async function diffBetween(
  engine: Engine,
  a: EnvironmentId | SnapshotId,
  b: EnvironmentId | SnapshotId | undefined,
  options: DiffOptions,
): Promise<FilesDiff> {
  const one = findReferent(engine.store, a)
  if (b === undefined) return diffFiles(engine, 'before', one, options)
  return diffFiles(engine, one, findReferent(engine.store, b), options)
}

interface Side {
  readonly backend: BackendName
  readonly files: BackendFiles
  readonly view: View
}

export function sideOf(engine: Engine, { kind, record }: Referent): Side {
  const { backend } = record
  const files = requireFacet(engine.backend(backend), 'files')
  if (kind === 'snapshot') return { backend, files, view: files.snapshotView(record) }
  const { id, instance, head, name } = record
  if (instance !== null) return { backend, files, view: files.view(id, instance) }
  // A released environment has nothing but its head.
  if (head !== null) {
    return { backend, files, view: files.snapshotView(engine.store.snapshots.resolve(head)) }
  }
  throw new ConflictError(`environment ${name ?? id} has no files yet`, {
    remedy: 'try again when it has been created',
  })
}

/** The snapshot that it continues from; without one, what it was made from. */
function before(engine: Engine, { kind, record }: Referent, side: Side): Side {
  const base = kind === 'snapshot' ? record.parent : record.head
  if (base === null) return { ...side, view: side.files.baseView(side.view) }
  return sideOf(engine, { kind: 'snapshot', record: engine.store.snapshots.resolve(base) })
}

function requireSame(a: Side, b: Side): void {
  if (a.backend === b.backend) return
  throw new UnsupportedError(
    'diff',
    `files of the backends ${a.backend} and ${b.backend} cannot be compared`,
    { remedy: 'compare environments and snapshots of the same backend' },
  )
}

export function workdirOf(from: Referent): string {
  return from.kind === 'environment' ? from.record.workdir : from.record.origin.workdir
}
