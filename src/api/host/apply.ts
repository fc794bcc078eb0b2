import { killPoint } from '../../linux/kill-points.ts'
import { ConflictError } from '../../model/errors.ts'
import type { FileChange } from '../../model/files/file-change.ts'
import { quote } from '../../model/text/quote.ts'
import { flushClaim } from './apply/claim-file.ts'
import { acquireClaim, type HeldClaim } from './apply/claims.ts'
import {
  type ApplyConflict,
  type DecidedChange,
  decideAll,
  planSteps,
  type Step,
} from './apply/plan.ts'
import { planPath, removePlan, savePlan } from './apply/plan-file.ts'
import { NotPutBackError, recoverTarget, undo } from './apply/recover.ts'
import type { ChangeSource } from './apply/source.ts'
import { stage } from './apply/stage.ts'
import { removeStaging, Staging, takeSteps } from './apply/staging.ts'
import { findConflicts, placeChanges } from './apply/survey.ts'
import { requireNoRootLinks, TargetDirectory } from './apply/target-directory.ts'
import type { ReadOptions } from './archive/read-archive.ts'
import { hostFailure } from './host-failure.ts'
import type { Selects } from './selection/selection.ts'

export interface ApplyOptions extends ReadOptions {
  /** `plan`: only reports what it would do */
  readonly mode?: 'apply' | 'plan'
  /** absent: every change is wanted; paths are relative to the directory */
  readonly selects?: Selects | undefined
}

/** Where an apply records what it is doing, so that it can be undone if it is killed. */
interface StatePlace {
  readonly stateDir: string
}

export interface ApplyReport {
  /** the directory inside that corresponds to the target */
  readonly path: string
  /** what was done, or would be; without what the target already has */
  readonly changes: readonly FileChange[]
  /** empty if the changes were made */
  readonly conflicts: readonly ApplyConflict[]
  /** devices, sockets and pipes inside, which mean nothing outside */
  readonly leftOut: readonly string[]
}

/**
 * Applies the changes of an environment to a directory on the caller's machine. If one of them
 * conflicts with what is there, or anything fails, the directory stays as it was.
 */
export async function applyTo(
  target: string,
  source: ChangeSource,
  options: ApplyOptions & StatePlace,
): Promise<ApplyReport> {
  await using directory = await TargetDirectory.open(target)
  try {
    const { path, identity } = directory
    await using claim = await acquireClaim(options.stateDir, { path, ...identity })
    await recoverTarget(claim, directory)
    const { placed, leftOut, path: from } = await placeChanges(source, directory, options.selects)
    const decided = decideAll(placed)
    const conflicts = await findConflicts(directory, decided)
    const due = decided.filter(({ decision }) => decision === 'apply' || decision === 'chmod')
    const changes = due.map(({ item }) => item.change)
    const report = { path: from, changes, conflicts, leftOut }
    if (options.mode === 'plan') return report
    if (conflicts.length > 0) throw refusal(target, conflicts)
    if (due.length > 0) await make(claim, source, directory, due, options)
    return report
  } catch (error) {
    throw hostFailure(`cannot apply changes to ${quote(target)}`, error)
  }
}

/** The claim exists before anything changes, so the next process can find what a killed one leaves. */
async function make(
  held: HeldClaim,
  source: ChangeSource,
  directory: TargetDirectory,
  due: readonly DecidedChange[],
  options: ReadOptions,
): Promise<void> {
  const links = due.filter(({ item }) => item.change.after?.type === 'symlink')
  await requireNoRootLinks(
    directory,
    links.map(({ item }) => item.path),
  )
  killPoint('apply:begun')
  try {
    await using staging = await Staging.make(directory, held.claim.staging)
    await stage(source, staging, due, options)
    killPoint('apply:staged')
    await run(held, staging, planSteps(due))
  } catch (error) {
    if (error instanceof NotPutBackError) await held.leaveUnfinished()
    else await cleanUp(held, directory)
    throw error
  }
  await cleanUp(held, directory)
}

/** Takes all steps; if one fails, undoes those already taken. */
async function run(
  { dir, claim: { id } }: HeldClaim,
  staging: Staging,
  steps: readonly Step[],
): Promise<void> {
  const inodes = { target: staging.target.identity.inode, staging: staging.inode }
  await savePlan(dir, id, { inodes, steps })
  await flushClaim(dir, id)
  killPoint('apply:planned')
  try {
    await takeSteps(staging, steps)
  } catch (error) {
    await undo(staging, steps, planPath(dir, id))
    throw error
  }
  await removePlan(dir, id)
  killPoint('apply:done')
}

async function cleanUp(held: HeldClaim, directory: TargetDirectory): Promise<void> {
  const { dir, claim } = held
  try {
    await removePlan(dir, claim.id)
    await removeStaging(directory, claim.staging)
  } catch (error) {
    await held.leaveUnfinished()
    throw error
  }
}

function refusal(target: string, conflicts: readonly ApplyConflict[]): ConflictError {
  const [first] = conflicts
  const more = conflicts.length > 1 ? ` and ${conflicts.length - 1} more` : ''
  return new ConflictError(
    `the changes conflict with ${quote(target)}: ${quote(first?.path)} (${first?.reason})${more}`,
    {
      remedy:
        'list all conflicts with --dry-run; move these files away, or export to a new directory',
      detail: { conflicts },
    },
  )
}
