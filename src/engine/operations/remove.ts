import { killPoint } from '../../linux/kill-points.ts'
import type { EnvironmentId } from '../../model/ids.ts'
import type { Engine } from '../engine.ts'
import { recoverEnvironment } from '../recovery/recover.ts'
import { discardSpares } from '../spares/discard.ts'

/** For an operation that is under way to end; one that takes longer may be stuck, and loses its lease. */
const patienceMs = 30_000

/**
 * Ends an environment and removes all it had, whatever else is being done with it. Safe to repeat: a
 * killed removal is completed.
 */
export async function remove(engine: Engine, id: EnvironmentId): Promise<void> {
  const { store } = engine
  await using lease = await store.leases.seize(`env:${id}`, 'remove', { timeoutMs: patienceMs })
  // What cannot be put right can still be removed; the next process finds what that leaves. What was
  // taken from one that lives, that one drops when it finds out.
  if (lease.loser === null) await recoverEnvironment(engine, id)
  const record = store.environments.get(id)
  if (!record) return await releaseIfUnused(engine)
  const operation = store.transaction(() => {
    store.environments.update(id, { status: 'removing' })
    return store.journal.begin('remove', id)
  })
  killPoint('remove:recorded')
  await engine.connections.close(id)
  try {
    await discardSpares(engine, { environmentId: id })
    await engine.backend(record.backend).destroy(id)
    store.environments.remove(id)
    killPoint('remove:forgotten')
    await releaseIfUnused(engine)
    killPoint('remove:released')
  } catch (error) {
    store.journal.fail(operation, error)
    throw error
  }
  store.journal.finish(operation)
}

/** The last one out gives back what all environments share: NAT rules, and the volume if it is empty. */
export async function releaseIfUnused(engine: Engine): Promise<void> {
  const { environments, snapshots } = engine.store
  const unused = () => !environments.any()
  if (!unused()) return
  // What is still on its way to the disk keeps the volume busy.
  await Promise.all([discardSpares(engine), engine.flushes.all()])
  await engine.exclusively('volume', 'giving back the volume', async () => {
    // A create writes its record before it asks for the volume; cells of `doctor` have no record.
    for (const { remnants, release } of engine.backends()) {
      if (!unused() || (await remnants()).length > 0) continue
      await release(snapshots.any() ? 'snapshots' : 'nothing')
    }
  })
}
