import { ConflictError } from '../../model/errors.ts'
import type { SnapshotId } from '../../model/ids.ts'
import type { Branch } from '../branch.ts'
import { mainBranch } from '../branch.ts'
import { inLockstep } from '../hooks/lockstep.ts'
import type { Session } from '../session.ts'
import { label } from '../tree/labels.ts'

/** What a clean-up removed, and what it could not. */
export interface Cleanup {
  readonly environments: readonly string[]
  readonly snapshots: readonly string[]
  /** snapshots that something outside this session continues from */
  readonly kept: readonly string[]
}

/** Ends a branch. What was not snapshotted is lost. */
export async function removeBranch(session: Session, branch: Branch): Promise<void> {
  const { environment, name } = branch
  await inLockstep(session.hooks, {
    facts: { operation: 'discard', session: session.id, branch: name, environment: environment.id },
    work: async () => {
      await environment.remove({ force: true })
      session.branches.delete(name)
    },
  })
}

/** Removes everything that belongs to the session; an environment that was there before stays. */
export async function cleanUp(session: Session): Promise<Cleanup> {
  const environments: string[] = []
  for (const branch of [...session.branches.values()].reverse()) {
    if (session.isAttached && branch.name === mainBranch) continue
    await branch.inTurn(() => removeBranch(session, branch))
    environments.push(branch.environment.id)
  }
  environments.push(...(await removeScratch(session)))
  return { environments, ...(await removeSnapshots(session)) }
}

/** Environments in which a killed process was replaying. */
async function removeScratch({ fp, id }: Session): Promise<string[]> {
  const left = await fp.list({ labels: { [label.session]: id } })
  const scratch = left.filter(({ lastInfo }) => lastInfo.labels[label.replaying] !== undefined)
  for (const environment of scratch) await environment.remove({ force: true })
  return scratch.map(({ id }) => id)
}

async function removeSnapshots(session: Session): Promise<Omit<Cleanup, 'environments'>> {
  const { fp, id } = session
  const ours = await fp.snapshots({ labels: { [label.session]: id } })
  const removed: string[] = []
  const kept: string[] = []
  // Newest first: each before the one it builds on.
  for (const snapshot of ours.toReversed()) {
    try {
      await removeOne(session, snapshot.id)
      removed.push(snapshot.id)
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error
      kept.push(snapshot.id)
    }
  }
  return { snapshots: removed, kept }
}

async function removeOne({ fp, id, hooks }: Session, snapshot: SnapshotId): Promise<void> {
  await inLockstep(hooks, {
    facts: { operation: 'remove', session: id, branch: '', environment: '', snapshot },
    work: async () => void (await fp.removeSnapshots([snapshot])),
  })
}
