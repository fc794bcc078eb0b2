import type { Input } from '../../api/contract/contract.ts'
import type { PrunePlan } from '../../api/contract/data/snapshot.ts'
import { killPoint } from '../../linux/kill-points.ts'
import type { SnapshotId } from '../../model/ids.ts'
import type { Operation } from '../../store/journal.ts'
import type { Store } from '../../store/open-store.ts'
import type { Engine } from '../engine.ts'
import { planRemoval, type RemovalOptions } from '../history/removal.ts'
import { type History, planPrune } from '../history/retention.ts'
import { discardSpares } from '../spares/discard.ts'
import { freeIfUnused } from './remove.ts'

export type PruneOptions = Input<'snapshot.prune'>

/** Removes every snapshot that no rule keeps and nothing needs; reports what it removed and why others stay. */
export async function prune(engine: Engine, options: PruneOptions = {}): Promise<PrunePlan> {
  const plan = () => planPrune(historyOf(engine.store), options)
  if (options.dryRun === true) return plan()
  return await removePlanned(engine, plan, ({ remove }) => remove)
}

/** Removes these snapshots; with `cascade`, also those that build on them. */
export async function removeSnapshots(
  engine: Engine,
  ids: readonly SnapshotId[],
  options: RemovalOptions = {},
): Promise<readonly SnapshotId[]> {
  const plan = () => planRemoval(historyOf(engine.store), ids, options)
  return await removePlanned(engine, plan, (remove) => remove)
}

/**
 * Plans and marks the snapshots in one transaction, so that nobody can begin to use one in between, or
 * later restore one that is half removed.
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
    // An earlier prune may have removed the last snapshot but failed to free the volume.
    await freeIfUnused(engine)
    return planned
  }
  killPoint('prune:recorded')
  try {
    for (const id of remove) await removeOne(engine, id)
    await freeIfUnused(engine)
  } catch (error) {
    store.journal.fail(operation, error)
    throw error
  }
  store.journal.finish(operation)
  return planned
}

/** After a crash: marked snapshots can never be used again, so the rest of them is removed too. */
export async function completePrune(engine: Engine, operation: Operation): Promise<void> {
  const { remove: ids = [] } = operation.payload
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
  const reading = store.journal.open().flatMap(({ payload }) => payload.from ?? [])
  return {
    snapshots: store.snapshots.list(),
    environments: store.environments.list(),
    inUse: new Set(reading),
    nowMs: Date.now(),
  }
}
