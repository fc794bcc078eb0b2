import { chmod, chown, lchown, mkdir } from 'node:fs/promises'
import type { BackendFiles, View } from '../backends/backend.ts'
import { ConflictError } from '../model/errors.ts'
import type { FileChange } from '../model/file-change.ts'
import { quote } from '../model/quote.ts'
import { hostFailure } from './apply/host-failure.ts'
import {
  type ApplyConflict,
  type Judged,
  judgeAll,
  outsideMode,
  type Placed,
  planSteps,
} from './apply/plan.ts'
import {
  closeStaging,
  makeStaging,
  newPlace,
  recover,
  runSteps,
  type Staging,
} from './apply/staging.ts'
import { findConflicts, placeChanges } from './apply/survey.ts'
import { TargetDirectory } from './apply/target-directory.ts'

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
  /** paths inside of devices and sockets, which mean nothing outside */
  readonly leftOut: readonly string[]
}

/**
 * Makes the changes between two views in a directory of the host. If one of them does not fit what
 * is there, or anything fails, none is made.
 */
export async function applyChanges(
  files: BackendFiles,
  spec: ApplySpec,
  target: string,
  options: ApplyOptions = {},
): Promise<ApplyReport> {
  await using directory = await TargetDirectory.open(target)
  try {
    await recover(directory)
    const { placed, leftOut } = await placeChanges(files, spec, directory)
    const judged = judgeAll(placed)
    const conflicts = await findConflicts(directory, judged)
    const due = judged.filter(({ verdict }) => verdict === 'apply' || verdict === 'chmod')
    const report = { changes: due.map(({ item }) => item.change), conflicts, leftOut }
    if (options.mode === 'plan') return report
    if (conflicts.length > 0) throw refusal(target, conflicts)
    if (due.length > 0) await make(files, spec.to, directory, due)
    return report
  } catch (error) {
    throw hostFailure(`cannot apply changes to ${quote(target)}`, error)
  }
}

async function make(
  files: BackendFiles,
  view: View,
  directory: TargetDirectory,
  due: readonly Judged[],
): Promise<void> {
  const staging = await makeStaging(directory)
  try {
    await stage(files, view, staging, due)
    await runSteps(staging, planSteps(due))
  } finally {
    await closeStaging(staging)
  }
}

/** Puts everything that is to come beside the target's files, complete with mode and owner. */
async function stage(
  files: BackendFiles,
  view: View,
  staging: Staging,
  due: readonly Judged[],
): Promise<void> {
  const owner = await staging.target.owner()
  const coming = due.map(({ item, verdict }, slot) => ({ item, slot, verdict }))
  const made = coming.filter(({ item, verdict }) => verdict === 'apply' && item.change.after)
  const copied = made.filter(({ item }) => item.change.after?.type !== 'directory')
  const specs = copied.map(({ item, slot }) => ({ from: item.change.path, to: String(slot) }))
  await files.copyOut(view, newPlace(staging), specs, { owner })
  for (const { item, slot } of made) await dress(newPlace(staging, slot), item, owner)
}

/** A file that is replaced keeps its owner, and its mode unless the environment changed it. */
async function dress(
  place: string,
  { change: { before, after }, state }: Placed,
  owner: { readonly uid: number; readonly gid: number },
): Promise<void> {
  if (after?.type === 'directory') {
    await mkdir(place)
    await chmod(place, outsideMode(after))
    await chown(place, owner.uid, owner.gid)
  }
  if (state.state !== 'present' || !after || before?.type !== after.type) return
  await lchown(place, state.uid, state.gid)
  if (after.type === 'file' && before.mode === after.mode) await chmod(place, state.mode)
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
