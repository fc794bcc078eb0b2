import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ConflictError } from '../../../model/errors.ts'
import { quote } from '../../../model/text/quote.ts'
import {
  type Claim,
  listClaims,
  readClaim,
  removeClaim,
  saveClaim,
  thisMachine,
} from './claim-file.ts'
import { type HeldClaim, isAbandoned, tryClaim } from './claims.ts'
import type { Step } from './plan.ts'
import { planPath, readPlan, removePlan } from './plan-file.ts'
import { removeStaging, Staging, undoSteps } from './staging.ts'
import { TargetDirectory } from './target-directory.ts'

/** The outcome for applies whose processes were killed. */
export interface RecoveredApplies {
  /** how many were undone */
  readonly recovered: number
  /** those that could not be undone; whoever opens the home next tries again */
  readonly left: readonly { readonly id: string; readonly error: Error }[]
}

/** Undoes every apply that a killed process left half-done, in any directory. */
export async function recoverApplies(stateDir: string): Promise<RecoveredApplies> {
  const left: { id: string; error: Error }[] = []
  let recovered = 0
  for (const id of await listClaims(stateDir)) {
    try {
      const claim = await readClaim(stateDir, id)
      if (claim === null || !isAbandoned(claim)) continue
      if (await recoverOne(stateDir, claim)) recovered += 1
    } catch (error) {
      left.push({ id, error: error as Error })
    }
  }
  await removeOldDrafts(stateDir)
  return { recovered, left }
}

/** False if somebody is working in that directory, and recovers it. */
async function recoverOne(
  stateDir: string,
  { id, target: path, ...facts }: Claim,
): Promise<boolean> {
  const { claim: held } = await tryClaim(stateDir, { ...facts, path })
  if (held === undefined) return false
  await using mine = held
  if (!mine.abandoned.some((claim) => claim.id === id)) return false
  await using target = await TargetDirectory.open(path)
  await recoverTarget(mine, target)
  return true
}

/** Undoes what was left half-done in this directory. The caller must have claimed it. */
export async function recoverTarget(
  { dir, abandoned }: HeldClaim,
  target: TargetDirectory,
): Promise<void> {
  for (const claim of abandoned) {
    await putBack(dir, claim, target)
    await removeClaim(dir, claim.id)
  }
}

/**
 * Without a plan, nothing in the target has changed, or everything was done. The device is not compared,
 * because its number may change with a restart; two inodes and an unguessable name are enough.
 */
async function putBack(
  dir: string,
  { id, staging: name }: Claim,
  target: TargetDirectory,
): Promise<void> {
  const plan = await readPlan(dir, id)
  if (plan !== null) {
    if (plan.inodes.target !== target.identity.inode) {
      throw otherDirectory(target, planPath(dir, id))
    }
    await using staging = await Staging.find(target, name, plan.inodes.staging)
    if (staging !== null) await undo(staging, plan.steps, planPath(dir, id))
  }
  await removePlan(dir, id)
  await removeStaging(target, name)
}

/** If undoing fails, the error says where everything is. */
export async function undo(staging: Staging, steps: readonly Step[], plan: string): Promise<void> {
  try {
    await undoSteps(staging, steps)
  } catch (cause) {
    throw new NotPutBackError(staging, plan, cause)
  }
}

/** The claim stays, so that the next command tries again. */
export class NotPutBackError extends ConflictError {
  constructor({ target, name }: Staging, plan: string, cause: unknown) {
    super(`cannot put back what was in ${quote(target.path)}: ${(cause as Error).message}`, {
      remedy:
        `the missing files are in ${name}/old, and ${plan} says where they belong; the next command ` +
        'tries again unless you remove that plan',
      cause,
    })
  }
}

function otherDirectory(target: TargetDirectory, plan: string): ConflictError {
  return new ConflictError(
    `an apply to ${quote(target.path)} was interrupted, and now another directory has that name`,
    { remedy: `move the original directory back, or give it up and remove ${plan}` },
  )
}

const oldDraftMs = 3_600_000

/** Removes files that a killed process was still writing. */
async function removeOldDrafts(dir: string): Promise<void> {
  // Without the directory there is nothing to remove, and a draft that is gone needs no removal.
  const names = await readdir(dir).catch(() => [])
  for (const name of names.filter((each) => each.endsWith('.new'))) {
    const { mtimeMs } = await stat(join(dir, name)).catch(() => ({ mtimeMs: Date.now() }))
    if (mtimeMs < Date.now() - oldDraftMs) await rm(join(dir, name), { force: true })
  }
}

/** What the journal of an earlier release says about an apply. */
export type OlderApply = Pick<Claim, 'id' | 'target' | 'staging' | 'device' | 'inode'>

/** Adopts an apply that an earlier release left half-done. Its plan is in the same place. */
export async function adoptApply(stateDir: string, older: OlderApply): Promise<void> {
  await saveClaim(stateDir, { ...older, machine: thisMachine(), owner: null })
}
