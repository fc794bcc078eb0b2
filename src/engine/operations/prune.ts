import type { Input } from '../../api/contract/contract.ts'
import type { PrunePlan } from '../../api/contract/data/snapshot.ts'
import { killPoint } from '../../linux/kill-points.ts'
import type { SnapshotId } from '../../model/ids.ts'
import type { Operation } from '../../store/journal.ts'
import type { Engine } from '../engine.ts'
import { historyOf, newParents } from '../history/needs.ts'
import { planRemoval, type RemovalOptions } from '../history/removal.ts'
import { planPrune } from '../history/retention.ts'
import { discardSpares } from '../spares/discard.ts'
import { reclaim } from './reclaim.ts'
import { freeIfUnused } from './remove.ts'

export type PruneOptions = Input<'snapshot.prune'>

/** Removes every snapshot that no rule keeps and nothing needs; reports what it removed and why others stay. */
export async function prune(engine: Engine, options: PruneOptions = {}): Promise<PrunePlan> {
  const plan = () => planPrune(historyOf(engine), options)
  if (options.dryRun === true) return plan()
  return await removePlanned(engine, plan, ({ remove }) => remove)
}

/** Removes these snapshots; with `cascade`, also those that build on them. */
export async function removeSnapshots(
  engine: Engine,
  ids: readonly SnapshotId[],
  options: RemovalOptions = {},
): Promise<readonly SnapshotId[]> {
  const plan = () => planRemoval(historyOf(engine), ids, options)
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
  await flushAll(engine)
  await using _lease = await store.leases.acquire('snapshots', 'prune')
  const { planned, remove, operation } = store.transaction(() => {
    const planned = plan()
    const remove = removedBy(planned)
    mark(engine, remove)
    const operation = remove.length === 0 ? null : store.journal.begin('prune', null, { remove })
    return { planned, remove, operation }
  })
  if (operation === null) {
    // An earlier prune may have removed the last snapshot but failed to free the volume, or met a life
    // that still mapped memory of a removed one.
    await reclaim(engine)
    await freeIfUnused(engine)
    return planned
  }
  killPoint('prune:recorded')
  try {
    for (const id of remove) await removeOne(engine, id)
    await reclaim(engine)
    await freeIfUnused(engine)
  } catch (error) {
    store.journal.fail(operation, error)
    throw error
  }
  store.journal.finish(operation)
  return planned
}

/** From here on nobody can use them. What was taken after them follows what was before them. */
function mark({ store }: Engine, going: readonly SnapshotId[]): void {
  const parents = newParents(store.snapshots.list(), new Set(going))
  for (const id of going) store.snapshots.update(id, { status: 'failed' })
  for (const [id, parent] of parents) store.snapshots.update(id, { parent })
}

/** A flush counts what a snapshot adds to the one before, which may go now. */
async function flushAll({ store, flushes, backend }: Engine): Promise<void> {
  const unflushed = store.snapshots
    .list()
    .filter(({ status, durable }) => status === 'ready' && !durable)
    .filter((snapshot) => backend(snapshot.backend).storage !== undefined)
  // One that cannot be flushed is not durable, and the disk may be full: removing is what helps.
  await Promise.allSettled(unflushed.map((snapshot) => flushes.start(snapshot)))
}

/** After a crash: marked snapshots can never be used again, so the rest of them is removed too. */
export async function completePrune(engine: Engine, operation: Operation): Promise<void> {
  const { remove: ids = [] } = operation.payload
  await engine.exclusively('snapshots', 'recovering prune', async () => {
    for (const id of ids) await removeOne(engine, id)
    await reclaim(engine)
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
