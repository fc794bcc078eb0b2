import { chmod, chown, lchown, mkdir } from 'node:fs/promises'
import { holdEntry } from '../../agent/files/host-path.ts'
import type { BackendFiles, View } from '../../backends/backend.ts'
import { killPoint } from '../../linux/kill-points.ts'
import { ConflictError } from '../../model/errors.ts'
import type { FileChange } from '../../model/file-change.ts'
import { quote } from '../../model/quote.ts'
import type { Operation } from '../../store/journal.ts'
import { hostFailure } from './apply/host-failure.ts'
import {
  type ApplyConflict,
  type Judged,
  judgeAll,
  outsideMode,
  type Placed,
  planSteps,
  type Step,
} from './apply/plan.ts'
import { planPath, removePlan, savePlan } from './apply/plan-file.ts'
import { type ApplyStore, leaseOf, NotPutBackError, recoverTarget, undo } from './apply/recover.ts'
import { newStagingName, removeStaging, Staging, takeSteps } from './apply/staging.ts'
import { findConflicts, placeChanges } from './apply/survey.ts'
import { requireNoRootLinks, TargetDirectory, typeOf } from './apply/target-directory.ts'

export interface ApplySpec {
  /** what the environment came from */
  readonly from: View
  readonly to: View
  /** the directory inside that stands for the target */
  readonly workdir: string
}

export interface ApplyOptions {
  /** `plan`: only says what would be done */
  readonly mode?: 'apply' | 'plan'
}

export interface ApplyReport {
  /** what was done, or would be; what the target has already is not among it */
  readonly changes: readonly FileChange[]
  /** none where it was done */
  readonly conflicts: readonly ApplyConflict[]
  /** paths inside of devices, sockets and pipes, which mean nothing outside */
  readonly leftOut: readonly string[]
}

/**
 * Makes the changes between two views in a directory of the host. If one of them does not fit what
 * is there, or anything fails, none is made.
 */
export async function applyChanges(
  store: ApplyStore,
  files: BackendFiles,
  spec: ApplySpec,
  target: string,
  options: ApplyOptions = {},
): Promise<ApplyReport> {
  await using directory = await TargetDirectory.open(target)
  await using _lease = await store.leases.acquire(leaseOf(directory.identity), 'apply')
  try {
    await recoverTarget(store, directory)
    const { placed, leftOut } = await placeChanges(files, spec, directory)
    const judged = judgeAll(placed)
    const conflicts = await findConflicts(directory, judged)
    const due = judged.filter(({ verdict }) => verdict === 'apply' || verdict === 'chmod')
    const report = { changes: due.map(({ item }) => item.change), conflicts, leftOut }
    if (options.mode === 'plan') return report
    if (conflicts.length > 0) throw refusal(target, conflicts)
    if (due.length > 0) await make(store, files, spec.to, directory, due)
    return report
  } catch (error) {
    throw hostFailure(`cannot apply changes to ${quote(target)}`, error)
  }
}

/** Written down before anything is made: what a killed process leaves is found through the journal. */
async function make(
  store: ApplyStore,
  files: BackendFiles,
  view: View,
  directory: TargetDirectory,
  due: readonly Judged[],
): Promise<void> {
  const links = due.filter(({ item }) => item.change.after?.type === 'symlink')
  await requireNoRootLinks(
    directory,
    links.map(({ item }) => item.path),
  )
  const name = newStagingName()
  const facts = { target: directory.path, staging: name, ...directory.identity }
  const operation = store.journal.begin('apply', null, facts)
  killPoint('apply:begun')
  try {
    await using staging = await Staging.make(directory, name)
    await stage(files, view, staging, due)
    killPoint('apply:staged')
    await run(store, operation, staging, planSteps(due))
  } catch (error) {
    if (!(error instanceof NotPutBackError)) {
      await removePlan(store.home, operation.id)
      await removeStaging(directory, name)
      store.journal.fail(operation, error)
    }
    throw error
  }
  await removeStaging(directory, name)
  store.journal.finish(operation)
}

/** Takes all steps, or none: whatever fails, what was done is undone. */
async function run(
  store: ApplyStore,
  { id }: Operation,
  staging: Staging,
  steps: readonly Step[],
): Promise<void> {
  const { target, inode } = staging
  await savePlan(store.home, id, {
    inodes: { target: target.identity.inode, staging: inode },
    steps,
  })
  killPoint('apply:planned')
  try {
    await takeSteps(staging, steps)
  } catch (error) {
    await undo(staging, steps, planPath(store.home, id))
    throw error
  }
  await removePlan(store.home, id)
  killPoint('apply:done')
}

/** Puts everything that is to come beside the target's files, complete with mode and owner. */
async function stage(
  files: BackendFiles,
  view: View,
  staging: Staging,
  due: readonly Judged[],
): Promise<void> {
  const { owner } = staging.target
  const coming = due.map(({ item, verdict }, slot) => ({ item, slot, verdict }))
  const made = coming.filter(({ item, verdict }) => verdict === 'apply' && item.change.after)
  const copied = made.filter(({ item }) => item.change.after?.type !== 'directory')
  const specs = copied.map(({ item, slot }) => ({ from: item.change.path, to: String(slot) }))
  await files.copyOut(view, staging.newDirectory, specs, { owner })
  for (const { item, slot } of made) await dress(staging.place('new', slot), item, owner)
}

/**
 * A file that is replaced keeps its owner, and its mode unless the environment changed it; never its
 * set-id bits, which were given to another content.
 */
async function dress(
  place: Buffer,
  { change: { path, before, after }, state }: Placed,
  owner: { readonly uid: number; readonly gid: number },
): Promise<void> {
  if (after?.type === 'directory') {
    await mkdir(place)
    await chmod(place, outsideMode(after))
    await chown(place, owner.uid, owner.gid)
  }
  await using entry = await holdEntry(place)
  // A running environment may have put something else there; a mode would go through a symlink.
  if (typeOf(await entry.stat()) !== after?.type) throw changedMeanwhile(path)
  if (state.state !== 'present' || before?.type !== after.type) return
  await lchown(place, state.uid, state.gid)
  if (after.type === 'file' && before.mode === after.mode) {
    await chmod(`/proc/self/fd/${entry.fd}`, state.mode & 0o1777)
  }
}

function changedMeanwhile(path: string): ConflictError {
  return new ConflictError(`${quote(path)} changed inside while it was copied`, {
    remedy: 'try again; pause the environment if it keeps changing',
  })
}

function refusal(target: string, conflicts: readonly ApplyConflict[]): ConflictError {
  const [first] = conflicts
  const more = conflicts.length > 1 ? ` and ${conflicts.length - 1} more` : ''
  return new ConflictError(
    `${quote(target)} does not fit the changes: ${quote(first?.path)} (${first?.reason})${more}`,
    {
      remedy: 'see all with --dry-run; move these files away, or export to a new directory',
      detail: { conflicts: conflicts.map((conflict) => ({ ...conflict })) },
    },
  )
}
