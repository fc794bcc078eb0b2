import type { BackendFiles, View } from '../../../backends/backend.ts'
import type { FileChange } from '../../../model/file-change.ts'
import type { ApplyConflict, ConflictReason, Judged, Placed, Verdict } from './plan.ts'
import type { TargetDirectory, TargetState } from './target-directory.ts'

interface Spec {
  readonly from: View
  readonly to: View
  readonly workdir: string
}

const withoutMeaning = new Set(['character-device', 'block-device', 'socket', 'fifo'])

/** The changes below the working directory, each with what the target has in its place. */
export async function placeChanges(
  files: BackendFiles,
  { from, to, workdir: given }: Spec,
  directory: TargetDirectory,
): Promise<{ placed: Placed[]; leftOut: string[] }> {
  const workdir = given.replace(/\/+$/, '') || '/'
  const all = await files.changes(from, to, {
    ...{ paths: [workdir], deletions: 'listed', renames: 'ignored' },
  })
  const below = all.filter(({ path }) => path !== workdir)
  const isForeign = ({ after }: FileChange) => after !== null && withoutMeaning.has(after.type)
  const prefix = workdir === '/' ? 1 : workdir.length + 1
  const states: { path: string; change: FileChange; state: TargetState }[] = []
  for (const change of below.filter((each) => !isForeign(each))) {
    const path = change.path.slice(prefix)
    states.push({ path, change, state: await directory.inspect(path) })
  }
  const compare = await comparison(files, { from, to }, states, directory)
  return {
    placed: states.map((item) => ({ ...item, content: compare(item.change.path) })),
    leftOut: below.filter(isForeign).map(({ path }) => path),
  }
}

/** Only files of the target that have the size of one side can be equal to it. */
async function comparison(
  files: BackendFiles,
  { from, to }: Pick<Spec, 'from' | 'to'>,
  states: readonly { path: string; change: FileChange; state: TargetState }[],
  directory: TargetDirectory,
): Promise<(path: string) => Placed['content']> {
  const like = (side: 'before' | 'after') =>
    states.filter(
      ({ change, state }) =>
        state.state === 'present' &&
        state.type === 'file' &&
        change[side]?.type === 'file' &&
        change[side].sizeBytes === state.sizeBytes,
    )
  const sides = { before: like('before'), after: like('after') }
  const paths = (side: 'before' | 'after') => sides[side].map(({ change }) => change.path)
  const known = {
    before: await files.digests(from, paths('before')),
    after: await files.digests(to, paths('after')),
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

const reasons = new Set<Verdict>(['exists', 'changed', 'missing', 'blocked', 'unknown'])

/** All that keeps the changes from being made, sorted by path. */
export async function findConflicts(
  directory: TargetDirectory,
  judged: readonly Judged[],
): Promise<ApplyConflict[]> {
  const deleted = new Set(
    judged.filter(({ item }) => item.change.after === null).map(({ item }) => item.path),
  )
  const conflicts: ApplyConflict[] = []
  for (const { item, verdict } of judged) {
    if (reasons.has(verdict)) {
      conflicts.push({ path: item.path, reason: verdict as ConflictReason })
    }
    if (verdict !== 'apply' || !goes(item)) continue
    const paths = (await directory.children(item.path)).map((name) => `${item.path}/${name}`)
    const unknown = paths.filter((path) => !deleted.has(path))
    conflicts.push(...unknown.map((path) => ({ path, reason: 'unknown' as const })))
  }
  return conflicts.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0))
}

/** A directory that is to make way. */
function goes({ change: { before, after } }: Placed): boolean {
  return before?.type === 'directory' && after?.type !== 'directory'
}
