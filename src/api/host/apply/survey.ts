import { BackendError } from '../../../model/errors.ts'
import type { FileChange } from '../../../model/files/file-change.ts'
import { quote } from '../../../model/text/quote.ts'
import type { Selects } from '../selection/selection.ts'
import type { ApplyConflict, ConflictReason, DecidedChange, Decision, Placed } from './plan.ts'
import type { ChangeSource } from './source.ts'
import type { TargetDirectory, TargetState } from './target-directory.ts'

/** A change, and what the target has in its place. */
type Found = Omit<Placed, 'content'>

/** The changes below the working directory, each with what the target has in its place. */
export async function placeChanges(
  source: ChangeSource,
  directory: TargetDirectory,
  selects: Selects = () => true,
): Promise<{ placed: Placed[]; leftOut: readonly string[]; path: string }> {
  const { workdir, changes, leftOut } = await source.changes()
  const prefix = workdir === '/' ? workdir : `${workdir}/`
  requireOrder(changes, prefix)
  const found: Found[] = []
  for (const change of changes) {
    const path = change.path.slice(prefix.length)
    if (!selects(path, (change.after ?? change.before)?.type ?? 'file')) continue
    found.push({ path, change, state: await directory.inspect(path) })
  }
  const compare = await comparison(source, found, directory)
  const placed = found.map((item) => ({ ...item, content: compare(item.change.path) }))
  return { placed, leftOut, path: workdir }
}

/** Steps are planned in the order of the changes, and undone in the opposite order. */
function requireOrder(changes: readonly FileChange[], prefix: string): void {
  let last = ''
  for (const { path } of changes) {
    if (path <= last || !path.startsWith(prefix)) {
      throw new BackendError(`the changes are out of order, at ${quote(path)}`, {
        remedy: 'try again; if it happens again, check the engine',
      })
    }
    last = path
  }
}

/** Only reads files of the target whose size matches one side: no others can be equal to it. */
async function comparison(
  source: ChangeSource,
  found: readonly Found[],
  directory: TargetDirectory,
): Promise<(path: string) => Placed['content']> {
  const sides = { before: sameSize(found, 'before'), after: sameSize(found, 'after') }
  const paths = { before: sides.before.map(pathInside), after: sides.after.map(pathInside) }
  const isNeeded = paths.before.length + paths.after.length > 0
  const digests = isNeeded ? await source.digests(paths, directory) : { before: [], after: [] }
  const known = {
    before: new Map(paths.before.map((path, at) => [path, digests.before[at]])),
    after: new Map(paths.after.map((path, at) => [path, digests.after[at]])),
  }
  const here = new Map<string, string | null>()
  for (const { path, change, state } of new Set([...sides.before, ...sides.after])) {
    if (state.state !== 'present') continue
    here.set(change.path, await directory.digest(path, state.sizeBytes))
  }
  return (path) => {
    const digest = here.get(path)
    if (digest === undefined || digest === null) return 'other'
    if (known.after.get(path) === digest) return 'after'
    return known.before.get(path) === digest ? 'before' : 'other'
  }
}

function sameSize(found: readonly Found[], side: 'before' | 'after'): Found[] {
  return found.filter(
    ({ change, state }) =>
      isFile(state) && change[side]?.type === 'file' && change[side].sizeBytes === state.sizeBytes,
  )
}

function isFile(state: TargetState): state is TargetState & { state: 'present' } {
  return state.state === 'present' && state.type === 'file'
}

function pathInside({ change }: Found): string {
  return change.path
}

const reasons = new Set<Decision>(['exists', 'changed', 'missing', 'blocked', 'unknown'])

/** Everything that prevents the changes, sorted by path. */
export async function findConflicts(
  directory: TargetDirectory,
  decided: readonly DecidedChange[],
): Promise<ApplyConflict[]> {
  const deleted = new Set(
    decided.filter(({ item }) => item.change.after === null).map(({ item }) => item.path),
  )
  const conflicts: ApplyConflict[] = []
  for (const { item, decision } of decided) {
    if (reasons.has(decision)) {
      conflicts.push({ path: item.path, reason: decision as ConflictReason })
    }
    if (decision !== 'apply' || !removesDirectory(item)) continue
    const paths = (await directory.children(item.path)).map((name) => `${item.path}/${name}`)
    const unknown = paths.filter((path) => !deleted.has(path))
    conflicts.push(...unknown.map((path) => ({ path, reason: 'unknown' as const })))
  }
  return conflicts.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0))
}

/** Whether a directory is deleted or replaced. */
function removesDirectory({ change: { before, after } }: Placed): boolean {
  return before?.type === 'directory' && after?.type !== 'directory'
}
