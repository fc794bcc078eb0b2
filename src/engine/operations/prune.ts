import { killPoint } from '../../linux/kill-points.ts'
import { isSnapshotId, type SnapshotId } from '../../model/ids.ts'
import type { Operation } from '../../store/journal.ts'
import type { Store } from '../../store/open-store.ts'
import type { Engine } from '../engine.ts'
import { planRemoval, type RemovalOptions } from '../history/removal.ts'
import {
  type History,
  type PrunePlan,
  planPrune,
  type RetentionRules,
} from '../history/retention.ts'
import { checked } from '../inputs/checked.ts'
import { removalInput } from '../inputs/environment-inputs.ts'
import { pruneInput } from '../inputs/store-inputs.ts'
import { discardSpares } from '../spares/discard.ts'
import { releaseIfUnused } from './remove.ts'

export interface PruneOptions extends RetentionRules {
  /** only says what would be removed */
  readonly dryRun?: boolean
}

/** Removes every snapshot that no rule keeps and nothing needs; says what went and why others stay. */
export async function prune(engine: Engine, given: PruneOptions = {}): Promise<PrunePlan> {
  const options = checked('prune', pruneInput, given)
  const plan = () => planPrune(historyOf(engine.store), options)
  if (options.dryRun === true) return plan()
  return await removePlanned(engine, plan, ({ remove }) => remove)
}

/** Removes these snapshots; with `cascade` also those that build on them. */
export async function removeSnapshots(
  engine: Engine,
  ids: readonly SnapshotId[],
  given: RemovalOptions = {},
): Promise<readonly SnapshotId[]> {
  const options = checked('removeSnapshots', removalInput, given)
  const plan = () => planRemoval(historyOf(engine.store), ids, options)
  return await removePlanned(engine, plan, (remove) => remove)
}

/**
 * Planned and marked in one transaction: nobody can begin to use a snapshot between the two, and from
 * then on nobody can restore one that is half gone.
 */
async function removePlanned<Plan>(
  engine: Engine,
  plan: () => Plan,
  removedBy: (plan: Plan) => readonly SnapshotId[],
): Promise<Plan> {
  const { store } = engine
  await engine.squashes.stop()
  await using _lease = await store.leases.acquire('snapshots', 'prune')
  const { planned, remove, operation } = store.transaction(() => {
    const planned = plan()
    const remove = removedBy(planned)
    for (const id of remove) store.snapshots.update(id, { status: 'failed' })
    const operation = remove.length === 0 ? null : store.journal.begin('prune', null, { remove })
    return { planned, remove, operation }
  })
  if (operation === null) {
    // An earlier one may have removed the last snapshot and not been able to give back the volume.
    await releaseIfUnused(engine)
    return planned
  }
  killPoint('prune:recorded')
  try {
    for (const id of remove) await removeOne(engine, id)
    await releaseIfUnused(engine)
  } catch (error) {
    store.journal.fail(operation, error)
    throw error
  }
  store.journal.finish(operation)
  return planned
}

/** After a crash: what was marked can never be used again, so the rest of it goes, too. */
export async function completePrune(engine: Engine, operation: Operation): Promise<void> {
  const { remove } = operation.payload
  const ids = Array.isArray(remove) ? remove.filter(isSnapshotId) : []
  await engine.exclusively('snapshots', 'recovering prune', async () => {
    for (const id of ids) await removeOne(engine, id)
  })
}

/** Safe to repeat. */
async function removeOne(engine: Engine, id: SnapshotId): Promise<void> {
  const record = engine.store.snapshots.get(id)
  if (record === undefined) return
  await discardSpares(engine, { snapshot: id })
  await engine.backend(record.backend).discard(id)
  killPoint('prune:discarded')
  engine.store.snapshots.remove(id)
  killPoint('prune:forgotten')
}

function historyOf(store: Store): History {
  const reading = store.journal.open().map(({ payload }) => payload.from)
  return {
    snapshots: store.snapshots.list(),
    environments: store.environments.list(),
    inUse: new Set(reading.filter(isSnapshotId)),
    nowMs: Date.now(),
  }
}
